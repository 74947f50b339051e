// States of the tensor maps that a cluster uses.
#include "emulator/exec/tensormap_proxy.h"

namespace fp8jit::emulator {

void TensormapProxy::change(std::uint64_t address, std::uint32_t block, std::uint32_t line,
                            bool isReleased) {
  maps_[address] = {
      .changedInLine = line, .changedBy = block, .isReleased = isReleased, .acquiredBy = 0};
}

void TensormapProxy::release(std::uint32_t block) {
  for (auto &[address, map] : maps_) {
    map.isReleased |= map.changedBy == block;
  }
}

void TensormapProxy::acquire(std::uint64_t address, std::uint32_t block, const Bytes &bytes) {
  Map &map = maps_[address];
  if (map.isReleased) { // an acquire ahead of the release acquires nothing
    map.acquiredBy |= std::uint32_t{1} << block;
    map.seen = bytes;
    map.isSeen = true;
  }
}

std::string TensormapProxy::use(std::uint64_t address, std::uint32_t block, const Bytes &bytes) {
  Map &map = maps_[address];
  std::string problem;
  if (!map.isReleased) {
    problem = "without fence.proxy.tensormap::generic.release by the writing block";
  } else if ((map.acquiredBy >> block & 1U) == 0) {
    problem = "without fence.proxy.tensormap::generic.acquire of its address in this block";
  }
  if (!problem.empty()) {
    problem =
        "uses a tensor map that line " + std::to_string(map.changedInLine) + " changed, " + problem;
  } else if (map.isSeen && map.seen != bytes) {
    problem = "uses a tensor map whose bytes changed since the block's latest use or acquire, "
              "without fence.proxy.tensormap::generic.acquire";
  }
  // Reported once: from here on the use counts as one that sees the bytes.
  map.isReleased = true;
  map.acquiredBy |= std::uint32_t{1} << block;
  map.seen = bytes;
  map.isSeen = true;
  return problem;
}

} // namespace fp8jit::emulator
