// The fp8jit command: picks the sub-command, reads its arguments, reports errors, sets the exit
// status: 0 done, 1 failed, 2 a command line that cannot be understood.
#include "cli/commands.h"
#include "support/quote.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <exception>

namespace fp8jit {
namespace {

/// A sub-command of the design that this build does not have.
struct LaterCommand {
  llvm::StringRef name;
  llvm::StringRef whatWorks;
};

constexpr LaterCommand kLaterCommands[] = {
    {"prewarm", "fp8jit tune fills the cache for one device"},
    {"doctor", "fp8jit devices says what can run here and fp8jit cache path where the cache is"},
};

} // namespace

static std::array<Command, 7> allCommands() {
  return {devicesCommand(), gemmCommand(),  quantizeCommand(), tuneCommand(),
          inspectCommand(), cacheCommand(), emulateCommand()};
}

static std::string commandNames() {
  return llvm::join(
      llvm::map_range(allCommands(), [](const Command &command) { return command.spec->name; }),
      ", ");
}

static std::string overview() {
  std::string text =
      "usage: fp8jit <command> ...\n\n"
      "Fast FP8 GEMM and quantization kernels, generated and tuned for a problem and "
      "a GPU.\n\n";
  for (const Command &command : allCommands()) {
    text += "  " + padRight(command.spec->name, 11);
    text += command.spec->summary.str() + "\n";
  }
  text += "\nfp8jit <command> --help has the flags and an example of each. The first thing to "
          "try:\n  fp8jit gemm \"gemm m=64 n=128 k=256 sa=1x128 sb=128x128\" --check\n";
  return text;
}

static llvm::Expected<int> dispatch(llvm::ArrayRef<llvm::StringRef> words, Console &console) {
  if (words.empty()) {
    return usageError("a command is missing, expected one of " + commandNames() +
                      "; see fp8jit --help");
  }
  const llvm::StringRef name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    console.print(overview());
    return 0;
  }
  for (const Command &command : allCommands()) {
    if (command.spec->name != name) {
      continue;
    }
    llvm::Expected<Arguments> arguments = parseArguments(*command.spec, words.drop_front());
    if (!arguments) {
      return arguments.takeError();
    }
    if (arguments->has("--help")) {
      console.print(helpText(*command.spec));
      return 0;
    }
    return command.run(*arguments, console);
  }
  for (const LaterCommand &later : kLaterCommands) {
    if (later.name == name) {
      return fail(ErrorCode::Unsupported,
                  "command " + name + " is not in this build: " + later.whatWorks);
    }
  }
  return usageError("unknown command " + quoteText(name) + ", expected one of " + commandNames() +
                    "; see fp8jit --help");
}

static int runCommand(llvm::ArrayRef<llvm::StringRef> words) {
  Console console(llvm::is_contained(words, "--json"));
  llvm::Expected<int> status = dispatch(words, console);
  if (!status) {
    return console.reportError(status.takeError());
  }
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    const std::string reason = llvm::outs().error().message();
    llvm::outs().clear_error();
    llvm::errs() << "error: InvalidArgument: standard output cannot be written: " << reason << '\n';
    return 1;
  }
  return *status;
}

/// LLVM's streams abort the process at its end over an error that nobody looked at. There is no
/// other place to report it, and the exit status says what became of the command.
static int closeStreams(int status) {
  llvm::outs().flush();
  llvm::outs().clear_error();
  llvm::errs().clear_error();
  return status;
}

} // namespace fp8jit

int main(int argc, char **argv) {
  const llvm::SmallVector<llvm::StringRef, 16> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return fp8jit::closeStreams(fp8jit::runCommand(words));
  } catch (const std::exception &) {
    // Nothing here throws but containers whose sizes follow from the problem line (bad_alloc,
    // length_error), so this is the caller's to change.
    fp8jit::Console console(llvm::is_contained(words, "--json"));
    return fp8jit::closeStreams(console.reportError(
        fp8jit::fail(fp8jit::ErrorCode::InvalidArgument,
                     "problem: this machine has not enough memory for its arrays")));
  }
}
