// Chooses the parts of a source, writes its prelude and flattens it.
#include "generator/generate.h"

#include "generator/flatten.h"
#include "generator/launch_plan.h"
#include "generator/prelude.h"

#include "llvm/Support/FormatVariadic.h"

namespace fp8jit {

namespace {

/// Which template serves a problem, and what fills its slots.
struct Parts {
  llvm::StringRef root;
  llvm::StringRef preludeSlot;
  std::string prelude;
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> slots; ///< slot, template
};

} // namespace

static llvm::StringRef loadPart(const GemmProblem &problem, PointerAlignment alignment) {
  if (alignment == PointerAlignment::Bytes16 && problem.k % 16 == 0) {
    return "gemm/load_16.cuh";
  }
  if (alignment == PointerAlignment::Bytes16 && problem.k % 4 == 0) {
    return "gemm/load_4.cuh";
  }
  return "gemm/load_1.cuh";
}

static llvm::StringRef scalePart(const GemmProblem &problem) {
  switch (problem.sa) {
  case ScaleUnit::Tensor:
    return "gemm/scale_tensor.cuh";
  case ScaleUnit::Row:
    return "gemm/scale_row.cuh";
  case ScaleUnit::Block1x128:
  case ScaleUnit::Block128x128:
  case ScaleUnit::Block1x32:
    break;
  }
  return "gemm/scale_block.cuh";
}

static llvm::StringRef storePart(const GemmProblem &problem, PointerAlignment alignment) {
  const bool isPacked = alignment == PointerAlignment::Bytes16 && problem.n % 2 == 0;
  if (problem.d == Format::BF16) {
    return isPacked ? "gemm/store_bf16_packed.cuh" : "gemm/store_bf16.cuh";
  }
  return isPacked ? "gemm/store_f32_packed.cuh" : "gemm/store_f32.cuh";
}

static Parts partsOf(const GemmProblem &problem, const GemmConfig &config,
                     PointerAlignment alignment) {
  return {.root = "gemm_mma.cu",
          .preludeSlot = "slot/config.cuh",
          .prelude = preludeText(problem, config),
          .slots = {{"slot/load.cuh", loadPart(problem, alignment)},
                    {"slot/scale.cuh", scalePart(problem)},
                    {"slot/epilogue.cuh", storePart(problem, alignment)}}};
}

static llvm::StringRef quantRoot(const QuantProblem &problem) {
  switch (problem.s) {
  case ScaleUnit::Tensor:
    return problem.sc == ScaleSource::Given ? "quant_tensor_given.cu" : "quant_tensor.cu";
  case ScaleUnit::Row:
    return problem.sc == ScaleSource::Given ? "quant_row_given.cu" : "quant_row.cu";
  case ScaleUnit::Block128x128:
    return "quant_block128x128.cu";
  case ScaleUnit::Block1x128:
  case ScaleUnit::Block1x32:
    break;
  }
  return "quant_block1x128.cu";
}

static Parts partsOf(const QuantProblem &problem, QuantConfig config, PointerAlignment alignment) {
  const bool isBf16 = problem.x == Format::BF16;
  const bool isLanes = problem.s != ScaleUnit::Tensor && config.threadsPerUnit() <= 32;
  if (alignment == PointerAlignment::Element) {
    config.vectorBytes = elementBytes(problem.x);
  }
  return {
      .root = quantRoot(problem),
      .preludeSlot = "slot/quant_config.cuh",
      .prelude = preludeText(problem, config),
      .slots = {{"slot/x.cuh", isBf16 ? "quant/x_bf16.cuh" : "quant/x_f32.cuh"},
                {"slot/reduce.cuh", isLanes ? "quant/reduce_lanes.cuh" : "quant/reduce_block.cuh"},
                {"slot/scale_source.cuh", problem.sc == ScaleSource::Given
                                              ? "quant/source_given.cuh"
                                              : "quant/source_amax.cuh"}}};
}

static llvm::Expected<std::string> sourceText(const Parts &parts,
                                              const TemplateLibrary &templates) {
  SlotTexts slots;
  slots[parts.preludeSlot] = parts.prelude;
  for (const auto &[slot, name] : parts.slots) {
    llvm::Expected<llvm::StringRef> text = templates.text(name);
    if (!text) {
      return text.takeError();
    }
    slots[slot] = text->str();
  }
  return flattenTemplate(parts.root, slots, templates);
}

llvm::Expected<GeneratedSource> generateSource(const Problem &problem, const Config &config,
                                               const GpuProfile &profile,
                                               const TemplateLibrary &templates,
                                               PointerAlignment alignment) {
  if (llvm::Error error = checkSupported(problem, profile)) {
    return error;
  }
  if (llvm::Error error = checkConfig(problem, config, profile)) {
    return error;
  }
  const Parts parts =
      std::holds_alternative<GemmProblem>(problem)
          ? partsOf(std::get<GemmProblem>(problem), std::get<GemmConfig>(config), alignment)
          : partsOf(std::get<QuantProblem>(problem), std::get<QuantConfig>(config), alignment);
  llvm::Expected<std::string> text = sourceText(parts, templates);
  if (!text) {
    return text.takeError();
  }
  return GeneratedSource{.text =
                             bannerText(problem, config, profile, templates.hash()) + "\n" + *text,
                         .entries = kernelEntries(problem, config)};
}

std::vector<std::string> compileOptions(llvm::StringRef arch) {
  return {"-arch=sm_" + arch.str(),
          "-std=c++20", // designated initialisers
          "-default-device",
          "--minimal",
          "-modify-stack-limit=false", // else NVRTC changes the stack limit of the whole process
          "-no-source-include",        // the current folder must not matter
          "-Xptxas",
          "-v",
          "-Xptxas",
          "-warn-spills",
          "--no-cache"};
}

} // namespace fp8jit
