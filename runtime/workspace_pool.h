// Small scratch memory for launches, pooled. Main entry: WorkspacePool::acquire.
#pragma once

#include "runtime/device.h"
#include "runtime/insert_only_table.h"

#include "llvm/Support/Error.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace fp8jit {

/// One piece per pair of stream and host thread: the launches of one thread on one stream run in
/// order, so they may share it; two threads may interleave the kernels of their launches on one
/// stream, so they may not. Thread safe; a pair that was seen before takes no lock.
///
/// A captured launch keeps the piece of its pair: a graph must not run at the same time as other
/// work that the capturing thread has put on the capturing stream since.
class WorkspacePool {
public:
  static constexpr std::size_t kPieceBytes = 256;

  explicit WorkspacePool(std::shared_ptr<Device> device);

  /// Allocates the first slab, so that later calls, which may fall into a stream capture, need none
  /// until it is used up. Errors: DriverError.
  llvm::Error reserve();

  /// kPieceBytes of device memory for the calling thread on `stream`. Errors: DriverError.
  llvm::Expected<void *> acquire(void *stream);

private:
  struct Key {
    const void *stream;
    const void *thread;
    bool operator==(const Key &) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key &key) const;
  };
  static constexpr std::size_t kPiecesPerSlab = 256;

  llvm::Error addSlab();

  std::shared_ptr<Device> device_;
  InsertOnlyTable<Key, void, KeyHash> pieces_;
  std::mutex mutex_; ///< guards the two below
  std::vector<DeviceBuffer> slabs_;
  std::size_t usedOfLastSlab_ = kPiecesPerSlab;
};

} // namespace fp8jit
