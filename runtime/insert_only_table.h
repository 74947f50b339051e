// A hash table that many threads read without any lock or write to shared memory, and that only
// grows. Main entries: InsertOnlyTable::find, findOrInsert.
//
// Invariants
//  1. A node is created once and lives, at one address, as long as the table.
//  2. A slot goes from null to a node once and never changes again.
//  3. Growing copies the slots into an array twice as large and publishes that; readers that still
//     hold the old array find all nodes it ever had. Old arrays are kept until the table dies; all
//     of them together are smaller than the newest.
//  4. Probing ends at a null slot, which exists because at most half of the slots are taken.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace fp8jit {

/// `Key`: copyable, with ==. `Hash`: an empty class, size_t operator()(const Key &) const. Values
/// are pointers; the table does not own what they point to.
template <typename Key, typename Value, typename Hash>
class InsertOnlyTable {
public:
  struct Node {
    Node(const Key &nodeKey, std::size_t nodeHash) : key(nodeKey), hash(nodeHash) {}

    const Key key;
    const std::size_t hash;
    /// May be replaced at any time; null means that the entry is known but has no value now.
    std::atomic<Value *> value = nullptr;
  };

  InsertOnlyTable() : newest_(addSlots(64)) {}

  /// The value of `key`, or null. Wait-free.
  Value *find(const Key &key) const {
    const Node *node = findNode(*newest_.load(std::memory_order_acquire), key, Hash()(key));
    return node == nullptr ? nullptr : node->value.load(std::memory_order_acquire);
  }

  /// The node of `key`, created with a null value if it is new. Takes the lock.
  Node &findOrInsert(const Key &key) {
    const std::size_t hash = Hash()(key);
    const std::lock_guard lock(mutex_);
    Slots *slots = newest_.load(std::memory_order_relaxed);
    if (Node *known = findNode(*slots, key, hash)) {
      return *known;
    }
    if ((nodes_.size() + 1) * 2 > slots->size()) {
      slots = grow(*slots);
    }
    nodes_.push_back(std::make_unique<Node>(key, hash));
    place(*slots, nodes_.back().get());
    return *nodes_.back();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }

private:
  using Slots = std::vector<std::atomic<Node *>>;

  static Node *findNode(const Slots &slots, const Key &key, std::size_t hash) {
    const std::size_t mask = slots.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      Node *node = slots[i].load(std::memory_order_acquire);
      if (node == nullptr || (node->hash == hash && node->key == key)) {
        return node;
      }
    }
  }

  static void place(Slots &slots, Node *node) {
    const std::size_t mask = slots.size() - 1;
    std::size_t i = node->hash & mask;
    while (slots[i].load(std::memory_order_relaxed) != nullptr) {
      i = (i + 1) & mask;
    }
    slots[i].store(node, std::memory_order_release);
  }

  Slots *addSlots(std::size_t count) {
    generations_.push_back(std::make_unique<Slots>(count));
    return generations_.back().get();
  }

  Slots *grow(const Slots &old) {
    Slots *larger = addSlots(old.size() * 2);
    for (const std::unique_ptr<Node> &node : nodes_) {
      place(*larger, node.get());
    }
    newest_.store(larger, std::memory_order_release);
    return larger;
  }

  mutable std::mutex mutex_; ///< guards the two below, and all inserting
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Slots>> generations_;
  std::atomic<Slots *> newest_;
};

} // namespace fp8jit
