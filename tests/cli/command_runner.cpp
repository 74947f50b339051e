#include "tests/cli/command_runner.h"

#include "support/files.h"

#include "llvm/Support/Program.h"

#include <cstdlib>
#include <limits>

namespace fp8jit::testing {

/// Long enough for a loaded machine under a sanitizer.
static constexpr unsigned kDeadlineSeconds = 240;

/// What a run inherits: where libraries are, and how sanitizers behave.
static std::vector<std::string> inheritedEnvironment() {
  std::vector<std::string> variables;
  for (const char *name : {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "FP8JIT_NVRTC",
                           "FP8JIT_EMULATOR", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char *value = std::getenv(name)) {
      variables.push_back(std::string(name) + "=" + value);
    }
  }
  return variables;
}

static std::string readOrEmpty(const std::string &path) {
  llvm::Expected<std::string> text = readFile(path);
  EXPECT_OK(text);
  return text ? *text : std::string();
}

int CommandRunner::runOnto(const std::vector<std::string> &words, const std::string &out,
                           const std::string &err) const {
  std::vector<llvm::StringRef> arguments = {FP8JIT_PROGRAM};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables = inheritedEnvironment();
  variables.push_back("HOME=" + folder_.path());
  variables.push_back("FP8JIT_CACHE_DIR=" + cacheFolder());
  const std::vector<llvm::StringRef> environment(variables.begin(), variables.end());
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef("/dev/null"),
                                                      llvm::StringRef(out), llvm::StringRef(err)};
  std::string message;
  const int status =
      llvm::sys::ExecuteAndWait(FP8JIT_PROGRAM, arguments, llvm::makeArrayRef(environment),
                                {redirects[0].value(), redirects[1].value(), redirects[2].value()},
                                kDeadlineSeconds, 0, &message);
  EXPECT_EQ(message, "");
  return status;
}

CommandResult CommandRunner::run(const std::vector<std::string> &words) const {
  const std::string out = folder_.file("stdout");
  const std::string err = folder_.file("stderr");
  for (const std::string &path : {out, err}) {
    llvm::sys::fs::remove(path); // a redirection does not cut an existing file
  }
  CommandResult result;
  result.status = runOnto(words, out, err);
  result.out = readOrEmpty(out);
  result.err = readOrEmpty(err);
  return result;
}

JsonValue CommandRunner::runJson(std::vector<std::string> words, int expectedStatus) const {
  words.push_back("--json");
  const CommandResult result = run(words);
  EXPECT_EQ(result.status, expectedStatus) << result.out << result.err;
  const llvm::StringRef line = result.out;
  EXPECT_TRUE(line.endswith("\n") && line.count('\n') == 1) << result.out;
  llvm::Expected<JsonValue> json = parseJson(line);
  EXPECT_OK(json);
  return json ? *json : JsonValue();
}

std::string textOf(const JsonValue &object, llvm::StringRef name) {
  const JsonValue *member = object.find(name);
  return member == nullptr ? std::string() : member->text;
}

double numberOf(const JsonValue &object, llvm::StringRef name) {
  const JsonValue *member = object.find(name);
  const std::optional<double> value = member == nullptr ? std::nullopt : member->asNumber();
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

} // namespace fp8jit::testing
