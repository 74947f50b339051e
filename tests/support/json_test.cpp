#include "support/json_value.h"
#include "support/json_writer.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace fp8jit {
namespace {

using testing::outcomeOf;

TEST(JsonWriterTest, WritesOneLine) {
  JsonObject inner;
  inner.addText("config", "mma\ntile=\"1\"\\").addBool("best", true);
  JsonObject object;
  object.addText("problem", "gemm m<=1").addInteger("n", -3).addNumber("t", 0.1).addNull("x");
  object.addObjects("list", {inner, JsonObject()}).addTexts("names", {"a", "b"});

  EXPECT_EQ(object.str(), R"({"problem":"gemm m<=1","n":-3,"t":0.1,"x":null,)"
                          R"("list":[{"config":"mma\ntile=\"1\"\\","best":true},{}],)"
                          R"("names":["a","b"]})");
}

TEST(JsonWriterTest, NumbersReadBackExactlyAndNonFiniteOnesAreNull) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 10'000; ++i) {
    const double value = std::bit_cast<double>(random());
    JsonObject object;
    object.addNumber("v", value);
    llvm::Expected<JsonValue> json = parseJson(object.str());
    ASSERT_OK(json);
    if (std::isfinite(value)) {
      EXPECT_EQ(json->find("v")->asNumber(), value);
    } else {
      EXPECT_EQ(json->find("v")->kind, JsonValue::Kind::Null);
    }
  }
}

TEST(JsonWriterTest, RepairsTextThatIsNoUtf8) {
  JsonObject object;
  object.addText("t", llvm::StringRef("\xc3\xa9\xff\x01\xe2\x82", 6));

  EXPECT_EQ(object.str(), "{\"t\":\"\xc3\xa9\xef\xbf\xbd\\u0001\xef\xbf\xbd\xef\xbf\xbd\"}");
}

TEST(JsonValueTest, ReadsEveryKind) {
  llvm::Expected<JsonValue> json = parseJson(
      R"( {"n":null,"b":[true,false],"i":12,"d":-1.5e3,"t":"a\"\u00e9\ud83d\ude00\n","o":{}} )");

  ASSERT_OK(json);
  EXPECT_EQ(json->find("n")->kind, JsonValue::Kind::Null);
  EXPECT_TRUE(json->find("b")->items[0].boolean);
  EXPECT_FALSE(json->find("b")->items[1].boolean);
  EXPECT_EQ(json->find("i")->asIndex(), 12);
  EXPECT_EQ(json->find("d")->asNumber(), -1500.0);
  EXPECT_EQ(json->find("d")->asIndex(), std::nullopt);
  EXPECT_EQ(json->find("t")->text, "a\"\xc3\xa9\xf0\x9f\x98\x80\n");
  EXPECT_EQ(json->find("o")->kind, JsonValue::Kind::Object);
  EXPECT_EQ(json->find("absent"), nullptr);
}

TEST(JsonValueTest, RefusesWhatIsNoJson) {
  const char *const texts[] = {"",
                               "{",
                               "}",
                               "[1,]",
                               "{\"a\"}",
                               "{\"a\":1,}",
                               "nul",
                               "01",
                               "1.",
                               "1e",
                               "-",
                               "+1",
                               "\"",
                               "\"\\x\"",
                               "\"\\u12\"",
                               "\"\\ud800\"",
                               "[1 2]",
                               "{\"a\":1 \"b\":2}",
                               "1 2",
                               "\"\n\"",
                               "{\"a\":1,\"a\":2}",
                               "NaN",
                               "'a'"};
  for (const char *text : texts) {
    EXPECT_FAILS(parseJson(text), ErrorCode::InvalidArgument);
  }
}

TEST(JsonValueTest, RefusesDeepNestingInsteadOfOverflowingTheStack) {
  EXPECT_FAILS(parseJson(std::string(1'000'000, '[')), ErrorCode::InvalidArgument);
}

} // namespace
} // namespace fp8jit
