// Instructions of sm_90 and sm_90a: what they decode to, and the order of their operands, written
// from the PTX ISA and operation.h.
#include "emulator/ptx/forms.h"
#include "tests/emulator/ptx/ptx_support.h"

#include <gmock/gmock.h>

namespace fp8jit::emulator {
namespace {

using testing::bodyError;
using testing::constantIn;
using testing::decodeKernel;
using ::testing::HasSubstr;
using testing::operandOf;
using testing::sharedOffsetIn;

constexpr const char *kHopperTarget = "sm_90a";

struct HopperFormCase {
  const char *text;
  Op op;
  Type type;
  Space space;
  int numDst;
  int numSrc;
};

void expectDecodes(std::span<const HopperFormCase> cases) {
  for (const HopperFormCase &test : cases) {
    SCOPED_TRACE(test.text);
    const Kernel kernel = decodeKernel(test.text, kHopperTarget);
    ASSERT_EQ(kernel.code.size(), 2U); // and the final ret
    const Instruction &instruction = kernel.code[0];

    EXPECT_EQ(instruction.op, test.op);
    EXPECT_EQ(instruction.type, test.type);
    EXPECT_EQ(instruction.space, test.space);
    EXPECT_EQ(int{instruction.numDst}, test.numDst);
    EXPECT_EQ(int{instruction.numSrc}, test.numSrc);
    EXPECT_EQ(kernel.operands.size(), static_cast<std::size_t>(test.numDst + test.numSrc));
  }
}

TEST(HopperFormTest, DecodesBarriersInSharedMemory) {
  constexpr Space kShared = Space::Shared;
  constexpr Space kRemote = Space::SharedCluster;
  const HopperFormCase kCases[] = {
      {"mbarrier.init.shared::cta.b64 [%r1], 4;", Op::MbarrierInit, Type::B64, kShared, 0, 2},
      {"mbarrier.init.b64 [%rd1], %r2;", Op::MbarrierInit, Type::B64, Space::Generic, 0, 2},
      {"mbarrier.inval.shared.b64 [%r1];", Op::MbarrierInval, Type::B64, kShared, 0, 1},
      {"mbarrier.arrive.shared::cta.b64 %rd1, [%r1];", Op::MbarrierArrive, Type::B64, kShared, 1,
       3},
      {"mbarrier.arrive.shared::cta.b64 _, [%r1], 2;", Op::MbarrierArrive, Type::B64, kShared, 1,
       3},
      {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", Op::MbarrierArrive,
       Type::B64, kRemote, 1, 3},
      {"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r2;", Op::MbarrierArrive, Type::B64,
       kShared, 1, 3},
      {"mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r1], %r2;",
       Op::MbarrierArrive, Type::B64, kRemote, 1, 3},
      {"mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %rd1, [%r1], 3;", Op::MbarrierArrive,
       Type::B64, kShared, 1, 3},
      {"mbarrier.arrive_drop.shared.b64 %rd1, [%r1];", Op::MbarrierArrive, Type::B64, kShared, 1,
       3},
      {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 512;", Op::MbarrierExpectTx,
       Type::B64, kShared, 0, 2},
      {"mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], %r2;",
       Op::MbarrierCompleteTx, Type::B64, kRemote, 0, 2},
      {"mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %rd2;", Op::MbarrierWait, Type::B64, kShared,
       1, 2},
      {"mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;", Op::MbarrierWait, Type::B64,
       kShared, 1, 2},
      {"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r1], %r2, 0x989680;",
       Op::MbarrierWait, Type::B64, kShared, 1, 2},
      {"mbarrier.pending_count.b64 %r1, %rd1;", Op::MbarrierPendingCount, Type::B64, Space::Generic,
       1, 1},
      {"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1];", Op::CpAsyncMbarrierArrive,
       Type::B64, kShared, 0, 1},
  };
  expectDecodes(kCases);
}

TEST(HopperFormTest, DecodesClustersAndLaunchControl) {
  constexpr Space kGeneric = Space::Generic;
  const HopperFormCase kCases[] = {
      {"mapa.shared::cluster.u32 %r1, %r2, 1;", Op::Mapa, Type::U32, Space::SharedCluster, 1, 2},
      {"mapa.shared::cluster.u32 %r1, tile, %r2;", Op::Mapa, Type::U32, Space::SharedCluster, 1, 2},
      {"mapa.u64 %rd1, %rd2, %r1;", Op::Mapa, Type::U64, kGeneric, 1, 2},
      {"getctarank.shared::cluster.u32 %r1, %r2;", Op::GetCtaRank, Type::U32, Space::SharedCluster,
       1, 1},
      {"getctarank.u64 %r1, %rd2;", Op::GetCtaRank, Type::U64, kGeneric, 1, 1},
      {"barrier.cluster.arrive;", Op::ClusterArrive, Type::None, kGeneric, 0, 0},
      {"barrier.cluster.arrive.relaxed.aligned;", Op::ClusterArrive, Type::None, kGeneric, 0, 0},
      {"barrier.cluster.wait.acquire.aligned;", Op::ClusterWait, Type::None, kGeneric, 0, 0},
      {"elect.sync _|%p1, 0xffffffff;", Op::Elect, Type::None, kGeneric, 2, 1},
      {"elect.sync %r1|%p1, %r2;", Op::Elect, Type::None, kGeneric, 2, 1},
      {"setmaxnreg.inc.sync.aligned.u32 232;", Op::SetMaxNReg, Type::U32, kGeneric, 0, 0},
      {"setmaxnreg.dec.sync.aligned.u32 40;", Op::SetMaxNReg, Type::U32, kGeneric, 0, 0},
      {"griddepcontrol.wait;", Op::GridDependencyWait, Type::None, kGeneric, 0, 0},
      {"griddepcontrol.launch_dependents;", Op::GridDependencyLaunch, Type::None, kGeneric, 0, 0},
      {"ld.shared::cluster.v2.u32 {%r1, %r2}, [%r3];", Op::Ld, Type::U32, Space::SharedCluster, 2,
       1},
      {"ld.acquire.cluster.shared::cluster.u32 %r1, [%r3];", Op::Ld, Type::U32,
       Space::SharedCluster, 1, 1},
      {"st.release.cluster.shared::cluster.u32 [%r3], 1;", Op::St, Type::U32, Space::SharedCluster,
       0, 2},
      {"atom.relaxed.cluster.shared::cluster.add.u32 %r1, [%r3], 1;", Op::Atom, Type::U32,
       Space::SharedCluster, 1, 2},
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r1], {%r2, %r3}, "
       "[%r4];",
       Op::StAsync, Type::U32, Space::SharedCluster, 0, 4},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r1], "
       "%rd2, [%r4];",
       Op::RedAsync, Type::U64, Space::SharedCluster, 0, 3},
      {"createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;", Op::CreatePolicy, Type::B64,
       kGeneric, 1, 0},
      {"createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd1, [%rd2], 64, 128;",
       Op::CreatePolicy, Type::B64, Space::Global, 1, 0},
      {"ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;", Op::Ld, Type::U32, Space::Global, 1, 1},
  };
  expectDecodes(kCases);
}

