// The environment variables of the driver in software: all of them are read here.
#include "emulator/abi/log.h"
#include "emulator/abi/process.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// A whole number, or nothing.
static std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t number = 0;
  const char *end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

static bool setMode(RunSettings &settings, std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  const std::optional<std::uint64_t> seed =
      text.starts_with(kRandom) ? numberOf(text.substr(kRandom.size())) : std::nullopt;
  if (seed) {
    settings.asyncMode.store(EmulatorAsyncMode::Random);
    settings.seed.store(*seed);
  } else if (text == "eager" || text == "lazy") {
    settings.asyncMode.store(text == "eager" ? EmulatorAsyncMode::Eager : EmulatorAsyncMode::Lazy);
  }
  return seed || text == "eager" || text == "lazy";
}

static bool setStrict(RunSettings &settings, std::string_view text) {
  settings.strictness.store(text == "on" ? EmulatorStrictness::Strict : EmulatorStrictness::Report);
  return text == "on" || text == "off";
}

static bool setRaces(RunSettings &settings, std::string_view text) {
  settings.raceChecking.store(text == "on" ? 1 : text == "off" ? 0 : -1);
  return text == "on" || text == "off";
}

static bool setThreads(RunSettings &settings, std::string_view text) {
  constexpr std::uint64_t kMostThreads = 1024;
  const std::optional<std::uint64_t> threads = numberOf(text);
  settings.hostThreads.store(static_cast<std::uint32_t>(threads.value_or(0)));
  return threads && *threads <= kMostThreads;
}

void readEnvironment(RunSettings &settings) {
  struct Variable {
    const char *name;
    bool (*set)(RunSettings &settings, std::string_view text);
    const char *expected;
  };
  constexpr Variable kVariables[] = {
      {"FP8JIT_EMULATOR_MODE", setMode, "eager, lazy or random:SEED"},
      {"FP8JIT_EMULATOR_STRICT", setStrict, "on or off"},
      {"FP8JIT_EMULATOR_RACES", setRaces, "on or off"},
      {"FP8JIT_EMULATOR_THREADS", setThreads, "a number up to 1024, 0 for one per processor"},
  };
  for (const Variable &variable : kVariables) {
    const char *text = std::getenv(variable.name);
    if (text != nullptr && *text != '\0' && !variable.set(settings, text)) {
      logLine(std::string(variable.name) + ": found " + text + ", expected " + variable.expected);
    }
  }
}

} // namespace fp8jit::emulator
