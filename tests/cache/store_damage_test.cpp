// Every kind of damage is caused for real; a look-up is then a miss, never an error.
#include "cache/store.h"
#include "tests/cache/cache_test_support.h"
#include "tests/support/matchers.h"

#include <chrono>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fp8jit::testing {

namespace fs = std::filesystem;

/// A store file with a winner and a binary in it.
static void fill(const TemporaryFolder &folder) {
  OpenedStore store(folder.path());
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));
  ASSERT_OK(store->putBinary(hexKey(1), sampleBinary(60000)));
}

/// Opens over a bad file: it is moved aside with one warning, and the new one works.
static void expectReplaced(const TemporaryFolder &folder, const std::string &reason) {
  OpenedStore store(folder.path());
  ASSERT_TRUE(store.store) << store.error;
  EXPECT_FALSE(store->findWinner(kKey));
  ASSERT_EQ(store.warnings.size(), 1U);
  EXPECT_NE(store.warnings[0].find(reason), std::string::npos) << store.warnings[0];
  EXPECT_EQ(namesContaining(folder.path(), ".corrupt-").size(), 1U);
  EXPECT_OK(store->putWinner(kKey, sampleWinner()));
  EXPECT_TRUE(store->findWinner(kKey));
}

TEST(StoreDamageTest, ReplacesAFileThatIsNoDatabase) {
  const TemporaryFolder folder;
  writeFile(folder.file(), std::string(20000, 'x'));

  expectReplaced(folder, "damaged");
}

TEST(StoreDamageTest, ReplacesAnOverwrittenHeader) {
  const TemporaryFolder folder;
  fill(folder);
  std::string bytes = readFile(folder.file());
  bytes.replace(0, 64, std::string(64, '\xA5'));
  writeFile(folder.file(), bytes);

  expectReplaced(folder, "damaged");
}

TEST(StoreDamageTest, ReplacesAForeignDatabase) {
  const TemporaryFolder folder;
  RawConnection(folder.file()).run("CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')");

  expectReplaced(folder, "not a cache of this program");
}

TEST(StoreDamageTest, ReplacesAFileWithoutItsTables) {
  const TemporaryFolder folder;
  RawConnection(folder.file())
      .run("PRAGMA application_id=0x46384754; PRAGMA user_version=1; CREATE TABLE meta(key)");

  expectReplaced(folder, "damaged");
}

TEST(StoreDamageTest, FillsAFileOfNoBytes) {
  const TemporaryFolder folder;
  writeFile(folder.file(), "");

  OpenedStore store(folder.path());

  ASSERT_TRUE(store.store) << store.error;
  EXPECT_TRUE(store.warnings.empty());
  EXPECT_OK(store->putWinner(kKey, sampleWinner()));
}

TEST(StoreDamageTest, RefusesWhatIsNoRegularFileWithoutWaiting) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.file().c_str(), 0600), 0); // opening it would wait for a writer

  OpenedStore store(folder.path());

  EXPECT_FALSE(store.store);
  EXPECT_NE(store.error.find("not a regular file"), std::string::npos) << store.error;
}

TEST(StoreDamageTest, ATruncatedFileIsAMissAndIsReplaced) {
  for (const double share : {0.05, 0.3, 0.6, 0.95}) {
    const TemporaryFolder folder;
    fill(folder);
    const auto size = static_cast<double>(fs::file_size(folder.file()));
    fs::resize_file(folder.file(), static_cast<std::uintmax_t>(size * share));

    OpenedStore store(folder.path());
    ASSERT_TRUE(store.store) << store.error;
    EXPECT_FALSE(store->findBinary(hexKey(1))) << share;
    EXPECT_OK(store->putBinary(hexKey(2), sampleBinary()));
    EXPECT_TRUE(store->findBinary(hexKey(2))) << share;
    EXPECT_LE(store.warnings.size(), 1U) << share;
  }
}

