// The text form of configurations: a family name, then key=value fields.
#include "generator/config.h"
#include "support/error.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace fp8jit {

static constexpr llvm::StringRef kGemmForm = "mma tile=MxNxK warps=MxN stages=S group=G";
static constexpr llvm::StringRef kQuantForm = "quant threads=T vector=V units=U";

std::string printConfig(const Config &config) {
  if (const auto *gemm = std::get_if<GemmConfig>(&config)) {
    return llvm::formatv("mma tile={0}x{1}x{2} warps={3}x{4} stages={5} group={6}", gemm->tileM,
                         gemm->tileN, gemm->tileK, gemm->warpsM, gemm->warpsN, gemm->stages,
                         gemm->groupM);
  }
  const auto &quant = std::get<QuantConfig>(config);
  return llvm::formatv("quant threads={0} vector={1} units={2}", quant.threads, quant.vectorBytes,
                       quant.unitsPerBlock);
}

static llvm::Error malformed(llvm::StringRef text, llvm::StringRef form) {
  return fail(ErrorCode::InvalidArgument,
              "config '" + text.take_front(80) + "' is malformed, expected '" + form + "'");
}

/// Reads "name=AxBxC" into `values`, as many numbers as there are places, each 1 .. 2^20.
static llvm::Error readField(llvm::StringRef word, llvm::StringRef name,
                             llvm::ArrayRef<int *> values) {
  llvm::StringRef rest = word;
  bool isGood = rest.consume_front(name) && rest.consume_front("=");
  llvm::SmallVector<llvm::StringRef, 3> numbers;
  rest.split(numbers, 'x');
  isGood = isGood && numbers.size() == values.size();
  for (std::size_t i = 0; isGood && i < values.size(); ++i) {
    isGood = !numbers[i].getAsInteger(10, *values[i]) && *values[i] >= 1 && *values[i] <= 1 << 20;
  }
  if (isGood) {
    return llvm::Error::success();
  }
  return fail(ErrorCode::InvalidArgument, "config field '" + word.take_front(40) +
                                              "' is malformed, expected " + name + "= and " +
                                              llvm::Twine(values.size()) +
                                              " numbers between 1 and 1048576 separated by x");
}

static llvm::Expected<Config> parseGemmConfig(llvm::ArrayRef<llvm::StringRef> words) {
  GemmConfig config{};
  if (llvm::Error error =
          readField(words[1], "tile", {&config.tileM, &config.tileN, &config.tileK})) {
    return error;
  }
  if (llvm::Error error = readField(words[2], "warps", {&config.warpsM, &config.warpsN})) {
    return error;
  }
  if (llvm::Error error = readField(words[3], "stages", {&config.stages})) {
    return error;
  }
  if (llvm::Error error = readField(words[4], "group", {&config.groupM})) {
    return error;
  }
  return config;
}

static llvm::Expected<Config> parseQuantConfig(llvm::ArrayRef<llvm::StringRef> words) {
  QuantConfig config{};
  if (llvm::Error error = readField(words[1], "threads", {&config.threads})) {
    return error;
  }
  if (llvm::Error error = readField(words[2], "vector", {&config.vectorBytes})) {
    return error;
  }
  if (llvm::Error error = readField(words[3], "units", {&config.unitsPerBlock})) {
    return error;
  }
  return config;
}

llvm::Expected<Config> parseConfig(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (!words.empty() && words[0] == "mma") {
    return words.size() == 5 ? parseGemmConfig(words) : malformed(text, kGemmForm);
  }
  if (!words.empty() && words[0] == "quant") {
    return words.size() == 4 ? parseQuantConfig(words) : malformed(text, kQuantForm);
  }
  return malformed(text, (kGemmForm + "' or '" + kQuantForm).str());
}

} // namespace fp8jit
