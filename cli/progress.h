// How far work has come, on standard error, once it takes longer than two seconds. Main entry:
// Progress.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace fp8jit {

/// On a terminal a bar that is redrawn, with the seconds so far; else a line now and then. A thread
/// of its own draws, so that it also moves while a kernel runs. `update` may be called from any
/// thread.
class Progress {
public:
  explicit Progress(std::string what);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  /// Ends the thread and clears the bar.
  ~Progress();

  /// `done` of `total` steps are behind; `detail` is the one that runs now.
  void update(std::int64_t done, std::int64_t total, llvm::StringRef detail);

private:
  using Clock = std::chrono::steady_clock;

  void drawUntilStopped();
  void draw(); ///< with mutex_ held

  const std::string what_;
  const bool isTerminal_;
  const Clock::time_point start_ = Clock::now();

  std::mutex mutex_; ///< guards all below but the thread
  std::condition_variable stop_;
  bool isStopped_ = false;
  bool isDrawn_ = false;
  std::int64_t done_ = 0, total_ = 0;
  std::string detail_;

  std::thread thread_; ///< last: starts when everything else is there
};

} // namespace fp8jit