TEST(StoreDamageTest, AFileDamagedWhileOpenIsAMissAndIsReplaced) {
  const TemporaryFolder folder;
  fill(folder);
  OpenedStore store(folder.path());
  ASSERT_TRUE(store->findWinner(kKey));
  const std::string bytes = readFile(folder.file());
  // Everything but the first page, which holds the schema and the change counter; that is touched
  // so that the connection reads its pages again.
  std::string damaged = bytes.substr(0, 8192) + std::string(bytes.size() - 8192, '\x5A');
  damaged[27] = static_cast<char>(damaged[27] + 1);
  writeFile(folder.file(), damaged);

  EXPECT_FALSE(store->findWinner(kKey));

  ASSERT_EQ(store.warnings.size(), 1U);
  EXPECT_NE(store.warnings[0].find("moved aside"), std::string::npos) << store.warnings[0];
  EXPECT_OK(store->putWinner(kKey, sampleWinner()));
  EXPECT_TRUE(store->findWinner(kKey));
}

TEST(StoreDamageTest, BytesChangedInsideABlobAreAMiss) {
  const TemporaryFolder folder;
  fill(folder);
  std::string bytes = readFile(folder.file());
  const std::string middle = sampleBinary(60000).cubin.substr(30000, 64);
  const std::size_t at = bytes.find(middle);
  ASSERT_NE(at, std::string::npos) << "the random cubin should be stored as it is";
  bytes[at + 5] = static_cast<char>(bytes[at + 5] ^ 1);
  writeFile(folder.file(), bytes);

  OpenedStore store(folder.path());
  EXPECT_FALSE(store->findBinary(hexKey(1)));
  EXPECT_EQ(store->stats().rejectedRows, 1);
  EXPECT_TRUE(store->findWinner(kKey)) << "the other rows still serve";
  EXPECT_OK(store->putBinary(hexKey(1), sampleBinary()));
  EXPECT_TRUE(store->findBinary(hexKey(1))) << "the bad row gives way";
}

TEST(StoreDamageTest, AChangedRowIsAMiss) {
  const char *changes[] = {
      "UPDATE winner SET t_med_ns=t_med_ns+1",
      "UPDATE winner SET margin=9",
      "UPDATE winner SET source='measured'",
      "UPDATE winner SET artifact_key=zeroblob(32)",
      "UPDATE winner SET updated_at=updated_at+1",
      "UPDATE config SET params='mma tile=256x256x128'",
      "UPDATE problem SET canonical='gemm m<=65'",
      "UPDATE target SET canonical='another GPU'",
  };
  for (const char *change : changes) {
    const TemporaryFolder folder;
    fill(folder);
    RawConnection(folder.file()).run(change);

    OpenedStore store(folder.path());
    EXPECT_FALSE(store->findWinner(kKey)) << change;
    EXPECT_EQ(store->stats().rejectedRows, 1) << change;
    EXPECT_TRUE(store->listWinners().empty()) << change;
  }
}

TEST(StoreDamageTest, AChangedLaunchSizeIsAMiss) {
  for (const char *change :
       {"UPDATE artifact_entry SET threads=1024", "UPDATE artifact_entry SET smem_dyn=0",
        "UPDATE artifact_entry SET name='other'", "UPDATE artifact SET arch_flag='sm_90a'",
        "DELETE FROM artifact_blob WHERE kind='ptx'", "DELETE FROM artifact_entry WHERE ordinal=0",
        "UPDATE artifact_blob SET codec='raw' WHERE kind='ptx'",
        "UPDATE artifact_blob SET raw_size=9223372036854775807",
        "UPDATE artifact_blob SET data=zeroblob(10)"}) {
    const TemporaryFolder folder;
    fill(folder);
    RawConnection(folder.file()).run(change);

    OpenedStore store(folder.path());
    EXPECT_FALSE(store->findBinary(hexKey(1))) << change;
    EXPECT_EQ(store->stats().rejectedRows, 1) << change;
  }
}

