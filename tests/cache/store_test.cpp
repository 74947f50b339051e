// What is put comes back, by the rules of winners, trials and binaries.
#include "cache/store.h"
#include "tests/cache/cache_test_support.h"
#include "tests/support/matchers.h"

#include <cmath>
#include <cstdlib>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fp8jit::testing {

TEST(StoreTest, GivesBackAWinner) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());

  EXPECT_FALSE(store->findWinner(kKey));
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));
  const std::optional<Winner> found = store->findWinner(kKey);

  ASSERT_TRUE(found);
  EXPECT_EQ(found->config, "mma tile=128x128x128");
  EXPECT_EQ(found->provenance, "modelled");
  EXPECT_EQ(found->kernelKey, std::string(64, 'a'));
  EXPECT_EQ(found->timeNs, 5000);
  EXPECT_EQ(found->margin, 1.25);
  EXPECT_GT(found->updatedAt, 1'600'000'000);
}

TEST(StoreTest, GivesBackAWinnerAfterReopening) {
  const TemporaryFolder folder;
  {
    OpenedStore store(folder.path());
    ASSERT_OK(store->putWinner(kKey, sampleWinner()));
  }

  OpenedStore store(folder.path());

  EXPECT_TRUE(store->findWinner(kKey));
  EXPECT_TRUE(store.warnings.empty());
}

TEST(StoreTest, EveryPartOfTheKeyDecides) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));

  for (std::string WinnerKey::*part :
       {&WinnerKey::problem, &WinnerKey::target, &WinnerKey::toolchain}) {
    WinnerKey other = kKey;
    other.*part += 'x';
    EXPECT_FALSE(store->findWinner(other)) << other.*part;
  }
}

TEST(StoreTest, ReplacesAWinnerByTheRules) {
  struct Case {
    const char *what;
    Winner next;
    bool isReplaced;
  };
  const Case cases[] = {
      {"clearly faster", sampleWinner("other", 4900), true},
      {"faster within the tie band", sampleWinner("other", 4960), false},
      {"slower", sampleWinner("other", 6000), false},
      {"slower but measured", sampleWinner("other", 9000, "measured"), true},
      {"slower but imported", sampleWinner("other", 9000, "imported"), true},
      {"not a number", sampleWinner("other", std::nan("")), false},
  };
  for (const Case &test : cases) {
    const TemporaryFolder folder;
    OpenedStore store(folder.path());
    ASSERT_OK(store->putWinner(kKey, sampleWinner()));

    const Outcome outcome = outcomeOf(store->putWinner(kKey, test.next));

    EXPECT_EQ(store->findWinner(kKey)->config == "other", test.isReplaced) << test.what;
    EXPECT_EQ(outcome.isOk, true) << test.what << ": " << outcome.message;
  }
}

TEST(StoreTest, NeverReplacesAMeasuredWinnerByAModelledOne) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->putWinner(kKey, sampleWinner("real", 5000, "measured")));

  ASSERT_OK(store->putWinner(kKey, sampleWinner("guess", 1, "modelled")));

  EXPECT_EQ(store->findWinner(kKey)->config, "real");
}

TEST(StoreTest, RefreshesTheSameConfiguration) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->putWinner(kKey, sampleWinner("same", 5000)));

  ASSERT_OK(store->putWinner(kKey, sampleWinner("same", 7000)));

  EXPECT_EQ(store->findWinner(kKey)->timeNs, 7000);
}

