// Reading cases and wrapping them in a kernel.
#include "tests/emulator/forms/form_case.h"

#include <charconv>
#include <fstream>
#include <sstream>

namespace fp8jit::emulator::testing {

RegisterInfo registerInfo(std::string_view name) {
  if (name.empty()) {
    return {};
  }
  const bool isNumbered = name.size() > 1 && name[1] >= '0' && name[1] <= '9';
  if (isNumbered) { // r0 .. and f0 ..
    return {.bits = 32, .isFloat = name[0] == 'f'};
  }
  if (name.size() == 1) {
    return {.bits = 32};
  }
  switch (name[0]) {
  case 'h':
    return {.bits = 16};
  case 'f':
    return {.bits = 32, .isFloat = true};
  case 'd':
    return {.bits = 64, .isFloat = true};
  case 'x':
    return {.bits = 64};
  case 'p':
    return {.bits = 1};
  default:
    return {};
  }
}

static std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  const std::size_t end = text.find_last_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin, end - begin + 1);
}

/// Hexadecimal numbers, or "nan".
static bool readValues(std::string_view text, LaneValues &lanes) {
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) {
    std::uint64_t value = 0;
    const bool isNan = word == "nan";
    const char *const end = word.data() + word.size();
    if (!isNan && std::from_chars(word.data(), end, value, 16).ptr != end) {
      return false;
    }
    lanes.values.push_back(value);
    lanes.isAnyNan.push_back(isNan);
  }
  return !lanes.values.empty();
}

/// `in a = ...`, `out fd = ...`, `out fd ~ 4 = ...`: `text` begins behind the first word.
static bool readLanes(std::string_view text, std::vector<LaneValues> &list) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return false;
  }
  std::string_view name = trimmed(text.substr(0, equals));
  LaneValues lanes;
  if (const std::size_t tilde = name.find('~'); tilde != std::string_view::npos) {
    lanes.toleranceUlps = std::stoull(std::string(trimmed(name.substr(tilde + 1))));
    name = trimmed(name.substr(0, tilde));
  }
  lanes.name = name;
  if (registerInfo(name).bits == 0 || !readValues(text.substr(equals + 1), lanes)) {
    return false;
  }
  list.push_back(lanes);
  return true;
}

/// One `//!` line; false if it is not understood.
static bool readDirective(std::string_view text, FormCase &formCase) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, blank);
  const std::string_view rest = trimmed(text.substr(blank));
  if (word == "in") {
    return readLanes(rest, formCase.inputs);
  }
  if (word == "out") {
    return readLanes(rest, formCase.outputs);
  }
  if (word == "arch") {
    formCase.arch = rest;
  } else if (word == "threads") {
    formCase.threads = static_cast<unsigned>(std::stoul(std::string(rest)));
  } else if (word == "blocks") {
    formCase.blocks = static_cast<unsigned>(std::stoul(std::string(rest)));
  } else if (word == "module") {
    formCase.module += std::string(rest) + "\n";
  } else {
    return false;
  }
  return true;
}

std::vector<FormCase> readCases(const std::string &path, std::string &problem) {
  std::vector<FormCase> cases;
  std::ifstream file(path);
  const std::string name = path.substr(path.rfind('/') + 1);
  unsigned line = 0;
  for (std::string text; std::getline(file, text);) {
    const std::string where = name + ":" + std::to_string(++line);
    const std::string_view view = trimmed(text);
    if (view.substr(0, 8) == "//! test") {
      const std::string_view title = trimmed(view.substr(8));
      const std::size_t colon = std::min(title.find(": "), title.size());
      cases.push_back({});
      cases.back().where = where;
      cases.back().opcode = title.substr(0, colon);
      cases.back().title = title;
    } else if (cases.empty()) {
      continue; // the comment at the head of the file
    } else if (view.substr(0, 3) == "//!") {
      if (!readDirective(trimmed(view.substr(3)), cases.back())) {
        problem = where + ": cannot read \"" + text + "\"";
      }
    } else if (!view.empty()) {
      cases.back().body += text + "\n";
    }
  }
  if (cases.empty()) {
    problem = path + " has no cases";
  }
  return cases;
}

/// Loads the 64-bit word %xt into the register `name`.
static std::string loadRegister(const std::string &name) {
  const RegisterInfo info = registerInfo(name);
  const std::string reg = "%" + name;
  switch (info.bits) {
  case 1:
    return "and.b64 %xt, %xt, 1; setp.ne.b64 " + reg + ", %xt, 0;\n";
  case 16:
    return "cvt.u16.u64 " + reg + ", %xt;\n";
  case 32:
    return "cvt.u32.u64 %rt, %xt; mov.b32 " + reg + ", %rt;\n";
  default:
    return "mov.b64 " + reg + ", %xt;\n";
  }
}

