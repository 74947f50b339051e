// Images of shared memory, PTX text, and predicted results.
#include "tests/emulator/exec/wgmma_kernel.h"

#include "emulator/exec/global_memory.h"
#include "emulator/tensor/scalar_model.h"
#include "emulator/tensor/step_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

namespace fp8jit::emulator::testing {
namespace {

constexpr int kThreads = 128;
constexpr std::uint32_t kRowsA = 64;

/// How one operand lies in shared memory.
struct TileLayout {
  std::uint32_t rows, depthBytes, elementBytes;
  Swizzle swizzle;
  bool isTransposed;

  std::uint32_t leading() const;
  std::uint32_t stride() const;
  std::uint32_t advance() const; ///< bytes from one wgmma to the next along k
  std::uint32_t offsetOf(std::uint32_t row, std::uint32_t k) const;
  std::uint32_t sizeBytes() const;
};

} // namespace

static std::uint32_t rowBytes(Swizzle swizzle) {
  return swizzle == Swizzle::Bytes128 ? 128 : swizzle == Swizzle::Bytes64 ? 64 : 32;
}

void PrintTo(const WgmmaCase &c, std::ostream *out) {
  *out << c.name;
}

/// A multiple of 1024.
std::uint32_t TileLayout::sizeBytes() const {
  const bool isPadded = swizzle != Swizzle::None;
  const std::uint32_t width = isPadded ? rowBytes(swizzle) : 16;
  const std::uint32_t bytes = isTransposed ? (2 * rows + width - 1) / width * width * depthBytes / 2
                                           : rows * (isPadded ? width : depthBytes);
  return (bytes + 1023) / 1024 * 1024;
}

std::uint32_t TileLayout::leading() const {
  if (swizzle == Swizzle::None) {
    return 128; // core matrices are neighbours along k
  }
  return isTransposed ? depthBytes / 2 * rowBytes(swizzle) : 16;
}

std::uint32_t TileLayout::stride() const {
  if (swizzle == Swizzle::None) {
    return depthBytes / 16 * 128;
  }
  return 8 * rowBytes(swizzle);
}

std::uint32_t TileLayout::advance() const {
  if (swizzle == Swizzle::None) {
    return 256; // 32 bytes of k are two core matrices
  }
  return isTransposed ? 16 * rowBytes(swizzle) : 32;
}

std::uint32_t TileLayout::offsetOf(std::uint32_t row, std::uint32_t k) const {
  const std::uint32_t width = rowBytes(swizzle);
  if (isTransposed) {
    const std::uint32_t byte = 2 * row;
    if (swizzle == Swizzle::None) {
      return byte / 16 * stride() + k / 8 * 128 + k % 8 * 16 + byte % 16;
    }
    const std::uint32_t turn = k % 8 * width / 128 % (width / 16);
    return byte / width * leading() + k * width + ((byte % width) ^ (turn * 16));
  }
  const std::uint32_t byte = k * elementBytes;
  if (swizzle == Swizzle::None) {
    return row / 8 * stride() + byte / 16 * 128 + row % 8 * 16 + byte % 16;
  }
  const std::uint32_t turn = row % 8 * width / 128 % (width / 16);
  return row * width + (byte ^ (turn * 16));
}

static TileLayout layoutA(const WgmmaCase &c) {
  const auto bytes = static_cast<std::uint32_t>(c.bytesPerElement());
  return {kRowsA, static_cast<std::uint32_t>(c.depth()) * bytes, bytes, c.swizzle, c.transposeA};
}

static TileLayout layoutB(const WgmmaCase &c) {
  const auto bytes = static_cast<std::uint32_t>(c.bytesPerElement());
  return {static_cast<std::uint32_t>(c.shape.n), static_cast<std::uint32_t>(c.depth()) * bytes,
          bytes, c.swizzle, c.transposeB};
}

static std::uint64_t descriptorBits(const TileLayout &layout) {
  constexpr std::uint64_t kModes[] = {0, 3, 2, 1};
  return std::uint64_t{layout.leading() / 16} << 16 | std::uint64_t{layout.stride() / 16} << 32 |
         kModes[static_cast<int>(layout.swizzle)] << 62;
}

static std::string number(std::uint64_t value) {
  return std::to_string(value);
}

static int accumulatorCount(const WgmmaCase &c) {
  return c.shape.accumulator == MmaAccumulator::F32 ? c.shape.n / 2 : c.shape.n / 4;
}

static std::string registerList(const char *prefix, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) {
    list += (i == 0 ? "" : ", ") + std::string(prefix) + std::to_string(i);
  }
  return list + "}";
}

