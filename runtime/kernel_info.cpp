#include "runtime/kernel_info.h"

#include "generator/problem_text.h"

#include <algorithm>

namespace fp8jit {

KernelInfo kernelInfo(const Problem &problem, const ConfigChoice &choice, const BuiltKernel &built,
                      CacheSource cache) {
  KernelInfo info;
  info.problem = printProblem(problem);
  info.kernelKey = built.key;
  info.config = printConfig(choice.config);
  info.configSource = choice.source;
  info.provenance = choice.provenance;
  info.cache = cache;
  if (cache == CacheSource::Compiled) {
    info.compileMs = built.binary.compileMs;
    info.log = built.binary.log;
  }
  for (const StoredEntry &entry : built.binary.entries) {
    info.registers = std::max(info.registers, entry.registers);
    info.spillBytes = std::max(info.spillBytes, entry.spillBytes);
    info.smemBytes = std::max(info.smemBytes, entry.smemBytes + entry.staticSmemBytes);
  }
  info.source = built.source.text;
  info.ptx = built.binary.ptx;
  return info;
}

} // namespace fp8jit
