// Bulk copies, tensor copies, tensor maps and matrices of sm_90a: operands in the order of
// operation.h.
#include "tests/emulator/ptx/ptx_support.h"

#include <gmock/gmock.h>

namespace fp8jit::emulator {
namespace {

using testing::bodyError;
using testing::constantIn;
using testing::decodeKernel;
using ::testing::HasSubstr;
using testing::operandOf;

constexpr const char *kCopyTarget = "sm_90a";

/// A kernel of one statement, and its operands that are slots of registers or constants.
struct Decoded {
  explicit Decoded(const std::string &text)
      : kernel(decodeKernel(text, kCopyTarget)), instruction(kernel.code.at(0)) {}

  std::uint32_t operand(std::uint32_t index) const { return operandOf(kernel, instruction, index); }
  std::uint64_t constant(std::uint32_t index) const { return constantIn(kernel, operand(index)); }

  Kernel kernel;
  Instruction instruction;
};

TEST(BulkCopyTest, LoadsHaveABarrierAndAMask) {
  const Decoded plain("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+16], "
                      "[%rd1+32], 1024, [%r2];");
  const Decoded multicast(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%r1], [%rd1], 64, [%r2], 3, %rd2;");

  EXPECT_EQ(plain.instruction.op, Op::BulkCopy);
  EXPECT_EQ(plain.instruction.space, Space::SharedCluster);
  EXPECT_EQ(plain.instruction.srcSpace, Space::Global);
  EXPECT_EQ(plain.instruction.immediate, 16);
  EXPECT_EQ(plain.instruction.immediate2, 32);
  EXPECT_EQ(plain.instruction.addressBits, 2);
  EXPECT_EQ(plain.instruction.numSrc, 5);
  EXPECT_EQ(plain.constant(2), 1024U);
  EXPECT_NE(plain.operand(3), kNoSlot);
  EXPECT_EQ(plain.operand(4), kNoSlot);
  EXPECT_FALSE(plain.instruction.mods.multicast);
  EXPECT_TRUE(multicast.instruction.mods.multicast);
  EXPECT_EQ(multicast.instruction.numSrc, 5);
  EXPECT_EQ(multicast.constant(4), 3U);
}

TEST(BulkCopyTest, StoresHaveNeither) {
  const Decoded store("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;");
  const Decoded reduce(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd1], [%r1], 32;");
  const Decoded remote("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                       "[%r1], [%r2], 16, [%r3];");

  EXPECT_EQ(store.instruction.space, Space::Global);
  EXPECT_EQ(store.instruction.srcSpace, Space::Shared);
  EXPECT_EQ(store.instruction.addressBits, 1);
  EXPECT_EQ(store.operand(3), kNoSlot);
  EXPECT_EQ(reduce.instruction.op, Op::BulkReduce);
  EXPECT_EQ(reduce.instruction.type, Type::BF16);
  EXPECT_EQ(reduce.instruction.mods.atomic, AtomicOp::Add);
  EXPECT_EQ(reduce.instruction.numSrc, 4);
  EXPECT_EQ(remote.instruction.space, Space::SharedCluster);
  EXPECT_EQ(remote.instruction.srcSpace, Space::Shared);
}

TEST(BulkCopyTest, GroupsCountAndPrefetchReads) {
  EXPECT_EQ(Decoded("cp.async.bulk.commit_group;").instruction.op, Op::BulkCommit);
  EXPECT_EQ(Decoded("cp.async.bulk.wait_group 2;").instruction.immediate, 2);
  EXPECT_FALSE(Decoded("cp.async.bulk.wait_group 2;").instruction.mods.readOnly);
  EXPECT_EQ(Decoded("cp.async.bulk.prefetch.L2.global [%rd1], 512;").instruction.op,
            Op::BulkPrefetch);
}

TEST(BulkCopyTest, DirectionIsTheOrderOfTheSpaces) {
  EXPECT_THAT(bodyError("cp.async.bulk.global.shared::cluster.mbarrier::complete_tx::bytes [%rd1], "
                        "[%r1], 16, [%r2];",
                        kCopyTarget)
                  .message,
              HasSubstr("no form of cp has this combination"));
}

TEST(TensorCopyTest, LoadPutsTheBarrierInFrontOfTheCoordinates) {
  const Decoded load("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx"
                     "::bytes.multicast::cluster.L2::cache_hint [%r1+128], [%rd1, {11, 12, %r3}], "
                     "[%r2], %h1, %rd2;");

  EXPECT_EQ(load.kernel.code.size(), 2U);
  EXPECT_EQ(load.instruction.op, Op::TensorLoad);
  EXPECT_EQ(load.instruction.space, Space::SharedCluster);
  EXPECT_EQ(load.instruction.immediate, 128);
  EXPECT_EQ(load.instruction.addressBits, 0);
  EXPECT_EQ(load.instruction.vector, 3);
  ASSERT_EQ(load.instruction.numSrc, 7);
  EXPECT_EQ(load.constant(3), 11U);
  EXPECT_EQ(load.constant(4), 12U);
  const Decoded unicast("cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes "
                        "[%r1], [%rd1, {-5}], [%r2];");
  ASSERT_EQ(unicast.instruction.numSrc, 5);
  EXPECT_EQ(unicast.constant(3), 0xfffffffbU);
  EXPECT_EQ(unicast.operand(4), kNoSlot);
}

TEST(TensorCopyTest, StorePutsTheSourceInFrontOfTheCoordinates) {
  const Decoded store("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                      "[%rd1, {7, 8}], [%r1+64];");
  const Decoded reduce("cp.reduce.async.bulk.tensor.5d.global.shared::cta.min.bulk_group "
                       "[%rd1, {1, 2, 3, 4, 5}], [%rd2];");
  const Decoded prefetch("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {1, 2}];");

  EXPECT_EQ(store.instruction.op, Op::TensorStore);
  EXPECT_EQ(store.instruction.space, Space::Shared);
  EXPECT_EQ(store.instruction.immediate, 64);
  EXPECT_EQ(store.instruction.addressBits, 0);
  ASSERT_EQ(store.instruction.numSrc, 4);
  EXPECT_EQ(store.constant(2), 7U);
  EXPECT_EQ(store.constant(3), 8U);
  EXPECT_EQ(reduce.instruction.op, Op::TensorReduce);
  EXPECT_EQ(reduce.instruction.mods.atomic, AtomicOp::Min);
  EXPECT_EQ(reduce.instruction.addressBits, 1);
  EXPECT_EQ(reduce.constant(6), 5U);
  EXPECT_EQ(prefetch.instruction.op, Op::TensorPrefetch);
  EXPECT_EQ(prefetch.instruction.numSrc, 3);
}

TEST(TensorCopyTest, DisplacementsOfMapAndBarrierAreAddedBeforehand) {
  const Kernel kernel =
      decodeKernel("cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes "
                   "[%r1], [%rd1+128, {0}], [%r2+8];",
                   kCopyTarget);

  ASSERT_EQ(kernel.code.size(), 4U);
  const Instruction &map = kernel.code[0];
  const Instruction &barrier = kernel.code[1];
  const Instruction &load = kernel.code[2];
  EXPECT_EQ(map.op, Op::Add);
  EXPECT_EQ(map.type, Type::U64);
  EXPECT_EQ(constantIn(kernel, operandOf(kernel, map, 2)), 128U);
  EXPECT_EQ(barrier.type, Type::U32);
  EXPECT_EQ(constantIn(kernel, operandOf(kernel, barrier, 2)), 8U);
  EXPECT_EQ(operandOf(kernel, load, 1), operandOf(kernel, map, 0));
  EXPECT_EQ(operandOf(kernel, load, 2), operandOf(kernel, barrier, 0));
}

TEST(TensorCopyTest, RefusesWrongCoordinates) {
  const std::string start =
      "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], ";
  EXPECT_THAT(bodyError(start + "[%rd1, {1, 2, 3}], [%r2];", kCopyTarget).message,
              HasSubstr("a tensor map and 2 coordinates"));
  EXPECT_THAT(bodyError(start + "[%rd1], [%r2];", kCopyTarget).message, HasSubstr("2 coordinates"));
  EXPECT_THAT(bodyError(start + "[%r3, {1, 2}], [%r2];", kCopyTarget).message,
              HasSubstr("address of 64 bits"));
  EXPECT_THAT(bodyError("ld.global.u32 %r1, [%rd1, {1}];", kCopyTarget).message,
              HasSubstr("coordinates are not allowed here"));
  EXPECT_THAT(bodyError(start + "[%rd1, 1], [%r2];", kCopyTarget).message,
              HasSubstr("expected coordinates in braces"));
}

TEST(TensorMapTest, ReplacesFields) {
  const Decoded address("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1+128], "
                        "%rd2;");
  const Decoded dimension("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 3, %r2;");
  const Decoded mode("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd1], 2;");

  EXPECT_EQ(address.instruction.op, Op::TensormapReplace);
  EXPECT_EQ(address.instruction.immediate, 128);
  EXPECT_EQ(address.instruction.immediate2, 8 * int{0});
  EXPECT_EQ(dimension.instruction.immediate2, 8 * static_cast<int>(TensormapField::GlobalDim) + 3);
  EXPECT_EQ(dimension.instruction.numSrc, 2);
  EXPECT_EQ(mode.instruction.immediate2, 8 * static_cast<int>(TensormapField::Swizzle));
  EXPECT_EQ(mode.constant(1), 2U);
  EXPECT_THAT(
      bodyError("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 5, %r2;", kCopyTarget)
          .message,
      HasSubstr("immediate 5 is not a dimension from 0 to 4"));
}

TEST(TensorMapTest, CopiesWithAFence) {
  const Decoded copy("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"
                     ".sync.aligned [%rd1+64], [%r1+128], 128;");
  const Decoded fence("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;");

  EXPECT_EQ(copy.instruction.op, Op::TensormapCopy);
  EXPECT_EQ(copy.instruction.immediate, 64);
  EXPECT_EQ(copy.instruction.immediate2, 128);
  EXPECT_EQ(copy.instruction.mods.semantics, Semantics::Release);
  EXPECT_EQ(fence.instruction.immediate2, 128);
  EXPECT_EQ(fence.instruction.numSrc, 1);
  EXPECT_EQ(Decoded("prefetch.tensormap [%rd1];").instruction.op, Op::Prefetch);
}

TEST(WarpGroupMatrixTest, TakesDescriptorsAndRegisters) {
  const Decoded descriptors(
      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, "
      "1, -1;");
  const Decoded registers(
      "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, "
      "%rd2, 1, -1, 1, 1;");
  const Instruction &first = descriptors.instruction;
  const Instruction &second = registers.instruction;

  EXPECT_EQ(first.op, Op::Wgmma);
  EXPECT_EQ(first.type, Type::F32);
  EXPECT_EQ(first.mods.m, 64);
  EXPECT_EQ(first.mods.n, 8);
  EXPECT_EQ(first.mods.k, 32);
  EXPECT_EQ(first.mods.formatA, static_cast<std::uint8_t>(Type::E4M3x2));
  EXPECT_EQ(first.mods.formatB, static_cast<std::uint8_t>(Type::E5M2x2));
  EXPECT_TRUE(first.mods.descriptorA);
  EXPECT_FALSE(first.mods.negateA);
  EXPECT_TRUE(first.mods.negateB);
  EXPECT_EQ(first.numDst, 4);
  EXPECT_EQ(first.numSrc, 3);
  EXPECT_EQ(descriptors.operand(6), 1U); // %p1
  EXPECT_FALSE(second.mods.descriptorA);
  EXPECT_TRUE(second.mods.negateA);
  EXPECT_FALSE(second.mods.transposeA);
  EXPECT_TRUE(second.mods.transposeB);
  EXPECT_EQ(second.numDst, 4);
  EXPECT_EQ(second.numSrc, 6);
}

/// `{%x0, %x1, ...}` with a declaration of the registers in front.
std::string accumulators(unsigned count, const std::string &type) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    text += (i == 0 ? "%x" : ", %x") + std::to_string(i);
  }
  return ".reg ." + type + " %x<" + std::to_string(count) + ">; @@" + text + "}";
}

TEST(WarpGroupMatrixTest, TakesEveryWidth) {
  for (unsigned n = 8; n <= 256; n += 8) {
    const auto statement = [&](const std::string &formats, unsigned count, const char *type,
                               const char *immediates) {
      std::string text = accumulators(count, type);
      text.replace(text.find("@@"), 2,
                   "wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + formats + " ");
      return text + ", %rd1, %rd2, 0, 1, 1" + immediates + ";";
    };
    EXPECT_EQ(Decoded(statement("k32.f32.e4m3.e4m3", n / 2, "f32", "")).instruction.numDst, n / 2);
    EXPECT_EQ(Decoded(statement("k32.f16.e5m2.e4m3", n / 4, "b32", "")).instruction.numDst, n / 4);
    EXPECT_EQ(Decoded(statement("k16.f32.bf16.bf16", n / 2, "f32", ", 0, 1")).instruction.mods.n,
              n);
    EXPECT_EQ(Decoded(statement("k8.f32.tf32.tf32", n / 2, "f32", "")).instruction.mods.k, 8);
  }
}

TEST(WarpGroupMatrixTest, RefusesWrongShapesAndCounts) {
  const std::string start = "wgmma.mma_async.sync.aligned.";
  EXPECT_THAT(
      bodyError(start + "m64n12k32.f32.e4m3.e4m3 {%f1}, %rd1, %rd2, 1, 1, 1;", kCopyTarget).message,
      HasSubstr("no form of wgmma has this combination"));
  EXPECT_THAT(
      bodyError(start + "m64n8k16.f32.e4m3.e4m3 {%f1}, %rd1, %rd2, 1, 1, 1;", kCopyTarget).message,
      HasSubstr("no form of wgmma has this combination"));
  EXPECT_THAT(
      bodyError(start + "m64n8k32.f32.e4m3.e4m3 {%f1,%f2}, %rd1, %rd2, 1, 1, 1;", kCopyTarget)
          .message,
      HasSubstr("expected a vector of 4 elements"));
  EXPECT_THAT(bodyError(start + "m64n8k32.f32.e4m3.e4m3 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 2, 1;",
                        kCopyTarget)
                  .message,
              HasSubstr("immediate 2 is not 1 or -1"));
}

TEST(WarpGroupMatrixTest, RegistersShareTheirSlotsWithNoOther) {
  // %f5 lives only before and after, so it could take the place of an accumulator.
  const std::string body =
      "mov.f32 %f5, 0f00000000; st.global.f32 [%rd3], %f5; wgmma.mma_async.sync.aligned.m64n8k32"
      ".f32.e4m3.e4m3 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 0, 1, 1; mov.f32 %f6, 0f3F800000; "
      "st.global.f32 [%rd3], %f6;";
  Module module;
  PtxError error;
  ASSERT_TRUE(loadModule(testing::moduleWith(body, kCopyTarget), "90a", module, error))
      << error.message;
  const Kernel &kernel = module.kernels.at(0);

  for (const std::size_t other : {0U, 3U}) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_NE(operandOf(kernel, kernel.code[other], 0), operandOf(kernel, kernel.code[2], i));
    }
  }
}

TEST(MatrixMoveTest, TakesQualifiersInAnyOrder) {
  const Decoded store("stmatrix.sync.aligned.x2.m8n8.trans.shared.b16 [%r1+32], {%r2, %r3};");
  const Decoded move("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;");

  EXPECT_EQ(store.instruction.op, Op::StMatrix);
  EXPECT_TRUE(store.instruction.mods.transpose);
  EXPECT_EQ(store.instruction.vector, 2);
  EXPECT_EQ(store.instruction.immediate, 32);
  EXPECT_EQ(store.instruction.numSrc, 3);
  EXPECT_EQ(move.instruction.op, Op::MovMatrix);
  EXPECT_EQ(move.instruction.numSrc, 1);
}

} // namespace
} // namespace fp8jit::emulator