static std::string multiplyText(const WgmmaCase &c, int step) {
  constexpr const char *kFormats[] = {"e4m3", "e5m2", "f16", "bf16", "tf32"};
  const auto flag = [](bool value) { return std::string(value ? ", 1" : ", 0"); };
  const auto sign = [](bool value) { return std::string(value ? ", -1" : ", 1"); };
  const std::string prefix = "%ra" + std::to_string(step) + "_";
  std::string text =
      "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.shape.n) + "k" +
      std::to_string(c.shape.k) + (c.shape.accumulator == MmaAccumulator::F32 ? ".f32." : ".f16.") +
      kFormats[static_cast<int>(c.shape.a)] + "." + kFormats[static_cast<int>(c.shape.b)] + " " +
      registerList("%d", accumulatorCount(c)) + ", " +
      (c.registersA ? registerList(prefix.c_str(), 4) : "%da") + ", %db, " +
      (step == 0 ? "%pFalse" : "%pTrue") + sign(c.negateA) + sign(c.negateB);
  if (c.bytesPerElement() == 2) {
    text += (c.registersA ? "" : flag(c.transposeA)) + flag(c.transposeB);
  }
  return text + ";\n";
}

WgmmaKernel::WgmmaKernel(const WgmmaCase &c) {
  const TileLayout a = layoutA(c);
  const TileLayout b = layoutB(c);
  declarations = ".reg .pred %pFalse, %pTrue, %pTest;\n.reg .b32 %tid, %smem, %at, %x<8>, %d<" +
                 std::to_string(accumulatorCount(c)) +
                 ">;\n.reg .b64 %pImage, %pA, %pOut, %da, %db, %wide, %base;\n"
                 "setp.ne.u32 %pFalse, 0, 0;\nsetp.eq.u32 %pTrue, 0, 0;\n"
                 "ld.param.u64 %pImage, [p0];\nld.param.u64 %pA, [p1];\nld.param.u64 %pOut, [p2];\n"
                 "mov.u32 %tid, %tid.x;\nmov.u32 %smem, smem;\n"
                 "shr.u32 %x0, %smem, 4;\ncvt.u64.u32 %base, %x0;\n"
                 "add.u64 %da, %base, " +
                 number(descriptorBits(a)) + ";\nadd.u64 %db, %base, " +
                 number(descriptorBits(b) + a.sizeBytes() / 16) + ";\n";
  fill = "mul.wide.u32 %wide, %tid, 16;\nadd.u64 %pImage, %pImage, %wide;\n"
         "shl.b32 %at, %tid, 4;\nadd.u32 %at, %at, %smem;\n";
  for (std::uint32_t at = 0; at < a.sizeBytes() + b.sizeBytes(); at += 16 * kThreads) {
    const std::string offset = "+" + std::to_string(at) + "]";
    const bool isHalf = at + 16 * kThreads > a.sizeBytes() + b.sizeBytes();
    fill += isHalf ? "setp.lt.u32 %pTest, %tid, 64;\n" : "";
    fill += (isHalf ? "@%pTest " : "") +
            ("ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%pImage" + offset) + ";\n";
    fill += (isHalf ? "@%pTest " : "") + ("st.shared.v4.b32 [%at" + offset) +
            ", {%x0, %x1, %x2, %x3};\n";
  }
  if (c.registersA) {
    fill += "mul.wide.u32 %wide, %tid, 16;\nadd.u64 %pA, %pA, %wide;\n";
  }
  for (int step = 0; step < c.steps; ++step) {
    if (c.registersA) {
      const std::string prefix = "%ra" + std::to_string(step) + "_";
      declarations += ".reg .b32 " + prefix + "<4>;\n";
      fill += "ld.global.v4.b32 " + registerList(prefix.c_str(), 4) + ", [%pA+" +
              std::to_string(step * 16 * kThreads) + "];\n";
    }
    if (step > 0) {
      multiply += "add.u64 %da, %da, " + number(a.advance() / 16) + ";\nadd.u64 %db, %db, " +
                  number(b.advance() / 16) + ";\n";
    }
    multiply += multiplyText(c, step);
  }
  store = "mul.wide.u32 %wide, %tid, 4;\nadd.u64 %pOut, %pOut, %wide;\n";
  for (int i = 0; i < accumulatorCount(c); ++i) {
    store += "st.global.b32 [%pOut+" + std::to_string(i * 4 * kThreads) + "], %d" +
             std::to_string(i) + ";\n";
  }
}

