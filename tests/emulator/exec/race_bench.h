// Drives the race checks by hand, without a program: a cluster of two blocks of eight warps whose
// instruction at PTX line n is a nop. Main type: RaceBench.
#pragma once

#include "emulator/exec/block.h"
#include "emulator/exec/race_checker.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {

/// The cluster, its checker and short forms of the hooks. Functions with a `line` stand for an
/// instruction there.
class RaceBench {
public:
  static constexpr std::uint32_t kLines = 64, kWarps = 8, kBlocks = 2, kSharedBytes = 4096;

  RaceBench() {
    kernel_.name = "k";
    kernel_.code.resize(kLines);
    steps_.resize(kLines);
    for (std::uint32_t i = 0; i < kLines; ++i) {
      kernel_.code[i].op = Op::Nop;
      kernel_.code[i].line = i;
      steps_[i].instruction = &kernel_.code[i];
    }
    request_.kernel = &kernel_;
    request_.block = {.x = kWarps * kLanes};
    request_.strictness = EmulatorStrictness::Report;
    for (std::uint32_t rank = 0; rank < kBlocks; ++rank) {
      blocks[rank].rank = rank;
      blocks[rank].index = {.x = rank, .y = 0, .z = 0};
      blocks[rank].warps.resize(kWarps);
      for (std::uint32_t w = 0; w < kWarps; ++w) {
        blocks[rank].warps[w].block = &blocks[rank];
        blocks[rank].warps[w].index = w;
        blocks[rank].warps[w].active = kAllLanes;
      }
    }
    race.start();
  }
  RaceBench(const RaceBench &) = delete;
  RaceBench &operator=(const RaceBench &) = delete;

  const Warp &warp(std::uint32_t w, std::uint32_t rank = 0) const { return blocks[rank].warps[w]; }
  const Step &at(std::uint32_t line) const { return steps_[line]; }
  const std::string &report() const { return findings_.report(); }

  /// Lane 0 of `who` accesses four bytes of its own block's memory.
  void access(const Warp &who, std::uint32_t line, RaceAccess kind, std::uint32_t offset,
              std::uint32_t bytes = 4) {
    race.access(who, at(line), *who.block, kind, &offset, 1, bytes);
  }
  void store(const Warp &who, std::uint32_t line, std::uint32_t offset, std::uint32_t bytes = 4) {
    access(who, line, RaceAccess::Write, offset, bytes);
  }
  void load(const Warp &who, std::uint32_t line, std::uint32_t offset, std::uint32_t bytes = 4) {
    access(who, line, RaceAccess::Read, offset, bytes);
  }

  /// bar.sync `id` of the given warps.
  void sync(const std::vector<std::uint32_t> &warps, std::uint32_t id = 0, std::uint32_t rank = 0) {
    for (const std::uint32_t w : warps) {
      race.barrierArrive(warp(w, rank), id);
    }
    race.barrierClose(blocks[rank], id, warps);
  }
  /// bar.arrive of `from`, bar.sync of `to`.
  void pass(std::uint32_t from, std::uint32_t to, std::uint32_t id) {
    race.barrierArrive(warp(from), id);
    race.barrierArrive(warp(to), id);
    race.barrierClose(blocks[0], id, {to});
  }
  /// barrier.cluster of all warps.
  void syncCluster(Semantics semantics) {
    for (const Block &block : blocks) {
      for (const Warp &each : block.warps) {
        race.clusterArrive(each, semantics);
      }
    }
    race.clusterClose();
    for (const Block &block : blocks) {
      for (const Warp &each : block.warps) {
        race.clusterLeave(each);
      }
    }
  }

  /// A copy of `who` into its block that completes on the mbarrier at `barrier`; it completes.
  void copyIn(const Warp &who, std::uint32_t line, std::uint32_t offset, std::uint32_t bytes,
              std::uint32_t barrier) {
    RaceStamp stamp;
    race.stampBarrierCopy(who, at(line), *who.block, barrier, stamp);
    race.accessAsync(who, at(line), stamp, *who.block, RaceAccess::Write, offset, bytes);
    race.completeBarrierCopy(*who.block, barrier);
  }
  /// A bulk store of `lane` from its block.
  void copyOut(const Warp &who, std::uint32_t line, std::uint32_t offset, std::uint32_t bytes,
               unsigned lane = 0) {
    race.accessAsync(who, at(line), race.stampBulkGroup(who, lane), *who.block, RaceAccess::Read,
                     offset, bytes);
    race.bulkCommit(who, LaneMask{1} << lane);
  }
  /// A wgmma that reads `bytes` at `offset`, and its commit.
  void multiply(const Warp &who, std::uint32_t line, std::uint32_t offset, std::uint32_t bytes) {
    race.accessAsync(who, at(line), race.stampWgmma(who), *who.block, RaceAccess::Read, offset,
                     bytes);
    race.wgmmaCommit(who);
  }
  /// mbarrier.init by warp 0 of block `rank`, made visible to everybody and everything.
  void initBarrier(std::uint32_t barrier, std::uint32_t rank = 0) {
    race.mbarrierInit(warp(0, rank), at(1), blocks[rank], barrier);
    race.fenceMbarrierInit(warp(0, rank));
    syncCluster(Semantics::Release);
  }
  void arrive(const Warp &who, std::uint32_t line, std::uint32_t barrier) {
    race.mbarrierArrive(who, at(line), *who.block, barrier, Semantics::None);
  }
  void complete(std::uint32_t barrier) { race.mbarrierComplete(blocks[0], barrier); }
  void leave(const Warp &who, std::uint32_t line, std::uint32_t barrier) {
    race.mbarrierLeave(who, at(line), barrier, Semantics::None);
  }

private:
  Kernel kernel_;
  LaunchRequest request_;
  std::vector<Step> steps_;
  Findings findings_{request_};

public:
  std::vector<Block> blocks{kBlocks};
  RaceChecker race{request_, steps_, findings_, kBlocks, kSharedBytes};
};

} // namespace fp8jit::emulator::testing
