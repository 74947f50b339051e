// Parts of the command without a process: arguments and conversions.
#include "cli/arguments.h"
#include "cli/tensor_convert.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::outcomeOf;

const FlagSpec kFlags[] = {
    {"--number", "X", "a number"}, {"--switch", "", "a switch"}, {"--later", "F", "", "not yet"}};
const CommandSpec kSpec = {.name = "try",
                           .operand = "WHAT",
                           .isOperandRequired = true,
                           .summary = "tries",
                           .flags = kFlags,
                           .example = "fp8jit try"};

llvm::Expected<Arguments> parse(llvm::ArrayRef<llvm::StringRef> words) {
  return parseArguments(kSpec, words);
}

TEST(ArgumentsTest, TakesFlagsAndTheOperandInAnyOrder) {
  llvm::Expected<Arguments> arguments = parse({"--number", "-1.5", "what", "--switch"});
  ASSERT_OK(arguments);
  llvm::Expected<float> number = arguments->floatValue("--number", 0);

  ASSERT_OK(number);
  EXPECT_EQ(*number, -1.5F);
  EXPECT_TRUE(arguments->has("--switch"));
  EXPECT_FALSE(arguments->has("--json"));
  EXPECT_EQ(arguments->operand(), "what");
}

TEST(ArgumentsTest, TakesAValueBehindAnEqualsSign) {
  llvm::Expected<Arguments> arguments = parse({"what", "--cache=a=b"});

  ASSERT_OK(arguments);
  EXPECT_EQ(arguments->value("--cache"), "a=b");
}

TEST(ArgumentsTest, NumbersAreReadWhole) {
  for (const char *text : {"", "x", "1x", "0x10", "1e39", "inf", "nan", "--1", "+-1", "1 "}) {
    llvm::Expected<Arguments> arguments = parse({"what", (std::string("--number=") + text)});
    ASSERT_OK(arguments);
    EXPECT_FAILS(arguments->floatValue("--number", 0), ErrorCode::InvalidArgument);
  }
  for (const char *text : {"", "-1", "1.5", "18446744073709551616", "+1", "0x1"}) {
    llvm::Expected<Arguments> arguments = parse({"what", (std::string("--number=") + text)});
    ASSERT_OK(arguments);
    EXPECT_FAILS(arguments->unsignedValue("--number", 0), ErrorCode::InvalidArgument);
  }
}

TEST(ArgumentsTest, DurationsHaveAUnit) {
  const std::pair<const char *, std::int64_t> cases[] = {
      {"60s", 60'000}, {"500ms", 500}, {"2m", 120'000}, {"0s", 0}};
  for (const auto &[text, milliseconds] : cases) {
    llvm::Expected<Arguments> arguments = parse({"what", (std::string("--number=") + text)});
    ASSERT_OK(arguments);
    llvm::Expected<std::int64_t> duration = arguments->durationMs("--number", 1);
    ASSERT_OK(duration);
    EXPECT_EQ(*duration, milliseconds) << text;
  }
  for (const char *text : {"60", "s", "1.5s", "-1s", "1h", "99999999999999999999s"}) {
    llvm::Expected<Arguments> arguments = parse({"what", (std::string("--number=") + text)});
    ASSERT_OK(arguments);
    EXPECT_FAILS(arguments->durationMs("--number", 1), ErrorCode::InvalidArgument);
  }
}

TEST(ArgumentsTest, FlagsOfLaterBuildsAreUnsupportedAndNotInTheHelp) {
  llvm::Expected<Arguments> arguments = parse({"what", "--later", "f"});
  ASSERT_OK(arguments);

  EXPECT_FAILS(arguments->checkSupportedFlags(), ErrorCode::Unsupported);
  EXPECT_EQ(helpText(kSpec).find("--later"), std::string::npos);
}

TEST(TensorConvertTest, RoundsBetweenFloatingTypes) {
  const HostTensor f32{ElementType::F32, {1}, {0x00, 0x80, 0x80, 0x3f}}; // a tie: 1 + 2^-8
  const HostTensor f16{ElementType::F16, {1}, {0x00, 0x3c}};             // 1

  EXPECT_EQ(roundFloats(f32, Format::BF16), (std::vector<std::uint8_t>{0x80, 0x3f}));
  EXPECT_EQ(roundFloats(f32, Format::F32), f32.bytes);
  EXPECT_EQ(roundFloats(f16, Format::BF16), (std::vector<std::uint8_t>{0x80, 0x3f}));
  EXPECT_EQ(roundFloats(f16, Format::F32), (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f}));
}

TEST(TensorConvertTest, WidensResultsExactly) {
  const HostTensor wide = widenResult(Format::BF16, {1}, {0x80, 0x3f});
  const HostTensor codes = widenResult(Format::E4M3, {1}, {0x7e});

  EXPECT_EQ(wide.type, ElementType::F32);
  EXPECT_EQ(wide.bytes, (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f}));
  EXPECT_EQ(codes.type, ElementType::U8);
  EXPECT_EQ(codes.bytes, (std::vector<std::uint8_t>{0x7e}));
}

TEST(TensorConvertTest, NamedCodesMustMatchTheFormat) {
  EXPECT_TRUE(holdsCodes(ElementType::U8, Format::E5M2));
  EXPECT_TRUE(holdsCodes(ElementType::E4M3, Format::E4M3));
  EXPECT_FALSE(holdsCodes(ElementType::E5M2, Format::E4M3));
  EXPECT_FALSE(holdsCodes(ElementType::F32, Format::E4M3));
}

} // namespace
} // namespace fp8jit