TEST(StoreTest, GivesBackABinaryByteForByte) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  const StoredBinary binary = sampleBinary();
  ASSERT_OK(store->putBinary(hexKey(7), binary));

  const std::optional<StoredBinary> found = store->findBinary(hexKey(7));

  ASSERT_TRUE(found);
  EXPECT_EQ(found->arch, binary.arch);
  EXPECT_EQ(found->cubin, binary.cubin);
  EXPECT_EQ(found->ptx, binary.ptx);
  EXPECT_EQ(found->log, binary.log);
  EXPECT_EQ(found->compileMs, binary.compileMs);
  ASSERT_EQ(found->entries.size(), 2U);
  EXPECT_EQ(found->entries[0].name, "amax");
  EXPECT_EQ(found->entries[1].smemBytes, 65536);
  EXPECT_EQ(found->entries[1].registers, 96);
  EXPECT_EQ(found->entries[1].spillBytes, 8);
  EXPECT_EQ(found->entries[1].staticSmemBytes, 16);
  EXPECT_FALSE(store->findBinary(hexKey(8)));
}

TEST(StoreTest, CompressesWhatCompresses) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  const StoredBinary binary = sampleBinary();

  ASSERT_OK(store->putBinary(hexKey(1), binary));

  const std::int64_t plain = static_cast<std::int64_t>(binary.ptx.size());
  const std::int64_t random = static_cast<std::int64_t>(binary.cubin.size());
  EXPECT_EQ(store->stats().binaryBytes / random, 1);
  EXPECT_LT(store->stats().binaryBytes, random + plain / 10);
}

TEST(StoreTest, AcceptsAnEmptyCubin) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  StoredBinary binary = sampleBinary();
  binary.cubin.clear();
  binary.entries.clear();
  ASSERT_OK(store->putBinary(hexKey(1), binary));

  const std::optional<StoredBinary> found = store->findBinary(hexKey(1));

  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin, "");
}

TEST(StoreTest, KeepsTheFirstBinaryOfAKey) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->putBinary(hexKey(1), sampleBinary(100, 1)));

  ASSERT_OK(store->putBinary(hexKey(1), sampleBinary(100, 2)));

  EXPECT_EQ(store->findBinary(hexKey(1))->cubin, sampleBinary(100, 1).cubin);
  EXPECT_EQ(store->stats().binaries, 1);
}

TEST(StoreTest, RefusesAKernelKeyThatIsNotHex) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  Winner winner = sampleWinner();
  winner.kernelKey = "short";

  EXPECT_FAILS(store->putBinary("", sampleBinary()), ErrorCode::InvalidArgument);
  EXPECT_FAILS(store->putBinary(std::string(64, 'G'), sampleBinary()), ErrorCode::InvalidArgument);
  EXPECT_FAILS(store->putWinner(kKey, winner), ErrorCode::InvalidArgument);
  EXPECT_FALSE(store->findBinary("short"));
}

TEST(StoreTest, KeepsOneTrialPerConfiguration) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  const Trial slow{.config = "a", .status = "ok", .provenance = "modelled", .timeNs = 9};
  const Trial wrong{.config = "b",
                    .status = "wrong_result",
                    .provenance = "modelled",
                    .kernelKey = hexKey(3),
                    .modelNs = 4,
                    .relError = 0.5,
                    .message = "tile 3"};
  Trial fast = slow;
  fast.timeNs = 8;
  ASSERT_OK(store->putTrials(kKey, {slow, wrong}));

  ASSERT_OK(store->putTrials(kKey, {fast}));

  const std::vector<Trial> trials = store->findTrials(kKey);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].status, "wrong_result");
  EXPECT_EQ(trials[0].kernelKey, hexKey(3));
  EXPECT_EQ(trials[0].relError, 0.5);
  EXPECT_EQ(trials[0].message, "tile 3");
  EXPECT_EQ(trials[1].timeNs, 8);
}

TEST(StoreTest, RefusesAnUnknownTrialStatus) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());

  EXPECT_FAILS(
      store->putTrials(kKey, {Trial{.config = "a", .status = "fine", .provenance = "modelled"}}),
      ErrorCode::CacheError);
  EXPECT_TRUE(store->findTrials(kKey).empty());
}

