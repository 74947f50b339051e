// The embedded templates and a folder of them, and how texts are flattened.
#include "generator/flatten.h"
#include "generator/generate.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fp8jit {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

TEST(TemplateLibraryTest, FolderOfTheSourcesEqualsTheEmbeddedTexts) {
  llvm::Expected<TemplateLibrary> folder = TemplateLibrary::fromDirectory(FP8JIT_TEMPLATES_DIR);

  ASSERT_OK(folder);
  EXPECT_EQ(folder->hash(), TemplateLibrary::embedded().hash());
  EXPECT_EQ(folder->hash().size(), 64U);
}

TEST(TemplateLibraryTest, HashFollowsTheTexts) {
  const TemporaryFolder first;
  const TemporaryFolder second;
  first.write("a.cu", "x");
  second.write("a.cu", "y");

  llvm::Expected<TemplateLibrary> one = TemplateLibrary::fromDirectory(first.path());
  llvm::Expected<TemplateLibrary> two = TemplateLibrary::fromDirectory(second.path());

  ASSERT_OK(one);
  ASSERT_OK(two);
  EXPECT_NE(one->hash(), two->hash());
}

TEST(TemplateLibraryTest, MissingFolderAndMissingTemplateAreNotFound) {
  EXPECT_FAILS(TemplateLibrary::fromDirectory("/nonexistent/templates"), ErrorCode::NotFound);
  EXPECT_FAILS(TemplateLibrary::fromDirectory(TemporaryFolder().path()), ErrorCode::NotFound);
  EXPECT_FAILS(TemplateLibrary::embedded().text("gemm_none.cu"), ErrorCode::NotFound);
}

static TemplateLibrary libraryOf(const TemporaryFolder &folder) {
  llvm::Expected<TemplateLibrary> library = TemplateLibrary::fromDirectory(folder.path());
  EXPECT_OK(library);
  return *library;
}

TEST(FlattenTemplateTest, PutsEachPartOnceAndBeforeItsUse) {
  const TemporaryFolder folder;
  folder.write("root.cu", "// root\n#include \"one.cuh\"\n#include \"two.cuh\"\nroot\n");
  folder.write("one.cuh", "// head\n#pragma once\n\n#include \"two.cuh\"\n\none\n");
  folder.write("two.cuh", "// head\n#pragma once\n\nnamespace fp8jit {\n\ntwo\n\n} // namespace "
                          "fp8jit\n");

  llvm::Expected<std::string> text = flattenTemplate("root.cu", {}, libraryOf(folder));

  ASSERT_OK(text);
  EXPECT_EQ(*text, "two\n\none\n\n// root\nroot\n");
}

TEST(FlattenTemplateTest, ReplacesSlots) {
  const TemporaryFolder folder;
  folder.write("root.cu", "#include \"slot.cuh\"\nroot\n");
  folder.write("slot.cuh", "sample\n");

  llvm::Expected<std::string> text =
      flattenTemplate("root.cu", {{"slot.cuh", "chosen\n"}}, libraryOf(folder));

  ASSERT_OK(text);
  EXPECT_EQ(*text, "chosen\n\nroot\n");
}

TEST(FlattenTemplateTest, RefusesForeignIncludes) {
  const TemporaryFolder folder;
  folder.write("angle.cu", "#include <cuda_fp8.h>\n");
  folder.write("missing.cu", "#include \"none.cuh\"\n");

  EXPECT_FAILS(flattenTemplate("angle.cu", {}, libraryOf(folder)), ErrorCode::InvalidArgument);
  EXPECT_FAILS(flattenTemplate("missing.cu", {}, libraryOf(folder)), ErrorCode::NotFound);
}

} // namespace fp8jit
