// Builds, runs and predicts small kernels of one warp group around wgmma. Main types: WgmmaCase,
// WgmmaKernel. Layouts are written here a second time, from the PTX ISA.
#pragma once

#include "emulator/exec/launch.h"
#include "emulator/tensor/mma.h"
#include "emulator/tensor/swizzle.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {

/// What the kernel multiplies: m64 rows, `shape.n` columns, `steps` wgmma along k.
struct WgmmaCase {
  const char *name = "";
  MmaShape shape{.m = 64};
  Swizzle swizzle = Swizzle::Bytes128;
  int steps = 1;
  bool transposeA = false, transposeB = false; ///< MN-major
  bool registersA = false;
  bool negateA = false, negateB = false;

  int bytesPerElement() const { return bytesOf(shape.a); }
  int depth() const { return shape.k * steps; }
};

void PrintTo(const WgmmaCase &c, std::ostream *out);

/// A kernel in pieces, so that tests can break one of them. The pieces are joined in this order.
struct WgmmaKernel {
  std::string declarations; ///< registers, and addresses and descriptors in %da, %db
  std::string fill;         ///< copies the image to shared memory; A registers
  std::string publish = "fence.proxy.async;\nbar.sync 0;\n";
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string multiply; ///< every step
  std::string commit = "wgmma.commit_group.sync.aligned;\n";
  std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  std::string store; ///< accumulators to global memory: register i of thread t at 128·i + t

  explicit WgmmaKernel(const WgmmaCase &c);
  std::string text() const;
};

/// Line of the first occurrence of `piece` in `text`, counted from 1.
std::uint32_t lineOf(const std::string &text, const std::string &piece);

/// Operands with a fixed seed, codes [row][k] and [column][k].
struct WgmmaOperandCodes {
  std::vector<std::vector<std::uint32_t>> a, b;

  explicit WgmmaOperandCodes(const WgmmaCase &c);
};

/// The accumulators that the kernel stores, by the scalar model.
std::vector<std::uint32_t> expectedAccumulators(const WgmmaCase &c, const WgmmaOperandCodes &codes);

/// What a run gave.
struct WgmmaRun {
  LaunchResult result;
  std::vector<std::uint32_t> accumulators;
};

/// Runs `text` on the emulated H200 with the operands in their layouts. `options` gives the mode;
/// shape and parameters are set here.
WgmmaRun runWgmma(const WgmmaCase &c, const WgmmaOperandCodes &codes, const std::string &text,
                  LaunchRequest options = {}, std::uint32_t threads = 128);

} // namespace fp8jit::emulator::testing