TEST(StoreTest, ListsWinnersInKeyOrder) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  WinnerKey second = kKey;
  second.problem = "gemm m<=128";
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));
  ASSERT_OK(store->putWinner(second, sampleWinner()));

  const std::vector<ListedWinner> listed = store->listWinners();

  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[0].key.problem, "gemm m<=128");
  EXPECT_EQ(listed[1].key.problem, kKey.problem);
  EXPECT_EQ(listed[1].winner.config, sampleWinner().config);
}

TEST(StoreTest, CountsItsRows) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));
  ASSERT_OK(store->putBinary(hexKey(1), sampleBinary()));
  ASSERT_OK(
      store->putTrials(kKey, {Trial{.config = "a", .status = "ok", .provenance = "modelled"}}));

  const StoreStats stats = store->stats();

  EXPECT_EQ(stats.winners, 1);
  EXPECT_EQ(stats.binaries, 1);
  EXPECT_EQ(stats.trials, 1);
  EXPECT_EQ(stats.rejectedRows, 0);
  EXPECT_EQ(stats.fileBytes, static_cast<std::int64_t>(std::filesystem::file_size(folder.file())));
}

TEST(StoreTest, MakesItsFolderForItsUserAlone) {
  const TemporaryFolder folder;
  const std::string inner = folder.path() + "/a/b";

  const OpenedStore store(inner);

  struct stat status {};
  ASSERT_EQ(::stat(inner.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_EQ(store->path(), inner + "/fp8jit-v1.db");
}

TEST(StoreTest, ServesManyThreads) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));

  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&store, t] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_OK(store->putBinary(hexKey(100 * t + i), sampleBinary(500)));
        const std::optional<StoredBinary> found = store->findBinary(hexKey(100 * t + i));
        EXPECT_TRUE(!found || found->cubin == sampleBinary(500).cubin) << "a miss when locked";
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }

  EXPECT_EQ(store->stats().binaries, 80);
}

TEST(StoreTest, TwoProcessesWriteTheSameFile) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      OpenedStore store(folder.path());
      bool isGood = store.store != nullptr;
      for (int i = 0; isGood && i < 25; ++i) {
        isGood = outcomeOf(store->putBinary(hexKey(1000 * process + i), sampleBinary(500))).isOk;
      }
      ::_exit(isGood ? 0 : 1);
    }
    children.push_back(child);
  }

  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  OpenedStore store(folder.path());
  EXPECT_EQ(store->stats().binaries, 50);
  EXPECT_TRUE(store.warnings.empty());
}

TEST(StoreTest, TwoCrashesPutAConfigurationInQuarantine) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  for (int crash = 0; crash < 2; ++crash) {
    EXPECT_TRUE(store->findQuarantined(kKey).empty());
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      OpenedStore own(folder.path());
      ::_exit(outcomeOf(own->markStarted(kKey, "killer")).isOk ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  EXPECT_EQ(store->findQuarantined(kKey), std::vector<std::string>{"killer"});
  EXPECT_EQ(store->findTrials(kKey).at(0).status, "crashed");
}

TEST(StoreTest, AStartedTrialOfALivingProcessIsNoCrash) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path());
  ASSERT_OK(store->markStarted(kKey, "running"));

  EXPECT_TRUE(store->findQuarantined(kKey).empty());

  EXPECT_EQ(store->findTrials(kKey).at(0).status, "started");
}

TEST(CacheDirectoryTest, FollowsTheLadder) {
  ::setenv("FP8JIT_CACHE_DIR", "/a", 1);
  ::setenv("XDG_CACHE_HOME", "/b", 1);
  ::setenv("HOME", "/c", 1);

  EXPECT_EQ(cacheDirectory("/explicit"), "/explicit");
  EXPECT_EQ(cacheDirectory(""), "/a");
  ::unsetenv("FP8JIT_CACHE_DIR");
  EXPECT_EQ(cacheDirectory(""), "/b/fp8jit");
  ::setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(cacheDirectory(""), "/c/.cache/fp8jit");
  ::unsetenv("HOME");
  EXPECT_EQ(cacheDirectory(""), "");
}

} // namespace fp8jit::testing
