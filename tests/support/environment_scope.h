// An environment variable for a scope. Main type: EnvironmentScope.
#pragma once

#include <cstdlib>
#include <string>

namespace fp8jit::testing {

/// Sets a variable of this process and puts it back at the end of the scope. Not thread safe, as
/// the environment is not.
class EnvironmentScope {
public:
  EnvironmentScope(const char *name, const char *value) : name_(name) {
    const char *before = std::getenv(name);
    wasSet_ = before != nullptr;
    before_ = wasSet_ ? before : "";
    setenv(name, value, 1);
  }
  ~EnvironmentScope() {
    if (wasSet_) {
      setenv(name_, before_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  EnvironmentScope(const EnvironmentScope &) = delete;
  EnvironmentScope &operator=(const EnvironmentScope &) = delete;

private:
  const char *name_;
  bool wasSet_ = false;
  std::string before_;
};

} // namespace fp8jit::testing
