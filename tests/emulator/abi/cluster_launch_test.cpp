// Launches of clusters, cooperative launches and launch attributes on the emulated H200.
#include "tests/emulator/abi/driver_under_test.h"

#include <string>
#include <vector>

namespace fp8jit::testing {
namespace {

/// ranks(out): out[block] = %cluster_ctarank * 256 + %cluster_nctarank. fixed: .reqnctapercluster
/// 2; must: .explicitcluster; few: .maxclusterrank 2; exact: .reqntid 64.
constexpr const char *kPtx = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry ranks(.param .u64 p_out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p_out];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mad.lo.u32 %r1, %r1, 256, %r2;
  mov.u32 %r3, %ctaid.x;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry fixed() .reqnctapercluster 2
{
  ret;
}
.visible .entry must() .explicitcluster
{
  ret;
}
.visible .entry few() .maxclusterrank 2
{
  ret;
}
.visible .entry exact() .reqntid 64
{
  ret;
}
)";

struct ClusterCase {
  const char *what;
  const char *kernel;
  unsigned grid;
  unsigned cluster; ///< 0: not said
  CUresult expected;
};

class ClusterLaunchTest : public HopperTest {
protected:
  void SetUp() override {
    HopperTest::SetUp();
    ASSERT_EQ(cu.moduleLoadData(&module_, kPtx), CUDA_SUCCESS);
  }

  CUfunction function(const char *name) const {
    CUfunction found = nullptr;
    EXPECT_EQ(cu.moduleGetFunction(&found, module_, name), CUDA_SUCCESS) << name;
    return found;
  }

  /// A configuration of `grid` blocks of 32 threads in clusters of `cluster` blocks.
  CUlaunchConfig config(unsigned grid, unsigned cluster) {
    attribute_ = {};
    attribute_.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute_.value.clusterDim.x = cluster;
    attribute_.value.clusterDim.y = attribute_.value.clusterDim.z = 1;
    CUlaunchConfig result{};
    result.gridDimX = grid;
    result.gridDimY = result.gridDimZ = result.blockDimY = result.blockDimZ = 1;
    result.blockDimX = 32;
    result.attrs = &attribute_;
    result.numAttrs = cluster == 0 ? 0 : 1;
    return result;
  }

  CUresult launch(const char *kernel, unsigned grid, unsigned cluster,
                  void **parameters = nullptr) {
    const CUlaunchConfig shape = config(grid, cluster);
    return cu.launchKernelEx(&shape, function(kernel), parameters, nullptr);
  }

  CUmodule module_ = nullptr;
  CUlaunchAttribute attribute_{};
};

} // namespace

TEST_F(ClusterLaunchTest, EveryBlockKnowsItsRank) {
  CUdeviceptr out = 0;
  ASSERT_EQ(cu.memAlloc(&out, 8 * 4), CUDA_SUCCESS);
  void *parameters[] = {&out};

  EXPECT_EQ(launch("ranks", 8, 4, parameters), CUDA_SUCCESS);

  std::vector<unsigned> ranks(8);
  ASSERT_EQ(cu.memcpyDtoH(ranks.data(), out, 32), CUDA_SUCCESS) << table.lastReport();
  for (unsigned block = 0; block < 8; ++block) {
    EXPECT_EQ(ranks[block], block % 4 * 256 + 4) << block;
  }
}

