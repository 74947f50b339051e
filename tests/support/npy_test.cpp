// .npy files: round trips, the exact bytes NumPy writes, and every kind of malformed file.
#include "support/files.h"
#include "support/npy.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::outcomeOf;
using testing::TemporaryFolder;

/// A version 1 file with `header` as it is.
std::string npyBytes(const std::string &header, std::size_t dataBytes) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xFFU);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + std::string(dataBytes, 'x');
}

TEST(NpyTest, RoundTripsEveryElementType) {
  const TemporaryFolder folder;
  for (const ElementType type : {ElementType::F32, ElementType::F16, ElementType::BF16,
                                 ElementType::U8, ElementType::Int32}) {
    HostTensor tensor{type, {2, 3}, {}};
    for (std::int64_t i = 0; i < 6 * elementBytes(type); ++i) {
      tensor.bytes.push_back(static_cast<std::uint8_t>(i * 37));
    }
    const std::string path = folder.file("t.npy");

    ASSERT_OK(writeNpy(path, tensor));
    llvm::Expected<HostTensor> again = readNpy(path);

    ASSERT_OK(again);
    EXPECT_EQ(again->type, type);
    EXPECT_EQ(again->dims, tensor.dims);
    EXPECT_EQ(again->bytes, tensor.bytes);
  }
}

TEST(NpyTest, WritesWhatNumpyWrites) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.npy");

  ASSERT_OK(writeNpy(path, HostTensor{ElementType::F32, {1}, {0, 0, 0x80, 0x3f}}));

  llvm::Expected<std::string> bytes = readFile(path);
  ASSERT_OK(bytes);
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  const std::string header = dictionary + std::string(118 - 1 - dictionary.size(), ' ') + "\n";
  EXPECT_EQ(*bytes, npyBytes(header, 0) + std::string("\0\0\x80\x3f", 4));
}

TEST(NpyTest, ReadsShapesOfEveryRank) {
  const TemporaryFolder folder;
  const std::pair<const char *, TensorDims> cases[] = {
      {"()", {}}, {"(0,)", {0}}, {"(3,)", {3}}, {"(1, 3)", {1, 3}}, {"(1,3,1,)", {1, 3, 1}}};
  for (const auto &[shape, dims] : cases) {
    const std::string header =
        std::string("{\"shape\":") + shape + ",\"descr\":\"|u1\",\"fortran_order\":False}";
    llvm::Expected<HostTensor> tensor =
        readNpy(folder.write("t.npy", npyBytes(header, *tensorBytes(ElementType::U8, dims))));
    ASSERT_OK(tensor);
    EXPECT_EQ(tensor->dims, dims) << shape;
  }
}

TEST(NpyTest, ReadsVersionTwo) {
  const TemporaryFolder folder;
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  std::string bytes("\x93NUMPY\x02\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += std::string(3, '\0') + header + "ab";

  EXPECT_OK(readNpy(folder.write("t.npy", bytes)));
}

struct MalformedCase {
  std::string bytes;
  const char *messagePart;
};

TEST(NpyTest, RefusesMalformedFiles) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  const auto with = [&](const std::string &from, const std::string &to) {
    std::string header = good;
    return npyBytes(header.replace(header.find(from), from.size(), to), 16);
  };
  std::string versionThree = npyBytes(good, 16);
  versionThree[6] = 3;
  std::string longHeader("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12);
  const MalformedCase cases[] = {
      {"", "not a .npy file"},
      {"PK\x03\x04 and more bytes", "not a .npy file"},
      {std::string("\x93NUMPY\x01\x00", 8), "truncated: found 8 bytes, expected a header"},
      {versionThree, "version: found 3, expected 1 or 2"},
      {longHeader, "header length: found 2147483647, expected at most 65536"},
      {npyBytes(good, 16).substr(0, 30), "truncated: found 30 bytes, expected a header of 59"},
      {npyBytes(good, 15), "truncated: found 15 bytes of data, expected 16 for float32 [2, 2]"},
      {npyBytes(good, 17), "too long: found 17 bytes of data, expected 16"},
      {with("<f4", ">f4"), "found '>f4' (big endian), expected little-endian float32"},
      {with("<f4", "<f8"), "element type: found '<f8'"},
      {with("<f4", "|O"), "element type: found '|O'"},
      {with("'<f4'", "[('x', '<f4')]"), "header: found '[('x', '<f4')]"},
      {with("False", "True"), "order: found Fortran order, expected C order"},
      {with("False", "0"), "expected the value of descr"},
      {with("(2, 2)", "(2, -2)"), "expected the value of descr"},
      {with("(2, 2)", "(4)"), "expected the value of descr"},
      {with("(2, 2)", "(99999999999999999999, 2)"), "expected the value of descr"},
      {with("(2, 2)", "(9223372036854775807, 9)"), "expected more than 2^63"},
      {with("'shape'", "'descr'"), "key 'descr' stands twice"},
      {with("'shape'", "'size'"), "expected the value of descr"},
      {with(", 'shape': (2, 2), ", ""), "found keys descr, fortran_order, expected"},
      {with("{", "["), "expected '{'"},
      {with("}", "} x"), "header: found 'x', expected nothing more"},
      {with("'descr':", "descr:"), "expected a quoted key and ':'"},
      {with("False, ", "False "), "expected ',' or '}'"},
      {npyBytes(std::string(59, '\x01'), 16), "found '\\01\\01"},
  };
  const TemporaryFolder folder;
  for (const MalformedCase &test : cases) {
    llvm::Expected<HostTensor> tensor = readNpy(folder.write("bad.npy", test.bytes));
    ASSERT_FALSE(bool(tensor)) << test.messagePart;
    const testing::Outcome outcome = outcomeOf(tensor);
    EXPECT_EQ(codeName(outcome.code), "InvalidArgument") << outcome.message;
    EXPECT_NE(outcome.message.find(test.messagePart), std::string::npos) << outcome.message;
    EXPECT_NE(outcome.message.find("bad.npy"), std::string::npos) << outcome.message;
  }
}

TEST(NpyTest, SurvivesEveryTruncationOfAGoodFile) {
  const TemporaryFolder folder;
  const std::string good =
      npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 16);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FAILS(readNpy(folder.write("t.npy", good.substr(0, size))), ErrorCode::InvalidArgument);
  }
  EXPECT_OK(readNpy(folder.write("t.npy", good)));
}

} // namespace
} // namespace fp8jit
