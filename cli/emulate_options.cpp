#include "cli/emulate_options.h"

#include "support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstddef>
#include <utility>

namespace fp8jit {

static bool parseNumber(llvm::StringRef text, std::uint64_t &number) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit) && !text.getAsInteger(10, number);
}

/// "X", "X,Y" or "X,Y,Z"; absent parts are 1, an absent flag leaves `extent`.
static llvm::Error readExtent(const Arguments &arguments, llvm::StringRef flag, Extent3 &extent) {
  if (!arguments.has(flag)) {
    return llvm::Error::success();
  }
  const llvm::StringRef text = arguments.value(flag);
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, ',');
  extent = {1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::uint64_t number = 0;
    if (i >= extent.size() || !parseNumber(parts[i], number) || number == 0 ||
        number > UINT32_MAX) {
      return badValue(flag, text, "one to three positive numbers, such as 128,1,1");
    }
    extent[i] = static_cast<unsigned>(number);
  }
  return llvm::Error::success();
}

static llvm::Error readMode(const Arguments &arguments, EmulateOptions &options) {
  options.modeText = arguments.has("--mode") ? arguments.value("--mode").str() : "lazy";
  const auto [name, seed] = llvm::StringRef(options.modeText).split(':');
  if (options.modeText == "eager") {
    options.mode = EmulatorAsyncMode::Eager;
  } else if (name == "random" && parseNumber(seed, options.seed)) {
    options.mode = EmulatorAsyncMode::Random;
  } else if (options.modeText != "lazy") {
    return badValue("--mode", options.modeText, "eager, lazy or random:SEED");
  }
  return llvm::Error::success();
}

static llvm::Error readTrace(const Arguments &arguments, EmulateOptions &options) {
  if (!arguments.has("--trace")) {
    return llvm::Error::success();
  }
  const llvm::StringRef text = arguments.value("--trace");
  TracedWarp traced;
  const auto [block, warp] = text.contains(':') ? text.split(':') : std::pair("0", text);
  if (!parseNumber(block, traced.block) || !parseNumber(warp, traced.warp)) {
    return badValue("--trace", text, "a warp, or BLOCK:WARP, such as 0 or 3:1");
  }
  options.trace = traced;
  return llvm::Error::success();
}

llvm::Expected<EmulateOptions> readEmulateOptions(const Arguments &arguments) {
  EmulateOptions options;
  if (!arguments.has("--entry")) {
    return usageError("flag --entry is missing, expected --entry NAME of a kernel");
  }
  options.entry = arguments.value("--entry").str();
  for (const auto &[flag, extent] :
       {std::pair("--grid", &options.shape.grid), std::pair("--block", &options.shape.block),
        std::pair("--cluster", &options.shape.cluster)}) {
    if (llvm::Error error = readExtent(arguments, flag, *extent)) {
      return error;
    }
  }
  llvm::Expected<std::uint64_t> smemBytes = arguments.unsignedValue("--smem", 0);
  if (!smemBytes) {
    return smemBytes.takeError();
  }
  if (*smemBytes > INT32_MAX) {
    return badValue("--smem", arguments.value("--smem"), "less than 2^31 bytes");
  }
  options.shape.smemBytes = static_cast<unsigned>(*smemBytes);
  if (llvm::Error error = readMode(arguments, options)) {
    return error;
  }
  if (llvm::Error error = readTrace(arguments, options)) {
    return error;
  }
  const llvm::StringRef races = arguments.has("--races") ? arguments.value("--races") : "on";
  if (races != "on" && races != "off") {
    return badValue("--races", races, "on or off");
  }
  options.checksRaces = races == "on";
  options.showsCounters = arguments.has("--counters");
  return options;
}

/// `user`: the lines of the PTX. `line` begins with "line N ".
static void printTraceLine(void *user, const char *line) {
  constexpr std::size_t kWidth = 72;
  const auto &source = *static_cast<const std::vector<std::string> *>(user);
  llvm::StringRef number(line);
  std::size_t index = 0;
  const bool isNumbered = number.consume_front("line ") && !number.consumeInteger(10, index);
  llvm::errs() << padRight(line, kWidth);
  if (isNumbered && index >= 1 && index <= source.size()) {
    llvm::errs() << " | " << llvm::StringRef(source[index - 1]).trim();
  }
  llvm::errs() << '\n';
}

llvm::Expected<EmulatorSettings>
EmulatorSettings::apply(const Device &device, const EmulateOptions &options, llvm::StringRef ptx) {
  const EmulatorTable &table = *device.emulator();
  if (table.sizeBytes < sizeof(EmulatorTable)) {
    return fail(ErrorCode::Unsupported,
                "the emulator is older than this command: build both from the same sources");
  }
  EmulatorSettings settings(table);
  table.setAsyncMode(options.mode, options.seed);
  table.setRaceChecking(options.checksRaces ? 1 : 0);
  if (options.trace) {
    llvm::SmallVector<llvm::StringRef, 0> lines;
    ptx.split(lines, '\n');
    settings.lines_ = std::make_unique<std::vector<std::string>>(lines.begin(), lines.end());
    table.setTrace(printTraceLine, settings.lines_.get(), options.trace->block,
                   options.trace->warp);
  }
  return settings;
}

EmulatorSettings::EmulatorSettings(EmulatorSettings &&other) noexcept
    : table_(std::exchange(other.table_, nullptr)), lines_(std::move(other.lines_)) {}

EmulatorSettings::~EmulatorSettings() {
  if (table_ != nullptr) {
    table_->setAsyncMode(EmulatorAsyncMode::Lazy, 0);
    table_->setRaceChecking(1);
    table_->setTrace(nullptr, nullptr, 0, 0);
  }
}

void addModelledTime(Report &report, const EmulatorTable &table) {
  constexpr double kNsPerUs = 1000;
  double timeNs = 0;
  if (table.lastModelledNs(&timeNs) == 0) {
    report.addNumber("time_us", timeNs / kNsPerUs).addText("time_kind", "modelled");
  }
}

void addCounters(Report &report, const EmulatorTable &table) {
  EmulatorCounters counters{};
  if (table.readCounters(&counters, sizeof counters) != 0) {
    return;
  }
  const auto add = [&](llvm::StringRef name, std::uint64_t value) {
    report.addInteger(name, static_cast<std::int64_t>(value));
  };
  add("warp_instructions", counters.warpInstructions);
  add("integer_instructions", counters.integerInstructions);
  add("float_instructions", counters.floatInstructions);
  add("mma_flops", counters.mmaFlops);
  add("global_load_sectors", counters.globalLoadSectors);
  add("global_store_sectors", counters.globalStoreSectors);
  add("shared_wavefronts", counters.sharedWavefronts);
  add("shared_bank_conflicts", counters.sharedBankConflicts);
  add("barrier_waits", counters.barrierWaits);
  add("bulk_load_bytes", counters.bulkLoadBytes);
  add("bulk_store_bytes", counters.bulkStoreBytes);
  add("blocks", counters.blocksExecuted);
}

} // namespace fp8jit
