// What stands behind Engine, for tuner, command and tests. Main entries: Engine::Internals::device,
// store, winnerKey.
#pragma once

#include "cache/store.h"
#include "fp8jit/engine.h"
#include "runtime/device.h"
#include "runtime/kernel_builder.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fp8jit {

/// Thread safe.
class Engine::Internals {
public:
  /// What an engine is made of. Tests put a device on a fake driver and a fake compiler here.
  struct Parts {
    std::shared_ptr<Device> device;
    std::shared_ptr<Compiler> compiler;
    std::shared_ptr<Store> store; ///< null: memory only
    TemplateLibrary templates;
    OnMiss onMiss = OnMiss::UseDefault;
    std::shared_ptr<TunerHook> tuner;
    std::function<void(std::string_view)> onWarning;
  };
  static Engine makeEngine(Parts parts);

  explicit Internals(Parts parts);
  ~Internals();

  Device &device() const;
  std::shared_ptr<Device> sharedDevice() const;
  const GpuProfile &profile() const;
  /// Null if the engine keeps nothing on disk.
  Store *store() const;
  KernelBuilder &builder() const;

  /// The key under which a winner for `problem` on this device is kept. Errors: NvrtcNotFound.
  llvm::Expected<WinnerKey> winnerKey(const Problem &problem) const;
  /// Makes the next call of this problem's bucket look its winner up again, after tuning stored a
  /// new one. Kernels already handed out stay valid.
  void forgetChoice(const Problem &problem);

private:
  friend class Engine;
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace fp8jit