TEST(HopperFormTest, DecodesFences) {
  struct FenceCase {
    const char *text;
    Op op;
    std::int64_t kind;
    Semantics semantics;
    Scope scope;
  };
  const auto kind = [](ProxyFence fence) { return static_cast<std::int64_t>(fence); };
  const FenceCase kCases[] = {
      {"membar.gl;", Op::Membar, 0, Semantics::Sc, Scope::Gpu},
      {"fence.sc.sys;", Op::Membar, 0, Semantics::Sc, Scope::Sys},
      {"fence.cta;", Op::Membar, 0, Semantics::AcqRel, Scope::Cta},
      {"fence.acquire.cluster;", Op::Membar, 0, Semantics::Acquire, Scope::Cluster},
      {"fence.mbarrier_init.release.cluster;", Op::FenceProxy, kind(ProxyFence::MbarrierInit),
       Semantics::Release, Scope::Cluster},
      {"fence.proxy.alias;", Op::FenceProxy, kind(ProxyFence::Alias), Semantics::AcqRel,
       Scope::None},
      {"fence.proxy.async;", Op::FenceProxy, kind(ProxyFence::Async), Semantics::AcqRel,
       Scope::None},
      {"fence.proxy.async.global;", Op::FenceProxy, kind(ProxyFence::AsyncGlobal),
       Semantics::AcqRel, Scope::None},
      {"fence.proxy.async.shared::cta;", Op::FenceProxy, kind(ProxyFence::AsyncShared),
       Semantics::AcqRel, Scope::None},
      {"fence.proxy.tensormap::generic.release.gpu;", Op::FenceProxy,
       kind(ProxyFence::TensormapRelease), Semantics::Release, Scope::Gpu},
      {"fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;", Op::FenceProxy,
       kind(ProxyFence::TensormapAcquire), Semantics::Acquire, Scope::Gpu},
  };
  for (const FenceCase &test : kCases) {
    const Instruction fence = decodeKernel(test.text, kHopperTarget).code.at(0);
    EXPECT_EQ(fence.op, test.op) << test.text;
    EXPECT_EQ(fence.immediate, test.kind) << test.text;
    EXPECT_EQ(fence.mods.semantics, test.semantics) << test.text;
    EXPECT_EQ(fence.mods.scope, test.scope) << test.text;
  }
}

TEST(HopperFormTest, ReadsTheModifiersOfBarriers) {
  const auto decode = [](const char *text) {
    return decodeKernel(text, kHopperTarget).code.at(0).mods;
  };

  const Modifiers wait =
      decode("mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p1, [%r1], %r2;");
  EXPECT_TRUE(wait.parity);
  EXPECT_TRUE(wait.tryWait);
  EXPECT_EQ(wait.semantics, Semantics::Relaxed);
  EXPECT_EQ(wait.scope, Scope::Cluster);
  EXPECT_FALSE(decode("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd2;").tryWait);
  EXPECT_TRUE(decode("mbarrier.arrive_drop.shared.b64 %rd1, [%r1];").drop);
  EXPECT_TRUE(decode("mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1], 1;").noComplete);
  EXPECT_TRUE(decode("cp.async.mbarrier.arrive.noinc.b64 [%rd1];").noInc);
  EXPECT_TRUE(decode("setmaxnreg.inc.sync.aligned.u32 64;").increase);
  EXPECT_FALSE(decode("setmaxnreg.dec.sync.aligned.u32 64;").increase);
  EXPECT_TRUE(decode("cp.async.bulk.wait_group.read 1;").readOnly);
  EXPECT_EQ(decode("ld.volatile.global.u32 %r1, [%rd1];").semantics, Semantics::Volatile);
  EXPECT_EQ(decode("ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];").semantics, Semantics::Volatile);
  EXPECT_EQ(decode("st.release.sys.global.u32 [%rd1], %r1;").semantics, Semantics::Release);
}

