// Programmatic dependent launch: a kernel that may start early must wait before it touches what the
// kernel ahead of it wrote.
#include "tests/emulator/abi/driver_under_test.h"

#include <string>

namespace fp8jit::testing {
namespace {

/// produce(p): launches its dependents and writes 7 to p. consume(p, out): waits, then copies p to
/// out; eager: the same without the wait; early(out): writes 3 to out, no wait; over(p): writes to
/// p before it waits; silent(p): as produce, but launches nobody.
constexpr const char *kPtx = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry produce(.param .u64 p)
{
  .reg .b64 %p;
  ld.param.u64 %p, [p];
  griddepcontrol.launch_dependents;
  st.global.u32 [%p], 7;
  ret;
}
.visible .entry silent(.param .u64 p)
{
  .reg .b64 %p;
  ld.param.u64 %p, [p];
  st.global.u32 [%p], 7;
  ret;
}
.visible .entry consume(.param .u64 p, .param .u64 out)
{
  .reg .b32 %x;
  .reg .b64 %p, %o;
  ld.param.u64 %p, [p];
  ld.param.u64 %o, [out];
  griddepcontrol.wait;
  ld.global.u32 %x, [%p];
  st.global.u32 [%o], %x;
  ret;
}
.visible .entry eager(.param .u64 p, .param .u64 out)
{
  .reg .b32 %x;
  .reg .b64 %p, %o;
  ld.param.u64 %p, [p];
  ld.param.u64 %o, [out];
  ld.global.u32 %x, [%p];
  st.global.u32 [%o], %x;
  griddepcontrol.wait;
  ret;
}
.visible .entry early(.param .u64 out)
{
  .reg .b64 %o;
  ld.param.u64 %o, [out];
  st.global.u32 [%o], 3;
  ret;
}
.visible .entry over(.param .u64 p)
{
  .reg .b64 %p;
  ld.param.u64 %p, [p];
  st.global.u32 [%p], 5;
  griddepcontrol.wait;
  ret;
}
)";

class PdlTest : public HopperTest {
protected:
  void SetUp() override {
    HopperTest::SetUp();
    ASSERT_EQ(cu.moduleLoadData(&module_, kPtx), CUDA_SUCCESS);
    ASSERT_EQ(cu.memAlloc(&p_, 4), CUDA_SUCCESS);
    ASSERT_EQ(cu.memAlloc(&out_, 4), CUDA_SUCCESS);
  }

  void TearDown() override {
    EXPECT_EQ(cu.primaryCtxReset(ordinal_), CUDA_SUCCESS);
    HopperTest::TearDown();
  }

  /// Launches `name`, which takes p, out, or both, early if it may.
  void launch(const char *name, std::initializer_list<CUdeviceptr *> pointers, bool mayStartEarly) {
    CUfunction function = nullptr;
    ASSERT_EQ(cu.moduleGetFunction(&function, module_, name), CUDA_SUCCESS);
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = mayStartEarly ? 1 : 0;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void *parameters[2] = {};
    std::size_t count = 0;
    for (CUdeviceptr *pointer : pointers) {
      parameters[count++] = pointer;
    }
    ASSERT_EQ(cu.launchKernelEx(&config, function, parameters, nullptr), CUDA_SUCCESS) << name;
  }

  void expectReport(const char *text) {
    EXPECT_NE(cu.ctxSynchronize(), CUDA_SUCCESS);
    EXPECT_NE(std::string(table.lastReport()).find(text), std::string::npos) << table.lastReport();
  }

  CUmodule module_ = nullptr;
  CUdeviceptr p_ = 0, out_ = 0;
};

} // namespace

TEST_F(PdlTest, AKernelThatWaitsPasses) {
  unsigned copied = 0;
  launch("produce", {&p_}, false);
  launch("consume", {&p_, &out_}, true);
  ASSERT_EQ(cu.memcpyDtoH(&copied, out_, 4), CUDA_SUCCESS) << table.lastReport();
  EXPECT_EQ(copied, 7U);
}

TEST_F(PdlTest, AReadBeforeTheWaitIsReported) {
  launch("produce", {&p_}, false);
  launch("eager", {&p_, &out_}, true);
  expectReport("which the launch ahead in the stream wrote, before griddepcontrol.wait");
}

TEST_F(PdlTest, AWriteBeforeTheWaitIsReported) {
  launch("produce", {&p_}, false);
  launch("over", {&p_}, true);
  expectReport("writes 4 bytes");
}

TEST_F(PdlTest, AKernelThatTouchesOtherMemoryNeedsNoWait) {
  launch("produce", {&p_}, false);
  launch("early", {&out_}, true);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
}

TEST_F(PdlTest, WithoutTheAttributeLaunchesDoNotOverlap) {
  launch("produce", {&p_}, false);
  launch("eager", {&p_, &out_}, false);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
}

TEST_F(PdlTest, AKernelThatLaunchesNobodyEndsFirst) {
  launch("silent", {&p_}, false);
  launch("eager", {&p_, &out_}, true);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
}

TEST_F(PdlTest, WorkInBetweenEndsTheOverlap) {
  unsigned copied = 0;
  launch("produce", {&p_}, false);
  ASSERT_EQ(cu.memcpyDtoH(&copied, p_, 4), CUDA_SUCCESS);
  launch("eager", {&p_, &out_}, true);
  EXPECT_EQ(cu.ctxSynchronize(), CUDA_SUCCESS) << table.lastReport();
}

} // namespace fp8jit::testing
