// The grammar of kernel arguments, without a device.
#include "cli/emulate_arguments.h"
#include "tests/support/matchers.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::outcomeOf;
using Bytes = std::vector<std::uint8_t>;

Bytes scalarBytes(llvm::StringRef text) {
  llvm::Expected<KernelArgument> argument = parseKernelArgument(text);
  if (!argument) {
    ADD_FAILURE() << text.str() << ": " << takeFailure(argument.takeError()).text();
    return {};
  }
  const auto *scalar = std::get_if<ScalarSpec>(&*argument);
  return scalar == nullptr ? Bytes() : scalar->bytes;
}

template <typename T>
T parsed(llvm::StringRef text) {
  llvm::Expected<KernelArgument> argument = parseKernelArgument(text);
  if (!argument) {
    ADD_FAILURE() << text.str() << ": " << takeFailure(argument.takeError()).text();
    return {};
  }
  const T *found = std::get_if<T>(&*argument);
  EXPECT_NE(found, nullptr) << text.str();
  return found == nullptr ? T() : *found;
}

TEST(KernelArgumentTest, ReadsNumbersOfEverySize) {
  EXPECT_EQ(scalarBytes("u32:7"), (Bytes{7, 0, 0, 0}));
  EXPECT_EQ(scalarBytes("s32:-1"), (Bytes{255, 255, 255, 255}));
  EXPECT_EQ(scalarBytes("u64:0x1fffffffff"), (Bytes{255, 255, 255, 255, 31, 0, 0, 0}));
  EXPECT_EQ(scalarBytes("s8:-128"), (Bytes{128}));
  EXPECT_EQ(scalarBytes("u16:65535"), (Bytes{255, 255}));
  EXPECT_EQ(scalarBytes("f32:1.5"), (Bytes{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(scalarBytes("f64:-2"), (Bytes{0, 0, 0, 0, 0, 0, 0, 0xc0}));
}

TEST(KernelArgumentTest, ReadsMemory) {
  const auto out = parsed<BufferSpec>("out:/a:b/d.npy:bf16:64x128");
  EXPECT_EQ(out.kind, BufferKind::Out);
  EXPECT_EQ(out.file, "/a:b/d.npy");
  EXPECT_EQ(out.type, ElementType::BF16);
  EXPECT_EQ(out.dims, (TensorDims{64, 128}));
  const auto in = parsed<BufferSpec>("in:w.safetensors:layer.0");
  EXPECT_EQ(in.kind, BufferKind::In);
  EXPECT_EQ(in.file, "w.safetensors:layer.0");
  EXPECT_EQ(parsed<BufferSpec>("inout:x.npy").kind, BufferKind::InOut);
  EXPECT_EQ(parsed<BufferSpec>("zeros:u8:16").kind, BufferKind::Zeros);
  EXPECT_EQ(parsed<BufferSpec>("scratch:s32:2x3").dims, (TensorDims{2, 3}));
}

TEST(KernelArgumentTest, ReadsReferences) {
  EXPECT_EQ(parsed<ReferenceSpec>("ref:3").argument, 3U);
  const auto reference = parsed<ReferenceSpec>("ref:0+256");
  EXPECT_EQ(reference.argument, 0U);
  EXPECT_EQ(reference.offset, 256U);
}

TEST(KernelArgumentTest, ReadsTensorMaps) {
  const auto plain = parsed<MapSpec>("map:a.npy,box=64x128");
  EXPECT_EQ(std::get<BufferSpec>(plain.source).file, "a.npy");
  EXPECT_EQ(plain.box, (TensorDims{64, 128}));
  EXPECT_EQ(plain.swizzle, 0);
  EXPECT_FALSE(plain.fillsNan);

  const auto full = parsed<MapSpec>("map:ref:2+512,box=8x32,swizzle=128,fill=nan,type=f32,"
                                    "shape=100x200,strides=1024,steps=2x1,offset=16");
  EXPECT_EQ(std::get<ReferenceSpec>(full.source).argument, 2U);
  EXPECT_EQ(full.swizzle, 3);
  EXPECT_TRUE(full.fillsNan);
  EXPECT_EQ(full.elementType, 7);
  EXPECT_EQ(full.shape, (TensorDims{100, 200}));
  EXPECT_EQ(full.strides, TensorDims{1024});
  EXPECT_EQ(full.steps, (TensorDims{2, 1}));
  EXPECT_EQ(full.offset, 16U);

  const auto out = parsed<MapSpec>("map:out:d.npy:f32:4x8,box=4x8");
  EXPECT_EQ(std::get<BufferSpec>(out.source).kind, BufferKind::Out);
}

TEST(KernelArgumentTest, SaysWhatItExpected) {
  const std::pair<const char *, const char *> cases[] = {
      {"7", "found '7', expected KIND:VALUE"},
      {"u33:7", "expected KIND:VALUE"},
      {"u32:", "a whole number of 32 bits"},
      {"u32:4294967296", "a whole number of 32 bits"},
      {"u32:-1", "a whole number of 32 bits"},
      {"s8:128", "a whole number of 8 bits"},
      {"f32:one", "a number such as 1.5"},
      {"in:", "the name of a file"},
      {"out:d.npy", "FILE.npy:TYPE:SHAPE"},
      {"out:d.npy:f31:2", "found 'f31', expected an element type"},
      {"out:d.npy:f32:2x", "positive numbers joined by x"},
      {"zeros:f32:0", "positive numbers joined by x"},
      {"zeros:f32:9223372036854775807x8", "less than 2^63 bytes"},
      {"ref:x", "the number of an argument"},
      {"map:a.npy", "a box, such as box=64x128"},
      {"map:a.npy,box=1x1x1x1x1x1", "at most 5 dimensions"},
      {"map:a.npy,box=8,swizzle=16", "found '16', expected 0, 32, 64 or 128"},
      {"map:a.npy,box=8,fill=one", "zero or nan"},
      {"map:a.npy,box=8,type=e4m3", "found 'e4m3', expected u8"},
      {"map:a.npy,box=8,colour=red", "found 'colour', expected box, shape"},
      {"map:a.npy,box=8,offset=x", "a number of bytes"},
  };
  for (const auto &[text, message] : cases) {
    const testing::Outcome outcome = outcomeOf(parseKernelArgument(text));
    EXPECT_EQ(outcome.code, ErrorCode::InvalidArgument) << text;
    EXPECT_NE(outcome.message.find(message), std::string::npos) << text << ": " << outcome.message;
  }
}

} // namespace
} // namespace fp8jit
