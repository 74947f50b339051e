// The runtime API: tuned FP8 GEMMs and quantizations on one device. Main entry: Engine::open.
// Standard library only.
#pragma once

#include "fp8jit/problem.h"
#include "fp8jit/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fp8jit {

class Engine;

/// A CUstream; null is the legacy default stream. Owned by the caller.
using Stream = void *;

/// What to do when the cache knows no winner for a problem.
enum class OnMiss : std::uint8_t { UseDefault, Tune, Fail };

/// Tuning, as the engine calls it under OnMiss::Tune. Implemented by tuner/ (makeTunerHook) and
/// passed by the caller; the engine never tunes by itself. Called from the thread that missed,
/// without any lock held.
class TunerHook {
public:
  virtual ~TunerHook() = default;
  /// Finds, stores and returns the best configuration text for `problem` on `engine`'s device.
  virtual Result<std::string> tune(Engine &engine, const Problem &problem) = 0;
};

/// Made for designated initializers: `Engine::open({.device = "cuda:1"})`.
struct EngineOptions {
  /// "cuda:0", "emulator:sm_89"; empty: the first CUDA GPU. The emulator is used only when named.
  std::string device = {};
  /// Empty: FP8JIT_CACHE_DIR, then $XDG_CACHE_HOME/fp8jit, then ~/.cache/fp8jit; "none": memory
  /// only.
  std::string cacheDirectory = {};
  /// Read the templates from this folder instead of the embedded ones (template work).
  std::string templatesDirectory = {};
  OnMiss onMiss = OnMiss::UseDefault;
  std::shared_ptr<TunerHook> tuner = {}; ///< required for OnMiss::Tune
  std::function<void(std::string_view)> onWarning =
      {}; ///< default: one line each on standard error
};

/// Device pointers of a GEMM. Layouts: a [m,k], b [n,k] codes; sa, sb: scale arrays of
/// docs/problems.md; d [m,n], which may not overlap a or b. d is aligned to its element, sa and sb
/// to 4 bytes; a, b and d at multiples of 16 bytes get the fast kernel, others a slower one with
/// the same result. Pointers to nothing (m, n or k = 0) may be null. Owned by the caller, alive
/// until the stream has passed.
struct GemmBuffers {
  const void *a = nullptr;
  const void *b = nullptr;
  const void *sa = nullptr;
  const void *sb = nullptr;
  void *d = nullptr;
  float alpha = 1.0F;
};

/// Device pointers of a quantization. x [m,n]; q [m,n] codes, which may not overlap x; s: scales
/// (output, or input with sc=given); amax: one f32 per unit, may be null. x is aligned to its
/// element, s and amax to 4 bytes; x and q at multiples of 16 bytes get the fast kernel.
struct QuantBuffers {
  const void *x = nullptr;
  void *q = nullptr;
  void *s = nullptr;
  float *amax = nullptr;
};

enum class ConfigSource : std::uint8_t { Winner, Default, Forced };
enum class Provenance : std::uint8_t { Measured, Modelled, Default };
enum class CacheSource : std::uint8_t { Memory, Disk, Compiled };

/// What is known of the kernel that serves a problem.
struct KernelInfo {
  std::string problem;   ///< canonical line
  std::string kernelKey; ///< 64 hex digits
  std::string config;    ///< the text that forces it
  ConfigSource configSource = ConfigSource::Default;
  Provenance provenance = Provenance::Default;
  CacheSource cache = CacheSource::Compiled;
  double compileMs = 0; ///< 0 unless compiled by this call
  int registers = 0;    ///< of the heaviest entry
  int spillBytes = 0;
  int smemBytes = 0;  ///< dynamic plus static, of the heaviest entry
  std::string source; ///< generated CUDA
  std::string ptx;
  std::string log; ///< ptxas report; empty when the binary came from disk
};

/// A loaded kernel for one problem; cheap to copy, keeps its module alive, usable from many
/// threads.
class Kernel {
public:
  Kernel() = default;
  /// Launches without look-up. a, b, d (x, q) must start at multiples of 16 bytes; Engine::gemm and
  /// quantize take others too. Errors: InvalidArgument (buffers; wrong kind of problem),
  /// DriverError.
  Result<void> launch(const GemmBuffers &buffers, Stream stream = nullptr) const;
  Result<void> launch(const QuantBuffers &buffers, Stream stream = nullptr) const;
  /// What this kernel is and where it came from; all empty unless Engine::prepare made it.
  const KernelInfo &info() const;

private:
  friend class Engine;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

/// One device, its cache and its loaded kernels. Thread safe; movable; kernels may outlive it.
class Engine {
public:
  /// Errors: NoDevice (with the reason), NotFound (templates folder), NvrtcNotFound only when
  /// something must be compiled. A cache that cannot be used costs one warning.
  static Result<Engine> open(EngineOptions options = {});
  Engine(Engine &&) noexcept;
  Engine &operator=(Engine &&) noexcept;
  ~Engine();

  /// Enqueues D = alpha·(A·sa)(B·sb)ᵀ. The first call of a problem may compile; warm calls take no
  /// lock and allocate nothing. Errors: InvalidArgument, Unsupported, CompileError (log and source
  /// in details), NvrtcNotFound, DriverError, NotFound (OnMiss::Fail). After any error the engine
  /// still works.
  Result<void> gemm(const GemmProblem &problem, const GemmBuffers &buffers,
                    Stream stream = nullptr);
  Result<void> quantize(const QuantProblem &problem, const QuantBuffers &buffers,
                        Stream stream = nullptr);

  /// Compiles or loads the kernel now. `config` forces a configuration (InvalidArgument if it does
  /// not fit).
  Result<Kernel> prepare(const Problem &problem, std::string_view config = {});
  /// The CUDA source that serves `problem`, without compiling it.
  Result<std::string> source(const Problem &problem, std::string_view config = {});
  /// What would serve `problem`: its configuration, where that comes from, and the source; compiles
  /// and loads nothing. kernelKey is empty where no NVRTC can be found.
  Result<KernelInfo> describe(const Problem &problem, std::string_view config = {});

  /// As opened, for example "emulator:sm_89"; the driver's name of it; its target, for example
  /// "sm_89".
  const std::string &device() const;
  const std::string &deviceName() const;
  const std::string &arch() const;
  /// Whether times on this device are modelled.
  bool isEmulated() const;

  /// Internals for tuner, command and tests; not installed.
  class Internals;
  Internals &internals();

private:
  explicit Engine(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

/// Reads the problem grammar. Errors: InvalidArgument naming key, found and expected.
Result<Problem> parseProblemText(std::string_view text);
/// The canonical line of a problem.
std::string problemText(const Problem &problem);

} // namespace fp8jit
