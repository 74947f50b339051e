// Problem + configuration + target -> one self-contained CUDA source. Main entry: generateSource.
#pragma once

#include "generator/config.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

/// The template texts: those compiled into the program, or the files of a folder (template work).
/// Immutable after construction, so one may serve many threads.
class TemplateLibrary {
public:
  /// The embedded texts.
  static TemplateLibrary embedded();
  /// Reads every *.cu, *.cuh and *.h below `directory`. Errors: NotFound.
  static llvm::Expected<TemplateLibrary> fromDirectory(llvm::StringRef directory);

  /// The text of "gemm_mma.cu" or "slot/config.cuh". Errors: NotFound.
  llvm::Expected<llvm::StringRef> text(llvm::StringRef name) const;
  /// SHA-256 over all names and texts, 64 hex digits: the generator's identity in cache keys.
  const std::string &hash() const;

private:
  struct Contents;
  std::shared_ptr<const Contents> contents_;
};

/// One kernel of a source. All kernels of a source take the same parameter struct and run in this
/// order.
struct KernelEntry {
  std::string name;  ///< extern "C" name
  int threads = 0;   ///< per block
  int smemBytes = 0; ///< dynamic shared memory per block
};

struct GeneratedSource {
  std::string text;
  std::vector<KernelEntry> entries;
};

/// What every launch of a source promises about its element pointers (a, b, d; x, q). Bytes16 is
/// the fast one; Element takes buffers that are aligned to their element only, by way of narrower
/// loads and stores. The results are the same bits.
enum class PointerAlignment : std::uint8_t { Bytes16, Element };

/// Pure: the same input gives the same bytes. m enters the text nowhere but in the banner's problem
/// line, where its bucket stands; n and k are baked in. Errors: Unsupported, InvalidArgument
/// (checkSupported, checkConfig).
llvm::Expected<GeneratedSource>
generateSource(const Problem &problem, const Config &config, const GpuProfile &profile,
               const TemplateLibrary &templates,
               PointerAlignment alignment = PointerAlignment::Bytes16);

/// Blocks of entry `entryIndex` of the source of (problem, config) for the run-time m of `problem`.
std::int64_t gridBlocks(const Problem &problem, const Config &config, std::size_t entryIndex);

/// Bytes of zero-initialisation-free workspace that a launch needs (4 for quantization with tensor
/// scales).
std::int64_t workspaceBytes(const Problem &problem);

/// The NVRTC options of every source for `arch` ("89"), one string each, in a fixed order.
std::vector<std::string> compileOptions(llvm::StringRef arch);

} // namespace fp8jit
