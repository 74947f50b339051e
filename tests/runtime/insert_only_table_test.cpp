#include "runtime/insert_only_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace fp8jit {

namespace {

/// Sends four neighbouring keys to one slot, so that probing is used.
struct CrowdedHash {
  std::size_t operator()(const std::uint64_t &key) const { return key / 4 * 16; }
};

using Table = InsertOnlyTable<std::uint64_t, const std::uint64_t, CrowdedHash>;

} // namespace

TEST(InsertOnlyTableTest, FindsWhatWasInsertedThroughAllGrowth) {
  Table table;
  std::vector<std::uint64_t> values(5000);

  for (std::uint64_t i = 0; i < values.size(); ++i) {
    values[i] = i;
    table.findOrInsert(i).value = &values[i];
  }

  EXPECT_EQ(table.size(), values.size());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(table.find(i), &values[i]);
  }
  EXPECT_EQ(table.find(values.size()), nullptr);
}

TEST(InsertOnlyTableTest, InsertingAgainGivesTheSameNode) {
  Table table;
  const std::uint64_t value = 1;

  Table::Node &first = table.findOrInsert(7);
  first.value = &value;
  Table::Node &second = table.findOrInsert(7);
  second.value = nullptr;

  EXPECT_EQ(&first, &second);
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.find(7), nullptr);
}

TEST(InsertOnlyTableTest, ReadersSeeWholeEntriesWhileWritersInsert) {
  // Run under the thread sanitizer as well: value and key must be published together.
  constexpr std::uint64_t kCount = 20000;
  Table table;
  std::vector<std::uint64_t> values(kCount);
  std::atomic<std::uint64_t> published = 0;
  std::atomic<std::uint64_t> wrong = 0;

  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (std::uint64_t i = 0; i < kCount; ++i) {
      values[i] = i * 3;
      table.findOrInsert(i).value.store(&values[i], std::memory_order_release);
      published.store(i + 1, std::memory_order_release);
    }
  });
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      for (std::uint64_t seen = 0; seen < kCount;) {
        seen = published.load(std::memory_order_acquire);
        for (std::uint64_t i = seen > 50 ? seen - 50 : 0; i < seen; ++i) {
          const std::uint64_t *value = table.find(i);
          if (value == nullptr || *value != i * 3) {
            ++wrong;
          }
        }
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  EXPECT_EQ(wrong, 0U);
}

} // namespace fp8jit
