// A folder of its own for one test, removed with everything in it. Main entry: TemporaryFolder.
#pragma once

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

#include <string>

namespace fp8jit::testing {

class TemporaryFolder {
public:
  TemporaryFolder() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("fp8jit-test", path));
    path_ = std::string(path);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path_); }

  const std::string &path() const { return path_; }
  /// The path of `name` in the folder.
  std::string file(const std::string &name) const { return path_ + "/" + name; }

  /// Makes the file `name` with `bytes` and returns its path.
  std::string write(const std::string &name, llvm::StringRef bytes) const {
    std::error_code error;
    llvm::raw_fd_ostream os(file(name), error);
    EXPECT_FALSE(error) << name << ": " << error.message();
    os << bytes;
    return file(name);
  }

  /// Names in the folder.
  std::size_t countEntries() const {
    std::size_t count = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(path_, error), end; !error && it != end;
         it.increment(error)) {
      ++count;
    }
    return count;
  }

private:
  std::string path_;
};

} // namespace fp8jit::testing