TEST(StoreDamageTest, KeepsTheThreeNewestDamagedFiles) {
  const TemporaryFolder folder;
  for (const char *stamp : {"20200101T000000Z-1", "20200102T000000Z-1", "20200103T000000Z-1"}) {
    writeFile(folder.file() + ".corrupt-" + stamp, "old");
  }
  writeFile(folder.file(), std::string(9000, 'x'));

  const OpenedStore store(folder.path());

  EXPECT_EQ(namesContaining(folder.path(), ".corrupt-").size(), 3U);
  EXPECT_TRUE(namesContaining(folder.path(), "20200101").empty());
}

TEST(StoreVersionTest, LeavesANewerFileAloneAndUsesAnotherName) {
  const TemporaryFolder folder;
  fill(folder);
  RawConnection(folder.file())
      .run("PRAGMA user_version=9; UPDATE meta SET value='9' WHERE key='schema_reader_min'");
  const std::string before = readFile(folder.file());

  OpenedStore store(folder.path());

  ASSERT_TRUE(store.store) << store.error;
  EXPECT_NE(store->path(), folder.file());
  EXPECT_FALSE(store->findWinner(kKey));
  EXPECT_OK(store->putWinner(kKey, sampleWinner()));
  EXPECT_EQ(store.warnings.size(), 1U);
  EXPECT_EQ(readFile(folder.file()), before);
}

TEST(StoreVersionTest, ReadsANewerFileThatPermitsIt) {
  const TemporaryFolder folder;
  fill(folder);
  RawConnection(folder.file()).run("PRAGMA user_version=9");

  OpenedStore store(folder.path());

  ASSERT_TRUE(store.store) << store.error;
  EXPECT_TRUE(store->findWinner(kKey));
  EXPECT_FAILS(store->putWinner(kKey, sampleWinner()), ErrorCode::CacheError);
  EXPECT_EQ(store.warnings.size(), 1U);
}

TEST(StoreLockTest, ALookUpOfALockedFileIsAMissWithinItsTime) {
  const TemporaryFolder folder;
  fill(folder);
  OpenedStore store(folder.path());
  RawConnection other(folder.file());
  other.run("BEGIN EXCLUSIVE");

  const auto start = std::chrono::steady_clock::now();
  const std::optional<Winner> winner = store->findWinner(kKey);
  const auto waited = std::chrono::steady_clock::now() - start;
  other.run("COMMIT");

  EXPECT_FALSE(winner);
  // 50 ms by contract; the rest is for a loaded machine.
  EXPECT_LT(waited, std::chrono::milliseconds(400));
  EXPECT_TRUE(store->findWinner(kKey)) << "the lock is gone";
  EXPECT_TRUE(store.warnings.empty());
}

TEST(StoreLockTest, AWriterDoesNotKeepReadersOut) {
  const TemporaryFolder folder;
  fill(folder);
  OpenedStore store(folder.path());
  RawConnection other(folder.file());
  other.run("BEGIN IMMEDIATE; UPDATE winner SET margin=3");

  EXPECT_TRUE(store->findWinner(kKey));
  EXPECT_TRUE(store->findBinary(hexKey(1)));

  other.run("ROLLBACK");
}

TEST(StoreFolderTest, RefusesAFolderThatIsAFile) {
  const TemporaryFolder folder;
  writeFile(folder.path() + "/file", "text");

  EXPECT_FAILS(Store::open({.directory = folder.path() + "/file"}), ErrorCode::CacheError);
  EXPECT_FAILS(Store::open({.directory = folder.path() + "/file/below"}), ErrorCode::CacheError);
  EXPECT_FAILS(Store::open({.directory = ""}), ErrorCode::CacheError);
}

TEST(StoreFolderTest, RefusesAFileThatIsAFolder) {
  const TemporaryFolder folder;
  fs::create_directory(folder.file());

  EXPECT_FAILS(Store::open({.directory = folder.path()}), ErrorCode::CacheError);
}

TEST(StoreFolderTest, RefusesAFolderOfAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder to another user";
  }
  const TemporaryFolder folder;
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);

  EXPECT_FAILS(Store::open({.directory = folder.path()}), ErrorCode::CacheError);
}