static std::string storeRegister(const std::string &name) {
  const RegisterInfo info = registerInfo(name);
  const std::string reg = "%" + name;
  switch (info.bits) {
  case 1:
    return "selp.b64 %xt, 1, 0, " + reg + ";\n";
  case 16:
    return "cvt.u64.u16 %xt, " + reg + ";\n";
  case 32:
    return "mov.b32 %rt, " + reg + "; cvt.u64.u32 %xt, %rt;\n";
  default:
    return "mov.b64 %xt, " + reg + ";\n";
  }
}

/// An input a, b or c stands in registers of every kind; another name in that register alone.
static std::string loadInput(const std::string &name) {
  if (name != "a" && name != "b" && name != "c") {
    return loadRegister(name);
  }
  std::string text;
  for (const std::string prefix : {"", "h", "f", "d", "x", "p"}) {
    text += loadRegister(prefix + name);
  }
  return text;
}

/// Registers, the thread's index and the addresses of its cells: %xg in global, %ms in shared
/// memory (%xs: generic), %bg and %bs of the first thread's cells, %bm of the whole block's extra
/// shared memory.
static std::string prologue(const FormCase &formCase) {
  return ".reg .pred %pa, %pb, %pc, %pd, %pe;\n.reg .b16 %ha, %hb, %hc, %hd, %he;\n"
         ".reg .b32 %a, %b, %c, %d, %e, %g, %i, %rt, %tid, %ms, %bs, %bm, %r<130>;\n"
         ".reg .f32 %fa, %fb, %fc, %fd, %fe, %fg, %fi, %f<130>;\n"
         ".reg .f64 %da, %db, %dc, %dd, %de;\n"
         ".reg .b64 %xa, %xb, %xc, %xd, %xe, %xg, %xs, %xt, %xi, %xo, %bg, %step;\n"
         ".shared .align 1024 .b8 extra[16384];\n"
         ".shared .align 128 .b8 cells[" +
         std::to_string(formCase.threads * kCellBytes) +
         "];\n"
         "mov.u32 %tid, %tid.x; mov.u32 %rt, %ctaid.x;\n"
         "mad.lo.u32 %rt, %rt, " +
         std::to_string(formCase.threads) +
         ", %tid;\n"
         "ld.param.u64 %xi, [p0]; ld.param.u64 %xo, [p1]; ld.param.u64 %bg, [p2];\n"
         "mul.wide.u32 %step, %rt, 64; add.s64 %xg, %bg, %step;\n"
         "mul.wide.u32 %step, %rt, 8; add.s64 %xi, %xi, %step; add.s64 %xo, %xo, %step;\n"
         "mov.u32 %bs, cells; mov.u32 %bm, extra; mad.lo.u32 %ms, %tid, 64, %bs;\n"
         "cvt.u64.u32 %xs, %ms; cvta.shared.u64 %xs, %xs;\n"
         "mov.b64 %xa, 0; mov.b64 %xb, 0; mov.b64 %xc, 0;\n";
}

std::string kernelOf(const FormCase &formCase, unsigned &bodyLine) {
  const unsigned total = formCase.threads * formCase.blocks;
  const std::string stride = std::to_string(total * 8);
  std::string text =
      ".version 8.7\n.target sm_" + formCase.arch + "\n.address_size 64\n" + formCase.module +
      ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, "
      ".param .align 64 .b8 maps[640])\n.maxntid " +
      std::to_string(formCase.threads) + "\n" +
      (formCase.blocks > 1 ? ".reqnctapercluster " + std::to_string(formCase.blocks) + "\n" : "") +
      "{\n" + prologue(formCase);
  for (const LaneValues &input : formCase.inputs) {
    text += "ld.global.b64 %xt, [%xi]; add.s64 %xi, %xi, " + stride + ";\n" + loadInput(input.name);
  }
  text += "st.shared.b64 [%ms], %xa; st.shared.b64 [%ms+8], %xb; st.shared.b64 [%ms+16], %xc;\n"
          "mov.b64 %xt, 0;\n";
  for (unsigned offset = 24; offset < kCellBytes; offset += 8) {
    text += "st.shared.b64 [%ms+" + std::to_string(offset) + "], %xt;\n";
  }
  text += "st.global.b64 [%xg], %xa; st.global.b64 [%xg+8], %xb; st.global.b64 [%xg+16], %xc;\n"
          "bar.sync 0;\n{\n";
  bodyLine = 1;
  for (const char c : text) {
    bodyLine += c == '\n' ? 1 : 0;
  }
  text += formCase.body + "}\n";
  for (const LaneValues &output : formCase.outputs) {
    text += storeRegister(output.name) + "st.global.b64 [%xo], %xt; add.s64 %xo, %xo, " + stride +
            ";\n";
  }
  return text + "ret;\n}\n";
}

} // namespace fp8jit::emulator::testing
