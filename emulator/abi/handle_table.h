// Live objects by handle: what tells a valid handle from a stale or invented one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace fp8jit::emulator {

/// Objects of one kind, each under a handle (by default its address). Thread safe; an object that
/// was removed stays alive for those that still hold it.
template <typename T>
class HandleTable {
public:
  /// Adds `object` under its own address and returns that.
  T *add(std::shared_ptr<T> object) {
    T *handle = object.get();
    addAs(handle, std::move(object));
    return handle;
  }

  /// Adds or replaces the object under `handle`.
  void addAs(const void *handle, std::shared_ptr<T> object) {
    const std::unique_lock lock(mutex_);
    objects_[handle] = std::move(object);
  }

  /// The object under `handle`, or null.
  std::shared_ptr<T> find(const void *handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Takes the object out and returns it, or null.
  std::shared_ptr<T> remove(const void *handle) {
    const std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) {
      return nullptr;
    }
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  /// Removes every object for which `condition` holds.
  void removeIf(const std::function<bool(const T &)> &condition) {
    const std::unique_lock lock(mutex_);
    std::erase_if(objects_, [&](const auto &entry) { return condition(*entry.second); });
  }

  /// A copy of the present objects.
  std::vector<std::shared_ptr<T>> all() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<T>> objects;
    for (const auto &entry : objects_) {
      objects.push_back(entry.second);
    }
    return objects;
  }

private:
  mutable std::shared_mutex mutex_; ///< guards the one below
  std::unordered_map<const void *, std::shared_ptr<T>> objects_;
};

} // namespace fp8jit::emulator
