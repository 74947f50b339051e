#include "support/files.h"
#include "support/tensor_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include "llvm/Support/Path.h"
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace fp8jit {
namespace {

using testing::outcomeOf;
using testing::TemporaryFolder;

TEST(FilesTest, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::string path = folder.file("data 100%.bin");

  ASSERT_OK(writeFileAtomically(path, {"ab", llvm::StringRef("c\0d", 3)}));
  llvm::Expected<std::string> text = readFile(path);

  ASSERT_OK(text);
  EXPECT_EQ(*text, std::string("abc\0d", 5));
  EXPECT_EQ(folder.countEntries(), 1U);
}

TEST(FilesTest, ReplacesAFileWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "a long old text");

  ASSERT_OK(writeFileAtomically(path, {"new"}));

  llvm::Expected<std::string> text = readFile(path);
  ASSERT_OK(text);
  EXPECT_EQ(*text, "new");
}

TEST(FilesTest, MissingFilesAreNotFound) {
  const TemporaryFolder folder;

  EXPECT_FAILS(readFile(folder.file("absent")), ErrorCode::NotFound);
  EXPECT_FAILS(readFile(folder.write("file", "") + "/below"), ErrorCode::NotFound);
}

TEST(FilesTest, FoldersAndShortFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data", "12345");

  EXPECT_FAILS(readFile(folder.path()), ErrorCode::InvalidArgument);
  EXPECT_FAILS(readFile("/dev/null"), ErrorCode::InvalidArgument);
  EXPECT_FAILS(readFileRange(path, 3, 3), ErrorCode::InvalidArgument);
  EXPECT_FAILS(readFileRange(path, 6, 0), ErrorCode::InvalidArgument);
  EXPECT_OK(readFileRange(path, 3, 2));
}

TEST(FilesTest, AFileThatMayNotBeReadIsNamedOnce) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "the superuser may read everything";
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("closed.npy", "text");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);

  const testing::Outcome outcome = outcomeOf(readTensorFile(path));

  EXPECT_EQ(outcome.code, ErrorCode::InvalidArgument);
  EXPECT_EQ(llvm::StringRef(outcome.message).count(path), 1U) << outcome.message;
}

TEST(FilesTest, NamesOfOneFileHaveOneCanonicalPath) {
  const TemporaryFolder folder;
  const std::string path = folder.file("new");
  const std::string old = folder.write("old", "");

  EXPECT_EQ(canonicalPath(folder.path() + "/./new"), canonicalPath(path));
  EXPECT_EQ(canonicalPath(folder.path() + "/../" + llvm::sys::path::filename(folder.path()).str() +
                          "/old"),
            canonicalPath(old));
  EXPECT_NE(canonicalPath(path), canonicalPath(old));
  EXPECT_EQ(canonicalPath("new"), canonicalPath("./new"));
  EXPECT_EQ(canonicalPath("/absent/folder/new"), "/absent/folder/new");
}

TEST(FilesTest, CheckWritableLeavesNoTrace) {
  const TemporaryFolder folder;
  const std::string old = folder.write("old", "kept");

  EXPECT_OK(checkWritable(folder.file("new")));
  EXPECT_OK(checkWritable(old));

  EXPECT_EQ(folder.countEntries(), 1U);
  llvm::Expected<std::string> text = readFile(old);
  ASSERT_OK(text);
  EXPECT_EQ(*text, "kept");
}

TEST(FilesTest, RefusesTargetsThatCannotBecomeAFile) {
  const TemporaryFolder folder;
  const std::string targets[] = {"", folder.path(), folder.file("absent/out"), "/dev/null",
                                 "/proc/fp8jit-out"};
  for (const std::string &target : targets) {
    EXPECT_FAILS(checkWritable(target), ErrorCode::InvalidArgument);
    EXPECT_FAILS(writeFileAtomically(target, {"x"}), ErrorCode::InvalidArgument);
  }
  EXPECT_EQ(folder.countEntries(), 0U);
}

} // namespace
} // namespace fp8jit
