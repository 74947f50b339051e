// How the emulate command runs a kernel: shape, when asynchronous operations complete, what is
// checked, traced and counted. Main entries: readEmulateOptions, EmulatorSettings.
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"
#include "runtime/device.h"
#include "runtime/ptx_kernel.h"
#include "support/abi/emulator_table.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fp8jit {

/// One warp of a grid.
struct TracedWarp {
  std::uint64_t block = 0; ///< linear index
  std::uint64_t warp = 0;  ///< rank in the block
};

/// The flags of the command, checked.
struct EmulateOptions {
  std::string entry;
  LaunchShape shape;
  EmulatorAsyncMode mode = EmulatorAsyncMode::Lazy;
  std::uint64_t seed = 0; ///< of EmulatorAsyncMode::Random
  std::string modeText;   ///< as given: "random:7"
  bool checksRaces = true, showsCounters = false;
  std::optional<TracedWarp> trace;
};

/// Reads the flags. Errors: InvalidArgument naming the flag, found and expected; a UsageError
/// without --entry.
llvm::Expected<EmulateOptions> readEmulateOptions(const Arguments &arguments);

/// Mode, races and trace of the emulator, set for its lifetime and then back to the defaults. The
/// trace goes to standard error, each line with the text of its PTX line behind it. Move only.
class EmulatorSettings {
public:
  /// Errors: Unsupported if the emulator is older than this command.
  static llvm::Expected<EmulatorSettings> apply(const Device &device, const EmulateOptions &options,
                                                llvm::StringRef ptx);
  EmulatorSettings(EmulatorSettings &&other) noexcept;
  EmulatorSettings &operator=(EmulatorSettings &&) = delete;
  ~EmulatorSettings();

private:
  explicit EmulatorSettings(const EmulatorTable &table) : table_(&table) {}

  const EmulatorTable *table_;
  std::unique_ptr<std::vector<std::string>> lines_; ///< of the PTX, for the trace
};

/// The modelled time of the latest launch of this thread.
void addModelledTime(Report &report, const EmulatorTable &table);
/// Its counters.
void addCounters(Report &report, const EmulatorTable &table);

} // namespace fp8jit
