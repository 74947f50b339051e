#include "support/tensor_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::outcomeOf;
using testing::TemporaryFolder;

TEST(TensorFileTest, TakesBothKindsOfNames) {
  const TemporaryFolder folder;
  const std::string header = R"({"a:b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  const std::string container = folder.write("t.safetensors", bytes + header + "\x07");
  const std::string array = folder.file("t.npy");
  ASSERT_OK(writeTensorFile(array, HostTensor{ElementType::U8, {1}, {9}}));

  llvm::Expected<HostTensor> fromContainer = readTensorFile(container + ":a:b");
  llvm::Expected<HostTensor> fromArray = readTensorFile(array);

  ASSERT_OK(fromContainer);
  EXPECT_EQ(fromContainer->bytes, std::vector<std::uint8_t>{7});
  ASSERT_OK(fromArray);
  EXPECT_EQ(fromArray->bytes, std::vector<std::uint8_t>{9});
}

TEST(TensorFileTest, RefusesOtherNames) {
  const TemporaryFolder folder;

  EXPECT_FAILS(readTensorFile("data.bin"), ErrorCode::InvalidArgument);
  EXPECT_FAILS(readTensorFile(""), ErrorCode::InvalidArgument);
  EXPECT_FAILS(readTensorFile("t.safetensors"), ErrorCode::InvalidArgument);
  EXPECT_FAILS(readTensorFile(folder.file("absent.npy")), ErrorCode::NotFound);
  EXPECT_FAILS(readTensorFile(folder.file("absent.safetensors:x")), ErrorCode::NotFound);
  EXPECT_FAILS(checkTensorOutput(folder.file("out.bin")), ErrorCode::InvalidArgument);
  EXPECT_FAILS(checkTensorOutput(folder.file("absent/out.npy")), ErrorCode::InvalidArgument);
  EXPECT_OK(checkTensorOutput(folder.file("out.npy")));
}

TEST(HostTensorTest, SizesDoNotOverflow) {
  EXPECT_EQ(tensorBytes(ElementType::F32, {2, 3}), 24);
  EXPECT_EQ(tensorBytes(ElementType::F32, {}), 4);
  EXPECT_EQ(tensorBytes(ElementType::U8, {9223372036854775807, 0}), 0);
  EXPECT_EQ(tensorBytes(ElementType::F16, {9223372036854775807}), std::nullopt);
  EXPECT_EQ(tensorBytes(ElementType::U8, {-1}), std::nullopt);
  EXPECT_EQ(printDims({4, 5}), "[4, 5]");
}

} // namespace
} // namespace fp8jit
