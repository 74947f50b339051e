// Rules of PTX ISA 11.1.2 (.target): what a device accepts.
#include "emulator/ptx/target.h"

#include <charconv>

namespace fp8jit::emulator {

static bool parseArch(std::string_view text, Arch &arch) {
  const char *end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, arch.number);
  if (status != std::errc() || arch.number < 20 || arch.number > 999) {
    return false;
  }
  arch.variant = stop == end ? '\0' : *stop;
  return stop == end || (stop + 1 == end && (arch.variant == 'a' || arch.variant == 'f'));
}

static bool runsOn(Arch target, Arch device) {
  switch (target.variant) {
  case 'a':
    return target.number == device.number && device.variant == 'a';
  case 'f':
    return target.number / 10 == device.number / 10 && target.number <= device.number;
  default:
    return target.number <= device.number;
  }
}

std::string describeArch(const Arch &arch) {
  std::string text = "sm_" + std::to_string(arch.number);
  if (arch.variant != 0) {
    text += arch.variant;
  }
  return text;
}

bool checkTarget(std::string_view target, std::string_view arch, Arch &code, std::string &message) {
  constexpr std::string_view kPrefix = "sm_";
  Arch device;
  if (target.substr(0, kPrefix.size()) != kPrefix ||
      !parseArch(target.substr(kPrefix.size()), code)) {
    message = "unknown target \"" + std::string(target) + "\", expected one like sm_89";
    return false;
  }
  if (!parseArch(arch, device)) {
    message = "unknown device architecture \"" + std::string(arch) + "\", expected one like 89";
    return false;
  }
  if (!runsOn(code, device)) {
    message = "target " + std::string(target) + " does not run on a device of architecture sm_" +
              std::string(arch);
    return false;
  }
  return true;
}

} // namespace fp8jit::emulator
