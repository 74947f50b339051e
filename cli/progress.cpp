#include "cli/progress.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <utility>

namespace fp8jit {

static constexpr std::chrono::seconds kQuietTime(2);
static constexpr std::chrono::milliseconds kRedrawTime(200);
static constexpr std::chrono::seconds kLineTime(10);
static constexpr std::int64_t kBarWidth = 20;
static constexpr std::size_t kLongestText = 60;

Progress::Progress(std::string what)
    : what_(std::move(what)), isTerminal_(llvm::sys::Process::StandardErrIsDisplayed()),
      thread_([this] { drawUntilStopped(); }) {}

Progress::~Progress() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    isStopped_ = true;
  }
  stop_.notify_one();
  thread_.join();
  if (isDrawn_ && isTerminal_) {
    llvm::errs() << "\r\033[K";
  }
}

void Progress::update(std::int64_t done, std::int64_t total, llvm::StringRef detail) {
  const std::lock_guard<std::mutex> lock(mutex_);
  done_ = done;
  total_ = total;
  detail_ = detail.str();
}

void Progress::drawUntilStopped() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::chrono::milliseconds wait = kQuietTime;
  while (!stop_.wait_for(lock, wait, [this] { return isStopped_; })) {
    draw();
    wait = isTerminal_ ? kRedrawTime : std::chrono::milliseconds(kLineTime);
  }
}

void Progress::draw() {
  isDrawn_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
  const std::string state = std::to_string(done_) + "/" + std::to_string(total_) + " " + detail_ +
                            ", " + std::to_string(seconds.count()) + " s";
  const std::string what = llvm::StringRef(what_).take_front(kLongestText).str();
  if (!isTerminal_) {
    llvm::errs() << (what + ": " + state + "\n");
    return;
  }
  const std::int64_t filled = total_ > 0 ? kBarWidth * std::min(done_, total_) / total_ : 0;
  llvm::errs() << ("\r\033[K" + what + " [" + std::string(static_cast<std::size_t>(filled), '#') +
                   std::string(static_cast<std::size_t>(kBarWidth - filled), ' ') + "] " + state);
}

} // namespace fp8jit
