// fp8jit cache: where the tuning store is and what is in it.
#include "cache/store.h"
#include "cli/commands.h"
#include "support/quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

namespace fp8jit {

static constexpr llvm::StringRef kLaterActions[] = {"verify", "export", "import",
                                                    "merge",  "gc",     "clear"};

/// The store of --cache or of the environment, opened without changing it; null while it does not
/// exist yet.
static llvm::Expected<std::unique_ptr<Store>> openStore(llvm::StringRef directory,
                                                        Console &console) {
  if (!llvm::sys::fs::exists(storeFilePath(directory))) {
    return std::unique_ptr<Store>();
  }
  return Store::open({.directory = directory.str(),
                      .readOnly = true,
                      .onWarning = [&console](llvm::StringRef line) { console.warn(line); }});
}

static llvm::Expected<int> printPath(llvm::StringRef directory, Console &console) {
  const std::string file = storeFilePath(directory);
  if (console.isJson()) {
    JsonObject object;
    console.printLine(object.addText("directory", directory).addText("file", file));
    return 0;
  }
  console.print(file + "\n");
  return 0;
}

static llvm::Expected<int> printStats(llvm::StringRef directory, Console &console) {
  llvm::Expected<std::unique_ptr<Store>> store = openStore(directory, console);
  if (!store) {
    return store.takeError();
  }
  const StoreStats stats = *store ? (*store)->stats() : StoreStats{};
  Report report;
  report.addText("file", storeFilePath(directory))
      .addInteger("winners", stats.winners)
      .addInteger("trials", stats.trials)
      .addInteger("binaries", stats.binaries)
      .addInteger("binary_bytes", stats.binaryBytes)
      .addInteger("file_bytes", stats.fileBytes)
      .addInteger("rejected_rows", stats.rejectedRows);
  report.print(console);
  return 0;
}

static llvm::Expected<int> printWinners(llvm::StringRef directory, Console &console) {
  llvm::Expected<std::unique_ptr<Store>> store = openStore(directory, console);
  if (!store) {
    return store.takeError();
  }
  if (!*store) {
    return 0;
  }
  constexpr double kNsPerUs = 1000;
  for (const ListedWinner &listed : (*store)->listWinners()) {
    Report row;
    row.addText("problem", listed.key.problem)
        .addText("target", listed.key.target)
        .addText("config", listed.winner.config)
        .addText("provenance", listed.winner.provenance)
        .addNumber("time_us", listed.winner.timeNs / kNsPerUs);
    row.json()
        .addText("toolchain", listed.key.toolchain)
        .addText("kernel_key", listed.winner.kernelKey)
        .addInteger("updated_at", listed.winner.updatedAt);
    row.print(console);
    console.print(console.isJson() ? "" : "\n");
  }
  return 0;
}

static llvm::Expected<int> runCache(const Arguments &arguments, Console &console) {
  const llvm::StringRef action = arguments.operand();
  if (llvm::is_contained(kLaterActions, action)) {
    return fail(ErrorCode::Unsupported,
                "cache " + action + " is not in this build, which has path, stats and list");
  }
  if (action != "path" && action != "stats" && action != "list") {
    return usageError("cache: found " + quoteText(action) + ", expected path, stats or list");
  }
  const std::string directory = cacheDirectory(arguments.value("--cache"));
  if (directory.empty() || directory == "none") {
    return fail(ErrorCode::NotFound, "there is no cache folder: --cache is 'none', or none of "
                                     "--cache, FP8JIT_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
  }
  if (action == "path") {
    return printPath(directory, console);
  }
  return action == "stats" ? printStats(directory, console) : printWinners(directory, console);
}

Command cacheCommand() {
  static const CommandSpec kSpec = {
      .name = "cache",
      .operand = "path|stats|list",
      .isOperandRequired = true,
      .summary = "says where tuned configurations and binaries are kept, and what is there",
      .flags = {},
      .example = "fp8jit cache stats --json",
  };
  return {&kSpec, runCache};
}

} // namespace fp8jit