TEST(StoreFolderTest, ReadOnlyFindsAndDoesNotWrite) {
  const TemporaryFolder folder;
  EXPECT_FALSE(OpenedStore(folder.path(), /*readOnly=*/true).store) << "there is nothing to read";
  fill(folder);
  const std::string before = readFile(folder.file());

  OpenedStore store(folder.path(), /*readOnly=*/true);

  ASSERT_TRUE(store.store) << store.error;
  EXPECT_TRUE(store->findWinner(kKey));
  EXPECT_TRUE(store->findBinary(hexKey(1)));
  EXPECT_TRUE(store->findQuarantined(kKey).empty());
  EXPECT_FAILS(store->putWinner(kKey, sampleWinner("other", 1)), ErrorCode::CacheError);
  EXPECT_EQ(readFile(folder.file()), before);
}

/// Runs `body` in a child without root's rights and returns what it returned.
static int runAsUser(const TemporaryFolder &folder, int (*body)(const std::string &)) {
  constexpr uid_t kNobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0) {
      for (const std::string &path : {folder.path(), folder.file()}) {
        if (::chown(path.c_str(), kNobody, kNobody) != 0) {
          ::_exit(100);
        }
      }
      if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
        ::_exit(101);
      }
    }
    ::_exit(body(folder.path()));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StoreFolderTest, AFolderThatCannotBeWrittenStillServes) {
  const TemporaryFolder folder;
  fill(folder);

  const int result = runAsUser(folder, [](const std::string &path) {
    ::chmod((path + "/fp8jit-v1.db").c_str(), 0400);
    ::chmod(path.c_str(), 0500);
    OpenedStore store(path);
    if (!store.store || !store->findWinner(kKey)) {
      return 1;
    }
    return outcomeOf(store->putWinner(kKey, sampleWinner("other", 1))).code == ErrorCode::CacheError
               ? 0
               : 2;
  });

  EXPECT_EQ(result, 0);
}

TEST(StoreFullTest, AFullFileStaysReadable) {
  const TemporaryFolder folder;
  fill(folder);
  OpenedStore store(folder.path(), false, /*maxBytes=*/24 * 8192);

  const Outcome outcome = outcomeOf(store->putBinary(hexKey(2), sampleBinary(400000)));

  EXPECT_FALSE(outcome.isOk);
  EXPECT_EQ(outcome.code, ErrorCode::CacheError);
  EXPECT_NE(outcome.message.find("no space"), std::string::npos) << outcome.message;
  EXPECT_TRUE(store->findWinner(kKey));
  EXPECT_OK(store->putWinner(kKey, sampleWinner("next", 10)));
}

TEST(StoreFullTest, TheOldestBinariesGiveWay) {
  const TemporaryFolder folder;
  OpenedStore store(folder.path(), false, /*maxBytes=*/1 << 20);
  ASSERT_OK(store->putWinner(kKey, sampleWinner()));

  for (int i = 0; i < 60; ++i) {
    ASSERT_OK(store->putBinary(hexKey(i), sampleBinary(40000, static_cast<unsigned>(i + 1))));
  }

  EXPECT_TRUE(store->findBinary(hexKey(59)));
  EXPECT_FALSE(store->findBinary(hexKey(0)));
  EXPECT_TRUE(store->findWinner(kKey)) << "winners stay";
  EXPECT_LE(fs::file_size(folder.file()), 1U << 20);
}

TEST(StoreFullTest, AFullDiskFailsTheWriteAlone) {
  const TemporaryFolder folder;
  fill(folder);

  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlim_t limit = fs::file_size(folder.file()) + 8192;
    const rlimit size{.rlim_cur = limit, .rlim_max = limit};
    ::setrlimit(RLIMIT_FSIZE, &size);
    OpenedStore store(folder.path());
    const Outcome outcome = outcomeOf(store->putBinary(hexKey(2), sampleBinary(400000)));
    const bool isGood = !outcome.isOk && outcome.code == ErrorCode::CacheError &&
                        store->findWinner(kKey) && store->findBinary(hexKey(1)) &&
                        store.warnings.empty();
    ::_exit(isGood ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace fp8jit::testing
