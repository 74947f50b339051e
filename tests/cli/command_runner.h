// Runs the built fp8jit program in a folder of its own. Main entry: CommandRunner::run.
#pragma once

#include "support/json_value.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <string>
#include <vector>

namespace fp8jit::testing {

/// What a run of the program gave.
struct CommandResult {
  int status = -1;
  std::string out, err;
};

/// One temporary folder with its own cache; nothing of the user's is read or written.
class CommandRunner {
public:
  CommandResult run(const std::vector<std::string> &words) const;
  /// Runs with standard output and standard error in these files; the exit status alone.
  int runOnto(const std::vector<std::string> &words, const std::string &out,
              const std::string &err) const;
  /// Runs with --json; standard output must be exactly one line that is JSON.
  JsonValue runJson(std::vector<std::string> words, int expectedStatus = 0) const;

  const TemporaryFolder &folder() const { return folder_; }
  std::string cacheFolder() const { return folder_.file("cache"); }

private:
  TemporaryFolder folder_;
};

/// Text of a member; empty if there is none.
std::string textOf(const JsonValue &object, llvm::StringRef name);
/// Number of a member; NaN if there is none.
double numberOf(const JsonValue &object, llvm::StringRef name);

} // namespace fp8jit::testing
