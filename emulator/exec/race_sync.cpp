// The edges of happens-before: barriers, mbarriers, fences, atomics (race_checker.h).
#include "emulator/exec/block.h"
#include "emulator/exec/race_checker.h"

namespace fp8jit::emulator {

static bool isRelease(Semantics semantics) {
  return semantics == Semantics::Release || semantics == Semantics::AcqRel ||
         semantics == Semantics::Sc;
}

static bool isAcquire(Semantics semantics) {
  return semantics == Semantics::Acquire || semantics == Semantics::AcqRel ||
         semantics == Semantics::Sc;
}

void RaceChecker::advance(WarpState &state) {
  state.self.clock = std::min(state.self.clock + 1, RaceStamp::kMaxClock);
  state.now.all.raise(state.self);
}

void RaceChecker::release(WarpState &state, RaceOrder &object) {
  object.join(state.now);
  advance(state);
}

void RaceChecker::barrierArrive(const Warp &warp, std::uint32_t id) {
  release(stateOf(warp), homeOf(*warp.block).barriers[id]);
}

// A warp that has exited counts as arrived, so that what it did happens before as well.
void RaceChecker::barrierClose(const Block &block, std::uint32_t id,
                               const std::vector<std::uint32_t> &waiting) {
  Home &home = homeOf(block);
  RaceOrder &barrier = home.barriers[id];
  barrier.join(home.exited);
  for (const std::uint32_t index : waiting) {
    home.warps[index].now.join(barrier);
  }
  barrier.clear();
}

void RaceChecker::warpExit(const Warp &warp) {
  WarpState &state = stateOf(warp);
  homeOf(*warp.block).exited.join(state.now);
  clusterPending_.join(state.now);
}

void RaceChecker::clusterArrive(const Warp &warp, Semantics semantics) {
  WarpState &state = stateOf(warp);
  if (semantics == Semantics::Relaxed) {
    clusterPending_.join(state.released);
    return;
  }
  release(state, clusterPending_);
}

void RaceChecker::clusterClose() {
  clusterDone_.join(clusterPending_);
  clusterPending_.clear();
}

void RaceChecker::clusterLeave(const Warp &warp) {
  stateOf(warp).now.join(clusterDone_);
}

RaceChecker::Mbarrier &RaceChecker::mbarrierAt(const Block &block, std::uint32_t offset) {
  return homeOf(block).mbarriers[offset];
}

void RaceChecker::mbarrierInit(const Warp &warp, const Step &step, const Block &target,
                               std::uint32_t offset) {
  WarpState &state = stateOf(warp);
  if (state.inits.clock == 0) {
    state.inits.component = warpComponent(Part::Inits, warp.block->rank, warp.index);
  }
  state.inits.clock = std::min(state.inits.clock + 1, RaceStamp::kMaxClock);
  state.now.all.raise(state.inits);
  Mbarrier &barrier = mbarrierAt(target, offset);
  barrier.pending.clear();
  barrier.done.clear();
  barrier.completed = barrier.copies.clock; // those of an earlier barrier here cannot complete
  barrier.init = state.inits;
  barrier.initPc = pcOf(step);
}

void RaceChecker::mbarrierInval(const Block &target, std::uint32_t offset) {
  mbarrierAt(target, offset).init = {};
}

Outcome RaceChecker::mbarrierUse(const Warp &warp, const Step &step, const Block &target,
                                 std::uint32_t offset) {
  return checkInit(warp, step, target, offset, false);
}

Outcome RaceChecker::mbarrierArrive(const Warp &warp, const Step &step, const Block &target,
                                    std::uint32_t offset, Semantics semantics) {
  WarpState &state = stateOf(warp);
  const Outcome outcome = checkInit(warp, step, target, offset, false);
  Mbarrier &barrier = mbarrierAt(target, offset);
  if (semantics == Semantics::Relaxed) {
    barrier.pending.join(state.released);
  } else {
    release(state, barrier.pending);
  }
  return outcome;
}

void RaceChecker::mbarrierArriveCopies(const Warp &warp, const Block &target, std::uint32_t offset,
                                       std::uint32_t group) {
  mbarrierAt(target, offset).pending.all.raise(stampCopy(warp, group));
}

void RaceChecker::mbarrierComplete(const Block &target, std::uint32_t offset) {
  Mbarrier &barrier = mbarrierAt(target, offset);
  barrier.done.join(barrier.pending);
  barrier.pending.clear();
}

Outcome RaceChecker::mbarrierLeave(const Warp &warp, const Step &step, std::uint32_t offset,
                                   Semantics semantics) {
  WarpState &state = stateOf(warp);
  const Outcome outcome = checkInit(warp, step, *warp.block, offset, false);
  const Mbarrier &barrier = mbarrierAt(*warp.block, offset);
  (semantics == Semantics::Relaxed ? state.observed : state.now).join(barrier.done);
  return outcome;
}

void RaceChecker::fenceAsync(const Warp &warp) {
  WarpState &state = stateOf(warp);
  state.now.asyncVisible.join(state.now.all);
  advance(state); // what follows is not covered
}

// Publishes the initialisations, and nothing else, to whoever acquires a later relaxed write, and
// to the async proxy.
void RaceChecker::fenceMbarrierInit(const Warp &warp) {
  WarpState &state = stateOf(warp);
  if (state.inits.clock != 0) {
    state.now.raise(state.inits);
    state.released.raise(state.inits);
  }
}

void RaceChecker::fence(const Warp &warp, Semantics semantics) {
  WarpState &state = stateOf(warp);
  if (semantics != Semantics::Release) {
    state.now.join(state.observed);
    state.observed.clear();
  }
  if (semantics != Semantics::Acquire) {
    release(state, state.released);
  }
}

void RaceChecker::atomicRead(const Warp &warp, std::uint64_t address, Semantics semantics) {
  const auto word = words_.find(address);
  if (word != words_.end()) {
    WarpState &state = stateOf(warp);
    (isAcquire(semantics) ? state.now : state.observed).join(word->second);
  }
}

// A read-modify-write goes on with what earlier writes published (a release sequence); a store ends
// it.
void RaceChecker::atomicWrite(const Warp &warp, std::uint64_t address, Semantics semantics,
                              bool isUpdate) {
  WarpState &state = stateOf(warp);
  const bool publishes = isRelease(semantics) || !state.released.isEmpty();
  if (!publishes && (isUpdate || !words_.contains(address))) {
    return;
  }
  RaceOrder &word = words_[address];
  if (!isUpdate) {
    word.clear();
  }
  if (isRelease(semantics)) {
    release(state, word);
  } else {
    word.join(state.released);
  }
}

std::uint64_t RaceChecker::sharedKey(const Block &target, std::uint64_t offset) {
  return kSharedWindow | (std::uint64_t{target.rank} << 32) | offset;
}

} // namespace fp8jit::emulator
