#include "runtime/workspace_pool.h"

#include "runtime/problem_hash.h"

#include <utility>

namespace fp8jit {

/// An address that no other living thread has; nothing is ever stored there.
static const void *threadToken() {
  static thread_local const char kToken = 0;
  return &kToken;
}

std::size_t WorkspacePool::KeyHash::operator()(const Key &key) const {
  return hashWords(
      {reinterpret_cast<std::uintptr_t>(key.stream), reinterpret_cast<std::uintptr_t>(key.thread)});
}

WorkspacePool::WorkspacePool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

llvm::Error WorkspacePool::addSlab() {
  llvm::Expected<DeviceBuffer> slab = device_->allocate(kPieceBytes * kPiecesPerSlab);
  if (!slab) {
    return slab.takeError();
  }
  slabs_.push_back(std::move(*slab));
  usedOfLastSlab_ = 0;
  return llvm::Error::success();
}

llvm::Error WorkspacePool::reserve() {
  const std::lock_guard lock(mutex_);
  return slabs_.empty() ? addSlab() : llvm::Error::success();
}

llvm::Expected<void *> WorkspacePool::acquire(void *stream) {
  const Key key = {stream, threadToken()};
  if (void *known = pieces_.find(key)) {
    return known;
  }
  // Nobody else inserts this key, because it names the calling thread.
  const std::lock_guard lock(mutex_);
  if (usedOfLastSlab_ == kPiecesPerSlab) {
    if (llvm::Error error = addSlab()) {
      return error;
    }
  }
  void *piece = static_cast<char *>(slabs_.back().data()) + usedOfLastSlab_ * kPieceBytes;
  ++usedOfLastSlab_;
  pieces_.findOrInsert(key).value.store(piece, std::memory_order_release);
  return piece;
}

} // namespace fp8jit
