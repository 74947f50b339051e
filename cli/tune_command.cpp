// fp8jit tune: finds the best configuration of one problem, or of every line of a file, and keeps
// it in the cache.
#include "cli/commands.h"
#include "cli/host_memory.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "generator/config.h"
#include "generator/problem_text.h"
#include "runtime/prepared_kernel.h"
#include "support/files.h"
#include "tuner/tuner.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <type_traits>

namespace fp8jit {

namespace {

/// A problem and where it was named, for messages.
struct NamedProblem {
  Problem problem;
  std::string where; ///< "shapes.txt line 3"; empty for the operand
};

} // namespace

/// One problem per line; empty lines and those that begin with # are skipped.
static llvm::Expected<std::vector<NamedProblem>> readShapes(llvm::StringRef path) {
  llvm::Expected<std::string> text = readFile(path);
  if (!text) {
    return addContext(text.takeError(), "flag --shapes");
  }
  llvm::SmallVector<llvm::StringRef, 32> lines;
  llvm::StringRef(*text).split(lines, '\n');
  std::vector<NamedProblem> problems;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const llvm::StringRef line = lines[i].trim();
    if (line.empty() || line.startswith("#")) {
      continue;
    }
    const std::string where = (path + " line " + llvm::Twine(i + 1)).str();
    llvm::Expected<Problem> problem = parseProblem(line);
    if (!problem) {
      return addContext(problem.takeError(), where);
    }
    problems.push_back({*problem, where});
  }
  if (problems.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "flag --shapes: file " + path + " holds no problem, expected one per line");
  }
  return problems;
}

static llvm::Expected<std::vector<NamedProblem>> readProblems(const Arguments &arguments) {
  if (arguments.hasOperand() == arguments.has("--shapes")) {
    return usageError(arguments.hasOperand()
                          ? "tune: found \"<problem>\" and --shapes, expected one of them"
                          : "tune: \"<problem>\" or --shapes FILE is missing, see fp8jit tune "
                            "--help");
  }
  if (arguments.has("--shapes")) {
    return readShapes(arguments.value("--shapes"));
  }
  llvm::Expected<Problem> problem = parseAnyProblem(arguments);
  if (!problem) {
    return problem.takeError();
  }
  return std::vector<NamedProblem>{{*problem, ""}};
}

