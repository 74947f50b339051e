// A temporary folder, sample rows and a second, raw SQLite connection for the tests of cache/.
#pragma once

#include "cache/store.h"

#include <gtest/gtest.h>

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fp8jit::testing {

/// A folder that lives as long as the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fp8jit-cache-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return path_; }
  std::string file() const { return path_ + "/fp8jit-v1.db"; }

private:
  std::string path_;
};

/// A store on `folder` whose warnings are kept.
struct OpenedStore {
  std::vector<std::string> warnings;
  std::unique_ptr<Store> store;
  std::string error;

  explicit OpenedStore(const std::string &directory, bool readOnly = false,
                       std::int64_t maxBytes = std::int64_t{2} << 30) {
    llvm::Expected<std::unique_ptr<Store>> opened = Store::open(
        {.directory = directory,
         .readOnly = readOnly,
         .maxBytes = maxBytes,
         .onWarning = [this](llvm::StringRef text) { warnings.push_back(text.str()); }});
    if (opened) {
      store = std::move(*opened);
    } else {
      error = llvm::toString(opened.takeError());
    }
  }
  OpenedStore(const OpenedStore &) = delete;
  OpenedStore &operator=(const OpenedStore &) = delete;
  Store *operator->() const { return store.get(); }
};

/// A connection of "somebody else", without any of the store's code.
class RawConnection {
public:
  explicit RawConnection(const std::string &path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
  }
  ~RawConnection() { sqlite3_close(handle_); }
  RawConnection(const RawConnection &) = delete;
  RawConnection &operator=(const RawConnection &) = delete;

  void run(const std::string &sql) {
    char *message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message != nullptr ? message : "");
    sqlite3_free(message);
  }

private:
  sqlite3 *handle_ = nullptr;
};

inline const WinnerKey kKey{.problem =
                                "gemm m<=64 n=4096 k=7168 a=e4m3 b=e4m3 d=bf16 sa=row sb=row",
                            .target = "NVIDIA L40S (emulated) sm=142",
                            .toolchain = "nvrtc 13.0.88 sm_89 templates=abc"};

inline Winner sampleWinner(const std::string &config = "mma tile=128x128x128", double timeNs = 5000,
                           const std::string &provenance = "modelled") {
  return {.config = config,
          .provenance = provenance,
          .kernelKey = std::string(64, 'a'),
          .timeNs = timeNs,
          .margin = 1.25};
}

/// A binary whose cubin does not compress and whose PTX does.
inline StoredBinary sampleBinary(std::size_t cubinBytes = 20000, unsigned seed = 1) {
  StoredBinary binary{.arch = "sm_89", .log = "ptxas info: 0 spills", .compileMs = 123.5};
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < cubinBytes; ++i) {
    state = state * 1664525U + 1013904223U;
    binary.cubin += static_cast<char>(state >> 24);
  }
  for (int i = 0; i < 500; ++i) {
    binary.ptx += "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1};\n";
  }
  binary.entries = {{.name = "amax", .threads = 256, .smemBytes = 0, .registers = 24},
                    {.name = "cast",
                     .threads = 128,
                     .smemBytes = 65536,
                     .registers = 96,
                     .spillBytes = 8,
                     .staticSmemBytes = 16}};
  return binary;
}

inline std::string hexKey(int number) {
  const std::string digits = std::to_string(number);
  return std::string(64 - digits.size(), '0') + digits;
}

inline std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Names in `folder` that contain `part`, journals apart.
inline std::vector<std::string> namesContaining(const std::string &folder,
                                                const std::string &part) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(part) != std::string::npos && name.find("-journal") == std::string::npos) {
      names.push_back(name);
    }
  }
  return names;
}

} // namespace fp8jit::testing
