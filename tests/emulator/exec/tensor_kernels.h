// Kernels that move one box, and a device of sm_90a to run them on. Main types: TensorRunner,
// TensorKernel.
#pragma once

#include "emulator/exec/global_memory.h"
#include "emulator/exec/launch.h"
#include "emulator/tensor_map/tensor_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {

using MapBytes = std::array<std::byte, kTensorMapBytes>;

/// One H200's memory and what is launched on it.
class TensorRunner {
public:
  GlobalMemory memory{std::uint64_t{1} << 30};
  LaunchRequest request; ///< options for the next run; module, kernel and params are set by run

  std::uint64_t upload(const std::vector<std::uint8_t> &bytes) {
    const std::uint64_t address = memory.allocate(bytes.size());
    EXPECT_TRUE(memory.copyIn(address, bytes.data(), bytes.size()));
    return address;
  }

  std::vector<std::uint8_t> download(std::uint64_t address, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    EXPECT_TRUE(memory.copyOut(bytes.data(), address, count));
    return bytes;
  }

  /// Runs the kernel of `text`, whose parameters are a tensor map and three pointers or numbers.
  LaunchResult run(const std::string &text, const MapBytes &map,
                   const std::array<std::uint64_t, 3> &arguments) {
    Module module;
    PtxError error;
    if (!loadModule(text, "90a", module, error)) {
      ADD_FAILURE() << "line " << error.line << ": " << error.message << "\n" << text;
      return {};
    }
    request.module = &module;
    request.kernel = &module.kernels.at(0);
    request.block = {.x = 32};
    request.params.resize(kTensorMapBytes + sizeof arguments);
    std::memcpy(request.params.data(), map.data(), map.size());
    std::memcpy(request.params.data() + map.size(), arguments.data(), sizeof arguments);
    return runGrid(request, memory, *findProfileByArch("90a"));
  }
};

/// PTX around `body`: parameters map, p0, p1, p2 in %map, %p0.. ; thread 0 has %first; shared
/// memory `tile` (4 KiB + 128, from 1024 on) and the barrier `bar`, which thread 0 has initialised.
inline std::string tensorKernel(const std::string &body) {
  return R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 p0, .param .u64 p1, .param .u64 p2)
{
.reg .pred %first, %done;
.reg .b32 %tid, %tile, %bar, %i, %x, %c<5>;
.reg .b64 %map, %a<3>, %at;
.shared .align 1024 .b8 tile[4224];
.shared .align 8 .b64 bar;
mov.u32 %tid, %tid.x;
setp.eq.u32 %first, %tid, 0;
mov.u32 %tile, tile;
mov.u32 %bar, bar;
mov.b64 %at, map;
cvta.param.u64 %map, %at;
ld.param.u64 %a0, [p0];
ld.param.u64 %a1, [p1];
ld.param.u64 %a2, [p2];
@%first mbarrier.init.shared::cta.b64 [%bar], 1;
@%first fence.mbarrier_init.release.cluster;
@%first fence.proxy.async;
bar.sync 0;
)" + body +
         "\nret;\n}\n";
}

/// Loads the coordinates c0 .. from the memory at %a1 into %c0 ...
inline std::string loadCoordinates(unsigned rank) {
  std::string text;
  for (unsigned d = 0; d < rank; ++d) {
    text += "ld.global.u32 %c" + std::to_string(d) + ", [%a1+" + std::to_string(4 * d) + "];\n";
  }
  return text;
}

/// "{%c0, %c1}".
inline std::string coordinateList(unsigned rank) {
  std::string text;
  for (unsigned d = 0; d < rank; ++d) {
    text += (d == 0 ? "{%c" : ", %c") + std::to_string(d);
  }
  return text + "}";
}

/// Waits for phase 0 of the barrier.
inline const char *const kWaitForBar = R"(WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
@!%done bra WAIT;
)";

/// Copies `bytes` bytes from the tile to %a0.
inline std::string copyTileOut(std::size_t bytes) {
  return R"(shl.b32 %i, %tid, 2;
OUT:
setp.ge.u32 %done, %i, )" +
         std::to_string(bytes) + R"(;
@%done bra OUTDONE;
add.u32 %x, %tile, %i;
ld.shared.u32 %x, [%x];
cvt.u64.u32 %at, %i;
add.u64 %at, %at, %a0;
st.global.u32 [%at], %x;
add.u32 %i, %i, 128;
bra OUT;
OUTDONE:
)";
}

/// Copies `bytes` bytes from %a0 to the tile, and makes them visible to the async proxy.
inline std::string copyTileIn(std::size_t bytes) {
  return R"(shl.b32 %i, %tid, 2;
IN:
setp.ge.u32 %done, %i, )" +
         std::to_string(bytes) + R"(;
@%done bra INDONE;
cvt.u64.u32 %at, %i;
add.u64 %at, %at, %a0;
ld.global.u32 %c0, [%at];
add.u32 %x, %tile, %i;
st.shared.u32 [%x], %c0;
add.u32 %i, %i, 128;
bra IN;
INDONE:
fence.proxy.async.shared::cta;
bar.sync 0;
)";
}

/// A kernel that loads one box of `rank` dimensions and `bytes` bytes at the coordinates in %a1 and
/// copies it to %a0.
inline std::string loadKernel(unsigned rank, std::size_t bytes) {
  return tensorKernel(
      loadCoordinates(rank) + "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], " +
      std::to_string(bytes) + ";\n@%first cp.async.bulk.tensor." + std::to_string(rank) +
      "d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map, " +
      coordinateList(rank) + "], [%bar];\n" + kWaitForBar + copyTileOut(bytes));
}

/// A kernel that stores (or reduces by `operation`, "add.") a box of `bytes` bytes from %a0 at the
/// coordinates in %a1.
inline std::string storeKernel(unsigned rank, std::size_t bytes, const std::string &operation) {
  const std::string name = operation.empty() ? "cp.async" : "cp.reduce.async";
  return tensorKernel(copyTileIn(bytes) + loadCoordinates(rank) + "@%first " + name +
                      ".bulk.tensor." + std::to_string(rank) + "d.global.shared::cta." + operation +
                      "bulk_group [%map, " + coordinateList(rank) + "], [%tile];\n" +
                      "@%first cp.async.bulk.commit_group;\n"
                      "@%first cp.async.bulk.wait_group 0;\n");
}

} // namespace fp8jit::emulator::testing