std::string WgmmaKernel::text() const {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 smem[];\n"
         ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n" +
         declarations + fill + publish + fence + multiply + commit + wait + store + "ret;\n}\n";
}

std::uint32_t lineOf(const std::string &text, const std::string &piece) {
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return 1 + static_cast<std::uint32_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Finite numbers around one.
static std::uint32_t randomCode(MmaFormat format, std::mt19937 &random) {
  const auto raw = static_cast<std::uint32_t>(random());
  switch (format) {
  case MmaFormat::E4M3:
    return raw & 0xb7;
  case MmaFormat::E5M2:
    return raw & 0xbb;
  case MmaFormat::F16:
    return (raw & 0x87ff) | 0x3800;
  case MmaFormat::BF16:
    return (raw & 0x80ff) | 0x3f00;
  case MmaFormat::TF32:
    return (raw & 0x80ffffff) | 0x3f000000;
  }
  return 0;
}

WgmmaOperandCodes::WgmmaOperandCodes(const WgmmaCase &c) {
  std::mt19937 random(20261201);
  const auto depth = static_cast<std::size_t>(c.depth());
  a.assign(kRowsA, std::vector<std::uint32_t>(depth));
  b.assign(static_cast<std::size_t>(c.shape.n), std::vector<std::uint32_t>(depth));
  for (auto &row : a) {
    for (std::uint32_t &code : row) {
      code = randomCode(c.shape.a, random);
    }
  }
  for (auto &column : b) {
    for (std::uint32_t &code : column) {
      code = randomCode(c.shape.b, random);
    }
  }
}

std::vector<std::uint32_t> expectedAccumulators(const WgmmaCase &c,
                                                const WgmmaOperandCodes &codes) {
  const StepRule *rule = findWgmmaRule(c.shape, "90a");
  const auto k = static_cast<std::size_t>(c.shape.k);
  const std::uint32_t sign = 1U << (8 * c.bytesPerElement() - 1);
  const auto signedCodes = [sign](std::vector<std::uint32_t> values, bool isNegated) {
    for (std::uint32_t &value : values) {
      value ^= isNegated ? sign : 0;
    }
    return values;
  };
  const auto element = [&](std::size_t row, std::size_t column) {
    const std::vector<std::uint32_t> a = signedCodes(codes.a[row], c.negateA);
    const std::vector<std::uint32_t> b = signedCodes(codes.b[column], c.negateB);
    std::uint32_t value = 0;
    for (std::size_t at = 0; at < a.size(); at += k) {
      value = dotProduct(value, std::span(a).subspan(at, k), std::span(b).subspan(at, k), c.shape.a,
                         c.shape.b, *rule);
    }
    return value;
  };
  std::vector<std::uint32_t> result;
  for (int i = 0; i < accumulatorCount(c); ++i) {
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      const auto at = [&](int index) { // index of an f32 accumulator
        const auto row =
            static_cast<std::size_t>(index / 2 % 2 * 8) + thread / 32 * 16 + thread % 32 / 4;
        return element(row, static_cast<std::size_t>(index / 4 * 8 + index % 2) + thread % 4 * 2);
      };
      result.push_back(
          c.shape.accumulator == MmaAccumulator::F32 ? at(i) : at(2 * i) | at(2 * i + 1) << 16);
    }
  }
  return result;
}

