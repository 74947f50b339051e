// .safetensors files: the element types that are read, and every kind of malformed header.
#include "support/safetensors.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::outcomeOf;
using testing::TemporaryFolder;

std::string fileBytes(const std::string &header, std::size_t dataBytes) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>((header.size() >> (8 * i)) & 0xFFU);
  }
  bytes += header;
  for (std::size_t i = 0; i < dataBytes; ++i) {
    bytes += static_cast<char>(i);
  }
  return bytes;
}

std::string entry(const std::string &dtype, const std::string &shape, int begin, int end) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

TEST(SafetensorsTest, ReadsTheNamedTensor) {
  const TemporaryFolder folder;
  const std::string header = R"({"__metadata__":{"format":"pt"},"b.weight":)" +
                             entry("F32", "[2,1]", 4, 12) + R"(,"a":)" +
                             entry("BF16", "[2]", 0, 4) + "}   ";
  const std::string path = folder.write("t.safetensors", fileBytes(header, 12));

  llvm::Expected<HostTensor> tensor = readSafetensor(path, "b.weight");

  ASSERT_OK(tensor);
  EXPECT_EQ(tensor->type, ElementType::F32);
  EXPECT_EQ(tensor->dims, (TensorDims{2, 1}));
  EXPECT_EQ(tensor->bytes, (std::vector<std::uint8_t>{4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(SafetensorsTest, KnowsItsElementTypes) {
  const TemporaryFolder folder;
  const std::tuple<const char *, int, ElementType> cases[] = {
      {"F32", 4, ElementType::F32},      {"F16", 2, ElementType::F16},
      {"BF16", 2, ElementType::BF16},    {"U16", 2, ElementType::BF16},
      {"U8", 1, ElementType::U8},        {"I32", 4, ElementType::Int32},
      {"F8_E4M3", 1, ElementType::E4M3}, {"F8_E5M2", 1, ElementType::E5M2},
      {"F8_E8M0", 1, ElementType::E8M0}};
  for (const auto &[dtype, bytes, type] : cases) {
    const std::string header = R"({"t":)" + entry(dtype, "[3]", 0, 3 * bytes) + "}";
    llvm::Expected<HostTensor> tensor = readSafetensor(
        folder.write("t.safetensors", fileBytes(header, static_cast<std::size_t>(3 * bytes))), "t");
    ASSERT_OK(tensor);
    EXPECT_EQ(tensor->type, type) << dtype;
  }
}

TEST(SafetensorsTest, SaysWhichTensorsThereAre) {
  const TemporaryFolder folder;
  const std::string header =
      R"({"a":)" + entry("U8", "[1]", 0, 1) + R"(,"b":)" + entry("U8", "[]", 1, 2) + "}";
  const std::string path = folder.write("t.safetensors", fileBytes(header, 2));

  const testing::Outcome outcome = outcomeOf(readSafetensor(path, "c"));

  EXPECT_EQ(codeName(outcome.code), "NotFound");
  EXPECT_NE(outcome.message.find("tensor 'c' is not in it; it has a, b"), std::string::npos)
      << outcome.message;
}

TEST(SafetensorsTest, OtherElementTypesAreUnsupported) {
  const TemporaryFolder folder;
  for (const char *dtype : {"F64", "F4", "I64"}) {
    const std::string header = R"({"t":)" + entry(dtype, "[1]", 0, 8) + "}";
    EXPECT_FAILS(readSafetensor(folder.write("t.safetensors", fileBytes(header, 8)), "t"),
                 ErrorCode::Unsupported);
  }
}

TEST(SafetensorsTest, RefusesMalformedFiles) {
  const std::string good = R"({"t":)" + entry("U8", "[4]", 0, 4) + "}";
  const auto two = [](const std::string &first, const std::string &second) {
    return fileBytes(R"({"a":)" + first + R"(,"b":)" + second + "}", 8);
  };
  const auto one = [](const std::string &value) { return fileBytes(R"({"t":)" + value + "}", 4); };
  const std::pair<std::string, const char *> cases[] = {
      {"", "truncated: found 0 bytes, expected 8"},
      {"1234567", "truncated: found 7 bytes"},
      {std::string("\x40\0\0\0\0\0\0\0{}", 10), "expected a header of 64 after byte 8"},
      {std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "header length: found 1844674407370"},
      {fileBytes("{\"t\":", 4), "JSON at byte 5: found the end, expected a value"},
      {fileBytes("[]", 0), "header: expected a JSON object"},
      {fileBytes(good, 3), "tensor 't': ends at byte 4 of the data, which has 3"},
      {fileBytes(good, 5), "the tensors cover 4 bytes of data, found 5"},
      {two(entry("U8", "[4]", 0, 4), entry("U8", "[5]", 3, 8)), "it overlaps another tensor"},
      {two(entry("U8", "[4]", 0, 4), entry("U8", "[3]", 5, 8)), "there is a hole"},
      {fileBytes(
           R"({"t":)" + entry("U8", "[4]", 0, 4) + R"(,"t":)" + entry("U8", "[4]", 4, 8) + "}", 8),
       "key 't' stands twice"},
      {one(entry("F32", "[2]", 0, 4)), "data_offsets span 4 bytes, expected 8 for F32 [2]"},
      {one(entry("U8", "[4]", 4, 0)), "is not [begin, end]"},
      {one(entry("U8", "[-4]", 0, 4)), "shape holds something that is no size"},
      {one(entry("U8", "[4.0]", 0, 4)), "shape holds something that is no size"},
      {one(entry("U8", "[9223372036854775807,9]", 0, 4)), "expected more than 2^60"},
      {one(R"({"dtype":"U8","shape":[4]})"), "expected exactly dtype, shape and data_offsets"},
      {one(R"({"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":1})"), "expected exactly dtype"},
      {one(R"({"dtype":3,"shape":[4],"data_offsets":[0,4]})"), "expected a text as dtype"},
      {one(R"({"dtype":"U8","shape":[4],"data_offsets":[0]})"), "is not [begin, end]"},
      {one("7"), "expected exactly dtype"},
  };
  const TemporaryFolder folder;
  for (const auto &[bytes, messagePart] : cases) {
    const testing::Outcome outcome =
        outcomeOf(readSafetensor(folder.write("bad.safetensors", bytes), "t"));
    EXPECT_FALSE(outcome.isOk) << messagePart;
    EXPECT_EQ(codeName(outcome.code), "InvalidArgument") << outcome.message;
    EXPECT_NE(outcome.message.find(messagePart), std::string::npos)
        << messagePart << ": " << outcome.message;
  }
}

} // namespace
} // namespace fp8jit