TEST_F(ClusterLaunchTest, SizesThatCannotRunAreRefused) {
  const ClusterCase cases[] = {
      {"no divisor of the grid", "few", 5, 2, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {"above .maxclusterrank", "few", 4, 4, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {"at .maxclusterrank", "few", 4, 2, CUDA_SUCCESS},
      {"as .reqnctapercluster", "fixed", 4, 2, CUDA_SUCCESS},
      {"the directive alone", "fixed", 4, 0, CUDA_SUCCESS},
      {"the directive and the grid", "fixed", 3, 0, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {"other than .reqnctapercluster", "fixed", 4, 4, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {".explicitcluster without a size", "must", 4, 0, CUDA_ERROR_INVALID_CLUSTER_SIZE},
      {".explicitcluster with one", "must", 4, 2, CUDA_SUCCESS},
      {"portable", "must", 8, 8, CUDA_SUCCESS},
      {"not portable", "must", 16, 16, CUDA_ERROR_INVALID_CLUSTER_SIZE},
  };
  for (const ClusterCase &test : cases) {
    EXPECT_EQ(launch(test.kernel, test.grid, test.cluster), test.expected) << test.what;
  }
  CUlaunchConfig none = config(4, 2);
  attribute_.value.clusterDim.y = 0;
  EXPECT_EQ(cu.launchKernelEx(&none, function("must"), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
}

TEST_F(ClusterLaunchTest, AttributesAllowLargerClustersAndSetRequiredOnes) {
  const CUfunction must = function("must");
  EXPECT_EQ(cu.funcSetAttribute(must, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(launch("must", 16, 16), CUDA_SUCCESS);
  EXPECT_EQ(launch("must", 32, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);

  for (const CUfunction_attribute dimension :
       {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH}) {
    const int size = dimension == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? 4 : 1;
    EXPECT_EQ(cu.funcSetAttribute(must, dimension, size), CUDA_SUCCESS);
  }
  EXPECT_EQ(launch("must", 4, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch("must", 4, 2), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(cu.funcSetAttribute(function("fixed"), CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2),
            CUDA_ERROR_NOT_PERMITTED);
  int value = -1;
  EXPECT_EQ(
      cu.funcGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function("fixed")),
      CUDA_SUCCESS);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(cu.funcGetAttribute(&value, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, must),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1);
}

TEST_F(ClusterLaunchTest, TheBlockMustBeWhatReqntidSays) {
  CUlaunchConfig shape = config(1, 0);
  EXPECT_EQ(cu.launchKernelEx(&shape, function("exact"), nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  shape.blockDimX = 64;
  EXPECT_EQ(cu.launchKernelEx(&shape, function("exact"), nullptr, nullptr), CUDA_SUCCESS);
}

TEST_F(ClusterLaunchTest, OccupancyCountsClusters) {
  int clusters = 0;
  int size = 0;
  CUlaunchConfig shape = config(16, 8);
  const CUfunction must = function("must");
  EXPECT_EQ(cu.maxActiveClusters(&clusters, must, &shape), CUDA_SUCCESS);
  EXPECT_GT(clusters, 0);
  EXPECT_EQ(cu.maxPotentialClusterSize(&size, must, &shape), CUDA_SUCCESS);
  EXPECT_EQ(size, 8);
  EXPECT_EQ(cu.funcSetAttribute(must, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(cu.maxPotentialClusterSize(&size, must, &shape), CUDA_SUCCESS);
  EXPECT_EQ(size, 16);
  // One block of 227 KiB per SM, so that 16 SMs hold two clusters of 8 of them.
  shape.sharedMemBytes = 227 * 1024;
  EXPECT_EQ(cu.funcSetAttribute(must, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024),
            CUDA_SUCCESS);
  EXPECT_EQ(cu.maxActiveClusters(&clusters, must, &shape), CUDA_SUCCESS);
  EXPECT_EQ(clusters, 16);
}

TEST_F(ClusterLaunchTest, CooperativeLaunchesHaveToFit) {
  const auto launchBlocks = [&](unsigned blocks) {
    return cu.launchCooperativeKernel(function("few"), blocks, 1, 1, 1024, 1, 1, 0, nullptr,
                                      nullptr);
  };
  EXPECT_EQ(launchBlocks(2), CUDA_SUCCESS);
  EXPECT_EQ(launchBlocks(132 * 2 + 1), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(ClusterLaunchTest, EventsOfLaunchesMustHaveNoTiming) {
  CUevent timed = nullptr;
  CUevent untimed = nullptr;
  ASSERT_EQ(cu.eventCreate(&timed, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu.eventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  CUlaunchConfig shape = config(1, 1);
  attribute_.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
  attribute_.value.programmaticEvent.flags = 0;
  attribute_.value.programmaticEvent.triggerAtBlockStart = 0;
  attribute_.value.programmaticEvent.event = timed;
  EXPECT_EQ(cu.launchKernelEx(&shape, function("few"), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  attribute_.value.programmaticEvent.event = untimed;
  EXPECT_EQ(cu.launchKernelEx(&shape, function("few"), nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu.eventSynchronize(untimed), CUDA_SUCCESS);
}

TEST_F(ClusterLaunchTest, UnknownAttributesAreRefusedAndHintsAreTaken) {
  CUlaunchConfig shape = config(1, 1);
  attribute_.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  EXPECT_EQ(cu.launchKernelEx(&shape, function("few"), nullptr, nullptr), CUDA_SUCCESS);
  attribute_.id = static_cast<CUlaunchAttributeID>(1000);
  EXPECT_EQ(cu.launchKernelEx(&shape, function("few"), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

} // namespace fp8jit::testing