static void placeTile(const TileLayout &layout,
                      const std::vector<std::vector<std::uint32_t>> &codes, std::uint8_t *image) {
  for (std::uint32_t row = 0; row < codes.size(); ++row) {
    for (std::uint32_t k = 0; k < codes[row].size(); ++k) {
      std::memcpy(image + layout.offsetOf(row, k), &codes[row][k], layout.elementBytes);
    }
  }
}

/// A fragments of every step: [step][thread][register].
static std::vector<std::uint32_t> fragmentsA(const WgmmaCase &c, const WgmmaOperandCodes &codes) {
  const int bytes = c.bytesPerElement();
  std::vector<std::uint32_t> words;
  for (int step = 0; step < c.steps; ++step) {
    for (int thread = 0; thread < kThreads; ++thread) {
      for (int r = 0; r < 4; ++r) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8;
        std::uint32_t word = 0;
        for (int i = 0; i < 4 / bytes; ++i) {
          const int k = step * c.shape.k + (4 / bytes) * (thread % 4) + i + r / 2 * 16 / bytes;
          word |= codes.a[static_cast<std::size_t>(row)][static_cast<std::size_t>(k)]
                  << (8 * bytes * i);
        }
        words.push_back(word);
      }
    }
  }
  return words;
}

WgmmaRun runWgmma(const WgmmaCase &c, const WgmmaOperandCodes &codes, const std::string &text,
                  LaunchRequest options, std::uint32_t threads) {
  const TileLayout a = layoutA(c);
  const TileLayout b = layoutB(c);
  std::vector<std::uint8_t> image(a.sizeBytes() + b.sizeBytes());
  placeTile(a, codes.a, image.data());
  placeTile(b, codes.b, image.data() + a.sizeBytes());
  GlobalMemory memory{std::uint64_t{1} << 26};
  const auto upload = [&memory](const void *data, std::size_t bytes) {
    const std::uint64_t address = memory.allocate(bytes);
    EXPECT_TRUE(memory.copyIn(address, data, bytes));
    return address;
  };
  const std::vector<std::uint32_t> fragments = fragmentsA(c, codes);
  WgmmaRun run;
  run.accumulators.resize(static_cast<std::size_t>(accumulatorCount(c)) * kThreads);
  const std::size_t outBytes = run.accumulators.size() * 4;
  const std::uint64_t arguments[] = {upload(image.data(), image.size()),
                                     upload(fragments.data(), fragments.size() * 4),
                                     upload(run.accumulators.data(), outBytes)};
  Module module;
  PtxError error;
  if (!loadModule(text, "90a", module, error)) {
    ADD_FAILURE() << "line " << error.line << ": " << error.message << "\n" << text;
    return run;
  }
  options.module = &module;
  options.kernel = &module.kernels.at(0);
  options.block = {.x = threads};
  options.dynamicSharedBytes = static_cast<std::uint32_t>(image.size());
  options.params.resize(sizeof(arguments));
  std::memcpy(options.params.data(), arguments, sizeof(arguments));
  run.result = runGrid(options, memory, *findProfileByArch("90a"));
  EXPECT_TRUE(memory.copyOut(run.accumulators.data(), arguments[2], outBytes));
  return run;
}

} // namespace fp8jit::emulator::testing
