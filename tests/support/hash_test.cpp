#include "support/hash.h"

#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

#include <string>

namespace fp8jit {
namespace {

std::string sha256Hex(llvm::StringRef bytes) {
  return llvm::toHex(sha256(bytes), /*LowerCase=*/true);
}

TEST(HashTest, GivesTheVectorsOfTheStandard) {
  EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(HashTest, PartsEnterWithTheirLength) {
  const std::string byHand("\x03\0\0\0\0\0\0\0abc\0\0\0\0\0\0\0\0", 19);

  EXPECT_EQ(sha256HexOfParts({"abc", ""}), sha256Hex(byHand));
}

TEST(HashTest, SeparatesPartsThatConcatenateAlike) {
  EXPECT_NE(sha256HexOfParts({"ab", "c"}), sha256HexOfParts({"a", "bc"}));
  EXPECT_NE(sha256HexOfParts({"abc"}), sha256HexOfParts({"abc", ""}));
}

} // namespace
} // namespace fp8jit
