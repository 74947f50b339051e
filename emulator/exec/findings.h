// What the checks of a launch found. Main type: Findings.
#pragma once

#include "emulator/exec/launch.h"
#include "emulator/exec/warp_state.h"

#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// Whether hardware would fault as well. Only that ends a launch in Report mode.
enum class Severity : std::uint8_t {
  HardwareFault, ///< ends the launch in both modes
  Finding,       ///< undefined or wrong, but hardware goes on: ends the launch in Strict mode only
};

/// Collects the report of one cluster. One thread at a time.
class Findings {
public:
  static constexpr unsigned kMaxFindings = 20; ///< texts kept in Report mode

  explicit Findings(const LaunchRequest &request) : request_(request) {}

  /// Notes a finding at the lowest lane of `lanes`; `what` goes on after "line N: ld.global ".
  /// Returns Stop if it ends the launch, else Next.
  Outcome add(const Warp &warp, const Instruction &instruction, LaneMask lanes, Fault fault,
              Severity severity, std::string_view what);
  /// Notes a fault that belongs to no single thread (deadlock, budget). Always ends the launch.
  Outcome addFault(Fault fault, std::string_view what);

  /// Forgets everything; a new cluster starts.
  void reset() {
    fault_ = Fault::None;
    count_ = 0;
    report_.clear();
  }

  Fault fault() const { return fault_; }
  const std::string &report() const { return report_; }

private:
  void append(std::string_view line);

  const LaunchRequest &request_;
  Fault fault_ = Fault::None;
  unsigned count_ = 0;
  std::string report_;
};

/// "ld.global.f32": the operation as reports name it (space and type where they matter).
std::string instructionName(const Instruction &instruction);
/// The name of a PTX type without its dot, for example "f16x2".
std::string_view typeText(Type type);
/// "(1,2,3)" of a block or thread index.
std::string coordinateText(const Dim3 &index);
/// The index of lane `lane` of a warp of rank `warpIndex` in a block of shape `shape`.
Dim3 threadIndex(const Dim3 &shape, std::uint32_t warpIndex, std::uint32_t lane);

} // namespace fp8jit::emulator
