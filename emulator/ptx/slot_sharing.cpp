// Liveness by the usual backward data flow (bit sets per basic block), then linear scan after
// Poletto and Sarkar, "Linear scan register allocation" (1999), with one interval per register and
// no spilling: the file simply grows.
#include "emulator/ptx/slot_sharing.h"

#include "emulator/ptx/kernel_builder.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

namespace fp8jit::emulator {

namespace {

/// Above this many bits the sets would cost more than the sharing gains; slots are then not shared.
constexpr std::uint64_t kMaxLivenessBits = std::uint64_t{1} << 26;

class BitSet {
public:
  explicit BitSet(std::size_t bits) : words_((bits + 63) / 64) {}

  void set(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  bool test(std::size_t bit) const { return ((words_[bit / 64] >> (bit % 64)) & 1) != 0; }
  std::vector<std::uint64_t> &words() { return words_; }
  const std::vector<std::uint64_t> &words() const { return words_; }

private:
  std::vector<std::uint64_t> words_;
};

struct Block {
  std::uint32_t begin = 0, end = 0; ///< instructions
  std::vector<std::uint32_t> successors;
  BitSet uses, definitions, liveIn, liveOut;

  explicit Block(std::size_t bits) : uses(bits), definitions(bits), liveIn(bits), liveOut(bits) {}
};

/// First and last position of a register's life; positions are 2·instruction for writes and one
/// more for reads.
struct Range {
  std::uint64_t first = ~std::uint64_t{0}, last = 0;

  void include(std::uint64_t position) {
    first = std::min(first, position);
    last = std::max(last, position);
  }
};

class Liveness {
public:
  Liveness(const Kernel &kernel, std::uint32_t registers32, std::uint32_t registers64)
      : kernel_(kernel), registers32_(registers32), count_(registers32 + registers64) {}

  /// The life of every register, the 32-bit ones first.
  std::vector<Range> ranges() {
    splitBlocks();
    std::vector<Range> result(count_);
    if (!tooLarge_) {
      solve();
      for (const Block &block : blocks_) {
        includeSet(block.liveIn, 2 * std::uint64_t{block.begin}, result);
        includeSet(block.liveOut, 2 * std::uint64_t{block.end} - 1, result);
      }
    }
    for (std::size_t i = 0; i < kernel_.code.size(); ++i) {
      visit(kernel_.code[i], [&](std::uint32_t reg, bool isWrite) {
        result[reg].include(2 * i + (isWrite ? 0 : 1));
        // A result that nobody reads still occupies its slot while its instruction runs.
        result[reg].include(2 * i + 1);
      });
    }
    pinAsynchronous(result);
    if (tooLarge_) {
      for (Range &range : result) {
        range.last = range.first == ~std::uint64_t{0} ? 0 : 2 * kernel_.code.size();
        range.first = range.last == 0 ? range.first : 0;
      }
    }
    return result;
  }

private:
  /// wgmma reads and writes its registers until a wait, so nothing else may have their slots.
  void pinAsynchronous(std::vector<Range> &result) const {
    for (const Instruction &instruction : kernel_.code) {
      if (instruction.op == Op::Wgmma) {
        visit(instruction, [&](std::uint32_t reg, bool) {
          result[reg].include(0);
          result[reg].include(2 * kernel_.code.size());
        });
      }
    }
  }

  /// Calls `function(register, isWrite)` for each register operand; sources first.
  template <typename Function>
  void visit(const Instruction &instruction, Function function) const {
    const std::uint32_t *operands = kernel_.operands.data() + instruction.operands;
    const std::uint32_t total = std::uint32_t{instruction.numDst} + instruction.numSrc;
    for (std::uint32_t i = total; i-- > 0;) {
      const std::uint32_t ref = operands[i];
      if (ref == kNoSlot) {
        continue;
      }
      if (refKind(ref) == RefKind::Register32) {
        function(refNumber(ref), i < instruction.numDst);
      } else if (refKind(ref) == RefKind::Register64) {
        function(registers32_ + refNumber(ref), i < instruction.numDst);
      }
    }
  }

  static bool endsBlock(const Instruction &instruction) {
    return instruction.op == Op::Bra || instruction.op == Op::BrxIdx || instruction.op == Op::Ret ||
           instruction.op == Op::Exit || instruction.op == Op::Trap;
  }

  template <typename Function>
  void forEachTarget(const Instruction &instruction, Function function) const {
    if (instruction.op == Op::Bra) {
      function(instruction.target);
    } else if (instruction.op == Op::BrxIdx) {
      for (std::int64_t i = 0; i < instruction.immediate2; ++i) {
        function(kernel_.branchTargets[static_cast<std::size_t>(instruction.immediate + i)]);
      }
    }
  }

