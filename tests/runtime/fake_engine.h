// An engine on the fake driver and the fake compiler, and buffers for it.
#pragma once

#include "fp8jit/engine.h"
#include "runtime/engine_internals.h"
#include "tests/runtime/fake_compiler.h"
#include "tests/runtime/fake_driver.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fp8jit::testing {

struct FakeEngine {
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  std::shared_ptr<std::vector<std::string>> warnings = std::make_shared<std::vector<std::string>>();
  Engine engine;

  explicit FakeEngine(OnMiss onMiss = OnMiss::UseDefault,
                      std::shared_ptr<TunerHook> tuner = nullptr,
                      std::shared_ptr<Store> store = nullptr)
      : engine(
            Engine::Internals::makeEngine({.device = FakeDriver::openDevice(),
                                           .compiler = compiler,
                                           .store = std::move(store),
                                           .templates = TemplateLibrary::embedded(),
                                           .onMiss = onMiss,
                                           .tuner = std::move(tuner),
                                           .onWarning = [sink = warnings](std::string_view text) {
                                             sink->emplace_back(text);
                                           }})) {}
};

/// A device address; nothing is ever read there.
inline void *at(std::uintptr_t address) {
  return reinterpret_cast<void *>(address);
}

inline GemmProblem smallGemm() {
  GemmProblem problem;
  problem.m = 64;
  problem.n = 128;
  problem.k = 256;
  return problem;
}

inline GemmBuffers gemmBuffers() {
  return {.a = at(0x10000000),
          .b = at(0x20000000),
          .sa = at(0x30000000),
          .sb = at(0x40000000),
          .d = at(0x50000000)};
}

inline QuantProblem smallQuant() {
  QuantProblem problem;
  problem.m = 64;
  problem.n = 256;
  return problem;
}

inline QuantBuffers quantBuffers() {
  return {.x = at(0x10000000),
          .q = at(0x20000000),
          .s = at(0x30000000),
          .amax = reinterpret_cast<float *>(std::uintptr_t{0x40000000})};
}

} // namespace fp8jit::testing
