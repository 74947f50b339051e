// Eight samples at a time lie on the diagonal of a warp's tile.
#include "tests/emulator/tensor/sample.h"

#include "emulator/tensor/scalar_model.h"
#include "emulator/tensor/step_rules.h"
#include "tests/emulator/tensor/warp_harness.h"

#include <algorithm>
#include <functional>

namespace fp8jit::emulator::testing {

using RunTile = std::function<WarpResult(const WarpProblem &)>;

static int countTileMismatches(const RunTile &runTile, const std::vector<Sample> &samples) {
  int mismatches = 0;
  for (std::size_t first = 0; first < samples.size(); first += 8) {
    const std::size_t count = std::min<std::size_t>(8, samples.size() - first);
    const std::size_t firstRow = 8 * (first / 8 % 2); // both halves of the rows take turns
    WarpProblem problem;
    for (std::size_t i = 0; i < count; ++i) {
      const Sample &sample = samples[first + i];
      std::copy(sample.a.begin(), sample.a.end(), problem.a[firstRow + i].begin());
      std::copy(sample.b.begin(), sample.b.end(), problem.b[i].begin());
      problem.c[firstRow + i][i] = sample.c;
    }
    const WarpResult result = runTile(problem);
    for (std::size_t i = 0; i < count; ++i) {
      mismatches += result[firstRow + i][i] != samples[first + i].d ? 1 : 0;
    }
  }
  return mismatches;
}

static int countScalarMismatches(const MmaShape &shape, const StepRule &rule,
                                 const std::vector<Sample> &samples) {
  int mismatches = 0;
  for (const Sample &sample : samples) {
    mismatches += dotProduct(sample.c, sample.a, sample.b, shape.a, shape.b, rule) != sample.d;
  }
  return mismatches;
}

int countMismatches(const MmaShape &shape, std::string_view arch,
                    const std::vector<Sample> &samples) {
  const bool isWgmma = shape.m == 64;
  const StepRule *rule = isWgmma ? findWgmmaRule(shape, arch) : findMmaRule(shape, arch);
  int worst = countScalarMismatches(shape, *rule, samples);
  for (const bool portable : {false, true}) {
    const RunTile runMma = [&](const WarpProblem &problem) {
      return runWarp(portable ? selectPortableMma(shape, arch) : selectMma(shape, arch), shape,
                     problem);
    };
    const RunTile runWgmma = [&](const WarpProblem &problem) {
      return runWarpgroupWarp(portable ? selectPortableWgmma(shape, arch)
                                       : selectWgmma(shape, arch),
                              shape, {problem})[0];
    };
    worst = std::max(worst, countTileMismatches(isWgmma ? runWgmma : runMma, samples));
  }
  return worst;
}

} // namespace fp8jit::emulator::testing