  void splitBlocks() {
    const std::size_t size = kernel_.code.size();
    std::vector<bool> isLeader(size + 1, false);
    isLeader[0] = true;
    for (std::size_t i = 0; i < size; ++i) {
      forEachTarget(kernel_.code[i], [&](std::uint32_t target) { isLeader[target] = true; });
      if (endsBlock(kernel_.code[i])) {
        isLeader[i + 1] = true;
      }
    }
    const auto leaders =
        static_cast<std::uint64_t>(std::count(isLeader.begin(), isLeader.end(), true));
    tooLarge_ = leaders * count_ > kMaxLivenessBits;
    if (tooLarge_) {
      return;
    }
    std::vector<std::uint32_t> blockOf(size + 1, 0);
    for (std::uint32_t i = 0; i < size; ++i) {
      if (isLeader[i]) {
        blocks_.emplace_back(count_);
        blocks_.back().begin = i;
      }
      blocks_.back().end = i + 1;
      blockOf[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    for (Block &block : blocks_) {
      connect(block, blockOf);
    }
  }

  void connect(Block &block, const std::vector<std::uint32_t> &blockOf) {
    const Instruction &last = kernel_.code[block.end - 1];
    forEachTarget(last, [&](std::uint32_t target) {
      if (target < kernel_.code.size()) {
        block.successors.push_back(blockOf[target]);
      }
    });
    const bool fallsThrough = !endsBlock(last) || last.guard != kNoSlot;
    if (fallsThrough && block.end < kernel_.code.size()) {
      block.successors.push_back(blockOf[block.end]);
    }
  }

  void collect(Block &block) {
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      const bool isGuarded = kernel_.code[i].guard != kNoSlot;
      visit(kernel_.code[i], [&](std::uint32_t reg, bool isWrite) {
        if (!isWrite && !block.definitions.test(reg)) {
          block.uses.set(reg);
        } else if (isWrite && !isGuarded) {
          block.definitions.set(reg);
        }
      });
    }
  }

  void solve() {
    for (Block &block : blocks_) {
      collect(block);
      block.liveIn = block.uses;
    }
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (std::size_t i = blocks_.size(); i-- > 0;) {
        isChanged |= update(blocks_[i]);
      }
    }
  }

  /// liveOut = union of the successors' liveIn; liveIn = uses + (liveOut - definitions).
  bool update(Block &block) {
    bool isChanged = false;
    for (const std::uint32_t successor : block.successors) {
      const std::vector<std::uint64_t> &in = blocks_[successor].liveIn.words();
      for (std::size_t word = 0; word < in.size(); ++word) {
        const std::uint64_t added = in[word] & ~block.liveOut.words()[word];
        if (added != 0) {
          block.liveOut.words()[word] |= added;
          block.liveIn.words()[word] |= added & ~block.definitions.words()[word];
          isChanged = true;
        }
      }
    }
    return isChanged;
  }

  static void includeSet(const BitSet &set, std::uint64_t position, std::vector<Range> &ranges) {
    for (std::size_t word = 0; word < set.words().size(); ++word) {
      for (std::uint64_t bits = set.words()[word]; bits != 0; bits &= bits - 1) {
        ranges[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))].include(position);
      }
    }
  }

  const Kernel &kernel_;
  std::uint32_t registers32_;
  std::uint32_t count_;
  bool tooLarge_ = false;
  std::vector<Block> blocks_;
};

} // namespace

/// Packs ranges into as few colours as they need; returns the number of colours.
static std::uint32_t colour(const Range *ranges, std::uint32_t count,
                            std::vector<std::uint32_t> &colours) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ranges[i].first != ~std::uint64_t{0}) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranges[a].first != ranges[b].first ? ranges[a].first < ranges[b].first : a < b;
  });
  using Active = std::pair<std::uint64_t, std::uint32_t>; // last position, colour
  std::priority_queue<Active, std::vector<Active>, std::greater<>> active;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t used = 0;
  colours.assign(count, kNoSlot);
  for (const std::uint32_t reg : order) {
    while (!active.empty() && active.top().first < ranges[reg].first) {
      free.push(active.top().second);
      active.pop();
    }
    if (free.empty()) {
      free.push(used++);
    }
    colours[reg] = free.top();
    free.pop();
    active.emplace(ranges[reg].last, colours[reg]);
  }
  return used;
}

SlotMap assignSlots(const Kernel &kernel, std::uint32_t registers32, std::uint32_t registers64,
                    const std::vector<std::uint32_t> &pinned64, bool shareSlots) {
  std::vector<Range> ranges = Liveness(kernel, registers32, registers64).ranges();
  for (const std::uint32_t number : pinned64) {
    ranges[registers32 + number] = {.first = 0, .last = 2 * kernel.code.size()};
  }
  if (!shareSlots) {
    for (Range &range : ranges) {
      range.last = ~std::uint64_t{0} - 1;
    }
  }
  SlotMap map;
  const std::uint32_t used32 = colour(ranges.data(), registers32, map.slots32);
  const std::uint32_t used64 = colour(ranges.data() + registers32, registers64, map.slots64);
  for (std::uint32_t &slot : map.slots64) {
    slot = slot == kNoSlot ? kNoSlot : used32 + 2 * slot;
  }
  map.slotCount = used32 + 2 * used64;
  return map;
}

} // namespace fp8jit::emulator
