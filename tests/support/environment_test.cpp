#include "support/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fp8jit {
namespace {

TEST(EnvironmentTest, ReadsTheVariableOfThatName) {
  ASSERT_EQ(setenv("FP8JIT_CACHE_DIR", "/some/folder", 1), 0);
  EXPECT_EQ(readEnvironment(EnvironmentVariable::CacheDirectory), "/some/folder");

  ASSERT_EQ(unsetenv("FP8JIT_CACHE_DIR"), 0);
  EXPECT_EQ(readEnvironment(EnvironmentVariable::CacheDirectory), "");
}

TEST(EnvironmentTest, NamesEveryVariable) {
  EXPECT_STREQ(environmentName(EnvironmentVariable::CacheDirectory), "FP8JIT_CACHE_DIR");
  EXPECT_STREQ(environmentName(EnvironmentVariable::Nvrtc), "FP8JIT_NVRTC");
  EXPECT_STREQ(environmentName(EnvironmentVariable::Emulator), "FP8JIT_EMULATOR");
  EXPECT_STREQ(environmentName(EnvironmentVariable::XdgCacheHome), "XDG_CACHE_HOME");
  EXPECT_STREQ(environmentName(EnvironmentVariable::Home), "HOME");
  EXPECT_STREQ(environmentName(EnvironmentVariable::CudaHome), "CUDA_HOME");
}

} // namespace
} // namespace fp8jit