TEST(HopperFormTest, ArrivalsKeepCountAndBytesApart) {
  const Kernel plain = decodeKernel("mbarrier.arrive.shared.b64 _, [%r1+8];", kHopperTarget);
  const Kernel count = decodeKernel("mbarrier.arrive.shared.b64 _, [tile+16], 3;", kHopperTarget);
  const Kernel bytes =
      decodeKernel("mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], 4096;", kHopperTarget);

  EXPECT_EQ(operandOf(plain, plain.code[0], 0), kNoSlot);
  EXPECT_EQ(plain.code[0].immediate, 8);
  EXPECT_EQ(operandOf(plain, plain.code[0], 2), kNoSlot);
  EXPECT_EQ(operandOf(plain, plain.code[0], 3), kNoSlot);
  EXPECT_EQ(count.code[0].immediate, 16);
  EXPECT_EQ(constantIn(count, operandOf(count, count.code[0], 2)), 3U);
  EXPECT_EQ(operandOf(count, count.code[0], 3), kNoSlot);
  EXPECT_NE(operandOf(bytes, bytes.code[0], 0), kNoSlot);
  EXPECT_EQ(operandOf(bytes, bytes.code[0], 2), kNoSlot);
  EXPECT_EQ(constantIn(bytes, operandOf(bytes, bytes.code[0], 3)), 4096U);
}

TEST(HopperFormTest, RefusesWhatATargetLacks) {
  EXPECT_THAT(bodyError("wgmma.fence.sync.aligned;", "sm_90").message,
              HasSubstr("needs target sm_90a, found sm_90"));
  EXPECT_THAT(bodyError("wgmma.fence.sync.aligned;", "sm_100a").message,
              HasSubstr("needs target sm_90a, found sm_100a"));
  EXPECT_THAT(bodyError("setmaxnreg.dec.sync.aligned.u32 40;", "sm_90").message,
              HasSubstr("architecture-specific features, found sm_90"));
  EXPECT_EQ(decodeKernel("setmaxnreg.dec.sync.aligned.u32 40;", "sm_100a").code.at(0).op,
            Op::SetMaxNReg);
}

TEST(HopperFormTest, RefusesNumbersOutOfRange) {
  EXPECT_THAT(bodyError("setmaxnreg.dec.sync.aligned.u32 44;", kHopperTarget).message,
              HasSubstr("immediate 44 is not a multiple of 8 from 24 to 256"));
  EXPECT_THAT(
      bodyError("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;", kHopperTarget).message,
      HasSubstr("immediate 64 is not 128"));
  EXPECT_THAT(bodyError("mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];", kHopperTarget).message,
              HasSubstr("expected \"_\""));
}

TEST(HopperFormTest, ReadsClusterRegistersAndDirectives) {
  Module module;
  PtxError error;
  const std::string text =
      ".version 8.0\n.target sm_90a\n.visible .entry k() .explicitcluster "
      ".reqnctapercluster 4, 2, 1 .maxntid 384, 1, 1\n{ .reg .b32 %r<4>; .reg .pred %p<2>;\n"
      "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %clusterid.y; mov.pred %p1, "
      "%is_explicit_cluster; mov.u32 %r3, %envreg2; }";
  ASSERT_TRUE(loadModule(text, "90a", {.shareSlots = false}, module, error)) << error.message;
  const Kernel &kernel = module.kernels.at(0);

  EXPECT_TRUE(kernel.explicitCluster);
  EXPECT_EQ(kernel.requiredCluster[0], 4U);
  EXPECT_EQ(kernel.requiredCluster[1], 2U);
  EXPECT_EQ(kernel.requiredCluster[2], 1U);
  EXPECT_EQ(kernel.maxThreads, 384U);
  ASSERT_EQ(kernel.specials.size(), 3U);
  EXPECT_EQ(kernel.specials[0].special, Special::ClusterCtarank);
  EXPECT_EQ(kernel.specials[1].special, Special::ClusteridY);
  EXPECT_EQ(kernel.specials[2].special, Special::IsExplicitCluster);
  EXPECT_EQ(kernel.code[2].op, Op::Setp);
  EXPECT_EQ(kernel.code[2].mods.compare, Compare::Ne);
  EXPECT_EQ(constantIn(kernel, operandOf(kernel, kernel.code[3], 1)), 0U);
}

} // namespace
} // namespace fp8jit::emulator