static llvm::Expected<TuneOptions> readOptions(const Arguments &arguments) {
  TuneOptions options;
  constexpr double kMsPerSecond = 1000;
  llvm::Expected<std::int64_t> budgetMs = arguments.durationMs("--budget", 60'000);
  if (!budgetMs) {
    return budgetMs.takeError();
  }
  options.budgetSeconds = static_cast<double>(*budgetMs) / kMsPerSecond;
  llvm::Expected<std::uint64_t> seed = arguments.unsignedValue("--seed", options.seed);
  if (!seed) {
    return seed.takeError();
  }
  options.seed = *seed;
  llvm::Expected<std::uint64_t> top =
      arguments.unsignedValue("--top", static_cast<std::uint64_t>(options.topK));
  if (!top) {
    return top.takeError();
  }
  if (*top < 1 || *top > kMostCandidates) {
    return fail(ErrorCode::InvalidArgument, "flag --top: found " + llvm::Twine(*top) +
                                                ", expected 1 to " + llvm::Twine(kMostCandidates));
  }
  options.topK = static_cast<int>(*top);
  return options;
}

static JsonObject candidateJson(const TuneCandidate &candidate) {
  JsonObject object;
  object.addText("config", candidate.config).addText("status", candidate.status);
  if (candidate.timeUs > 0) {
    object.addNumber("time_us", candidate.timeUs);
  } else {
    object.addNull("time_us");
  }
  object.addNumber("model_us", candidate.modelUs).addNumber("rel_error", candidate.relError);
  return object.addText("message", candidate.message);
}

static void printReport(const Engine &engine, const std::string &line, const TuneReport &report,
                        Console &console) {
  Report rows;
  rows.addText("problem", line)
      .addText("bucket", report.problem)
      .addText("device", engine.device())
      .addText("arch", engine.arch())
      .addText("winner", report.winner)
      .addText("kernel_key", report.kernelKey);
  addTime(rows, engine, report.timeUs * 1000);
  rows.addText("provenance", nameOf(report.provenance))
      .addText("from_cache", report.isFromCache ? "yes" : "no")
      .addInteger("compiled", report.compiled)
      .addInteger("checked", report.checked);
  std::vector<JsonObject> candidates;
  for (const TuneCandidate &candidate : report.candidates) {
    candidates.push_back(candidateJson(candidate));
  }
  rows.json().addObjects("candidates", candidates);
  rows.print(console);
  if (console.isJson()) {
    return;
  }
  for (const TuneCandidate &candidate : report.candidates) {
    std::string text = "  " + padRight(candidate.status, 14) + candidate.config;
    if (candidate.timeUs > 0) {
      text += "  " + shortNumber(candidate.timeUs) + " us";
    }
    console.print(text + (candidate.message.empty() ? "" : "  " + candidate.message) + "\n");
  }
}

static constexpr double kBytesPerOperandElement = 6;
static constexpr double kBytesPerResultElement = 12;
static constexpr double kLeastRows = 19;

/// At least what a trial holds: floats, codes and a device copy of B and of the rows that every
/// trial has (19, or all if there are fewer), and their results.
static double leastTrialBytes(const Problem &problem) {
  return std::visit(
      [](const auto &any) {
        const double rows = std::min(static_cast<double>(any.m), kLeastRows);
        const auto n = static_cast<double>(any.n);
        double bytes = rows * n * kBytesPerResultElement;
        if constexpr (std::is_same_v<decltype(any), const GemmProblem &>) {
          bytes += (rows + n) * static_cast<double>(any.k) * kBytesPerOperandElement;
        }
        return bytes;
      },
      problem);
}

static llvm::Error tuneOne(Engine &engine, const NamedProblem &named, TuneOptions options,
                           Console &console) {
  if (llvm::Error error = checkHostMemory(leastTrialBytes(named.problem))) {
    return error;
  }
  const std::string line = printProblem(named.problem);
  llvm::Expected<TuneReport> report = [&] {
    Progress progress("tune " + line);
    progress.update(0, options.topK, "operands");
    options.onProgress = [&](const TuneProgress &step) {
      progress.update(step.done, step.total, step.step);
    };
    return tune(engine, named.problem, options);
  }();
  if (!report) {
    return named.where.empty() ? report.takeError() : addContext(report.takeError(), named.where);
  }
  printReport(engine, line, *report, console);
  return llvm::Error::success();
}

static llvm::Expected<int> runTune(const Arguments &arguments, Console &console) {
  llvm::Expected<std::vector<NamedProblem>> problems = readProblems(arguments);
  if (!problems) {
    return problems.takeError();
  }
  llvm::Expected<TuneOptions> options = readOptions(arguments);
  if (!options) {
    return options.takeError();
  }
  llvm::Expected<Engine> engine = openEngine(arguments, console);
  if (!engine) {
    return engine.takeError();
  }
  int status = 0;
  for (const NamedProblem &named : *problems) {
    if (isEmpty(named.problem)) {
      console.notice(printProblem(named.problem) + ": writes nothing, so nothing is tuned");
      continue;
    }
    llvm::Error error = tuneOne(*engine, named, *options, console);
    if (error && problems->size() == 1) {
      return error;
    }
    // One problem that fails does not cost the others of a file their tuning.
    status = error ? console.reportError(std::move(error)) : status;
  }
  return status;
}

static llvm::ArrayRef<FlagSpec> tuneFlags() {
  static const FlagSpec kFlags[] = {
      {"--shapes", "FILE", "tune every problem of a file, one per line, # for comments"},
      {"--device", "D", "cuda:0, emulator:sm_89; default: the first CUDA GPU, else the emulator"},
      {"--budget", "TIME", "per problem, such as 60s (default), 500ms or 2m"},
      {"--top", "K", "how many of the best-ranked configurations are tried; default 6"},
      {"--seed", "N", "of the data that candidates run on; default 1"},
  };
  return kFlags;
}

Command tuneCommand() {
  static const CommandSpec kSpec = {
      .name = "tune",
      .operand = "\"<problem>\"",
      .isOperandRequired = false,
      .summary = "finds the fastest configuration of a problem and keeps it in the cache",
      .flags = tuneFlags(),
      .example = "fp8jit tune \"gemm m=64 n=384 k=384 sa=1x128 sb=128x128\" --device "
                 "emulator:sm_89 --top 3",
  };
  return {&kSpec, runTune};
}

} // namespace fp8jit
