// The sub-commands. Main entry: commandTable.
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace fp8jit {

/// One sub-command. `run` returns the exit status of a command that did its work (0, or 1 for a
/// check that failed), or why it could not.
struct Command {
  const CommandSpec *spec;
  llvm::Expected<int> (*run)(const Arguments &arguments, Console &console);
};

/// One function per file, `<name>_command.cpp`.
Command devicesCommand();
Command gemmCommand();
Command quantizeCommand();
Command tuneCommand();
Command inspectCommand();
Command cacheCommand();
Command emulateCommand();

} // namespace fp8jit
