// fp8jit emulate: results, refusals, reports and traces of hand-written kernels.
#include "support/npy.h"
#include "tests/cli/command_runner.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fp8jit {
namespace {

using testing::CommandResult;
using testing::CommandRunner;
using testing::numberOf;
using testing::textOf;

/// scale(in, out, factor, n): out[i] = in[i] * factor. store_far(p): writes beyond p. load(map,
/// out): copies a box of 16 floats to out by a tensor copy.
constexpr const char *kPtx = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 p_in, .param .u64 p_out, .param .f32 p_factor, .param .u32 p_n)
{
  .reg .pred %p;
  .reg .b32 %i, %n, %b, %t;
  .reg .f32 %x, %f;
  .reg .b64 %in, %out, %at, %off;
  ld.param.u64 %in, [p_in];
  ld.param.u64 %out, [p_out];
  ld.param.f32 %f, [p_factor];
  ld.param.u32 %n, [p_n];
  mov.u32 %b, %ctaid.x;
  mov.u32 %t, %tid.x;
  mov.u32 %i, %ntid.x;
  mad.lo.u32 %i, %i, %b, %t;
  setp.ge.u32 %p, %i, %n;
  @%p ret;
  mul.wide.u32 %off, %i, 4;
  add.u64 %at, %in, %off;
  ld.global.f32 %x, [%at];
  mul.f32 %x, %x, %f;
  add.u64 %at, %out, %off;
  st.global.f32 [%at], %x;
  ret;
}
.visible .entry store_far(.param .u64 p_out)
{
  .reg .b64 %out;
  ld.param.u64 %out, [p_out];
  st.global.u32 [%out+4096], 1;
  ret;
}
.visible .entry load(.param .align 64 .b8 p_map[128], .param .u64 p_out)
{
  .reg .pred %done;
  .reg .b32 %bar, %tile, %x, %y;
  .reg .b64 %map, %out;
  .shared .align 128 .b8 tile[128];
  .shared .align 8 .b64 bar;
  mov.u32 %bar, bar;
  mov.u32 %tile, tile;
  mov.b64 %map, p_map;
  cvta.param.u64 %map, %map;
  ld.param.u64 %out, [p_out];
  mbarrier.init.shared::cta.b64 [%bar], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64;
  mov.u32 %x, 2;
  mov.u32 %y, 1;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map, {%x, %y}], [%bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;
  @!%done bra WAIT;
  mov.u32 %y, 0;
COPY:
  add.u32 %x, %tile, %y;
  ld.shared.u32 %x, [%x];
  st.global.u32 [%out], %x;
  add.u64 %out, %out, 4;
  add.u32 %y, %y, 4;
  setp.lt.u32 %done, %y, 64;
  @%done bra COPY;
  ret;
}
)";

class EmulateCommandTest : public ::testing::Test {
protected:
  std::string save(const char *name, TensorDims dims, const std::vector<float> &values) const {
    HostTensor tensor{ElementType::F32, std::move(dims), {}};
    tensor.bytes.resize(values.size() * sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    const std::string path = runner.folder().file(name);
    EXPECT_OK(writeNpy(path, tensor));
    return path;
  }

  std::vector<float> load(const char *name) const {
    llvm::Expected<HostTensor> tensor = readNpy(runner.folder().file(name));
    if (!tensor) {
      ADD_FAILURE() << takeFailure(tensor.takeError()).text();
      return {};
    }
    std::vector<float> values(static_cast<std::size_t>(tensor->count()));
    std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    return values;
  }

  /// The words of a run of `entry` with `arguments`.
  std::vector<std::string> words(const char *entry, const std::vector<std::string> &arguments,
                                 const std::vector<std::string> &flags = {}) const {
    std::vector<std::string> all = {"emulate", ptx, "--entry", entry};
    all.insert(all.end(), flags.begin(), flags.end());
    for (const std::string &argument : arguments) {
      all.insert(all.end(), {"--arg", argument});
    }
    return all;
  }

  std::string outOf(const char *name, const char *layout) const {
    return "out:" + runner.folder().file(name) + ":" + layout;
  }

  CommandRunner runner;
  std::string ptx = runner.folder().write("kernel.ptx", kPtx);
};

} // namespace

TEST_F(EmulateCommandTest, RunsAKernelOnFilesInEveryMode) {
  const std::string x = save("x.npy", {6}, {1, 2, 3, 4, 5, 6});
  for (const char *mode : {"eager", "lazy", "random:3"}) {
    const JsonValue json =
        runner.runJson(words("scale", {"in:" + x, outOf("y.npy", "f32:6"), "f32:0.5", "u32:6"},
                             {"--grid", "2", "--block", "4,1,1", "--mode", mode, "--counters"}));

    EXPECT_EQ(load("y.npy"), (std::vector<float>{0.5F, 1, 1.5F, 2, 2.5F, 3})) << mode;
    EXPECT_EQ(textOf(json, "arch"), "sm_90a");
    EXPECT_EQ(textOf(json, "grid"), "2,1,1");
    EXPECT_EQ(textOf(json, "mode"), mode);
    EXPECT_EQ(textOf(json, "time_kind"), "modelled");
    EXPECT_EQ(numberOf(json, "blocks"), 2.0);
    EXPECT_GT(numberOf(json, "warp_instructions"), 10.0);
  }
}

TEST_F(EmulateCommandTest, WritesMemoryBackInPlace) {
  const std::string x = save("x.npy", {2}, {1, -2});

  const CommandResult result =
      runner.run(words("scale", {"inout:" + x, "ref:0", "f32:3", "u32:2"}, {"--block", "32,1,1"}));

  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(load("x.npy"), (std::vector<float>{3, -6}));
}

TEST_F(EmulateCommandTest, DescribesTensorMaps) {
  std::vector<float> values(3 * 20);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i);
  }
  const std::string x = save("x.npy", {3, 20}, values);

  const CommandResult result =
      runner.run(words("load", {"map:" + x + ",box=4x4", outOf("y.npy", "f32:4x4")}));

  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(load("y.npy"),
            (std::vector<float>{22, 23, 24, 25, 42, 43, 44, 45, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(EmulateCommandTest, AFaultEndsWithTheReport) {
  const CommandResult result = runner.run(words("store_far", {"zeros:u8:16"}));

  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err.find("error: DriverError: kernel store_far: "), result.err.find("error:"));
  EXPECT_NE(result.err.find("line 32: st.global"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("past the end"), std::string::npos) << result.err;
}

TEST_F(EmulateCommandTest, TracesAWarpWithItsValues) {
  const std::string x = save("x.npy", {4}, {1, 2, 3, 4});
  const CommandResult result =
      runner.run(words("scale", {"in:" + x, outOf("y.npy", "f32:4"), "f32:2", "u32:4"},
                       {"--grid", "2", "--block", "4", "--trace", "0:0"}));

  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("line 23 lanes 0000000f mul.f32 ([0x3f800000 0x40000000 0x40400000 "
                            "0x40800000], 0x40000000) -> [0x40000000 0x40800000 0x40c00000 "
                            "0x41000000]"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("| mul.f32 %x, %x, %f;"), std::string::npos) << result.err;
  EXPECT_EQ(llvm::StringRef(result.err).count("mul.f32 %x"), 1U) << "one warp of one block";
}

TEST_F(EmulateCommandTest, RefusesBeforeItRuns) {
  const std::string x = save("x.npy", {4}, {1, 2, 3, 4});
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {words("none", {}), "kernel 'none' is not in the PTX, which has scale, store_far, load"},
      {words("scale", {"u32:1"}), "found 1 arguments, but the kernel takes 4 parameters of 8, 8, "
                                  "4, 4 bytes"},
      {words("scale", {"u32:1", "u64:1", "f32:1", "u32:1"}), "argument 0: found 4 bytes"},
      {words("scale", {"ref:0", "u64:1", "f32:1", "u32:1"}), "argument 0: found a reference"},
      {words("scale", {"in:/absent.npy", "u64:1", "f32:1", "u32:1"}), "argument 0: file /absent"},
      {words("scale", {"f16:1"}), "argument 0: found 'f16:1', expected KIND:VALUE"},
      {words("load", {"map:" + x + ",box=4x4", "u64:1"}), "argument 0: box: found 2 numbers"},
      {words("load", {"map:" + x + ",box=3", "u64:1"}), "cuTensorMapEncodeTiled"},
      {words("scale", {}, {"--block", "0"}), "flag --block: found '0'"},
      {words("scale", {}, {"--grid", "1,2,3,4"}), "flag --grid: found '1,2,3,4'"},
      {words("scale", {}, {"--mode", "fast"}), "flag --mode: found 'fast', expected eager"},
      {words("scale", {}, {"--mode", "random"}), "expected eager, lazy or random:SEED"},
      {words("scale", {}, {"--races", "no"}), "flag --races: found 'no', expected on or off"},
      {words("scale", {}, {"--trace", "a:b"}), "flag --trace: found 'a:b'"},
      {words("scale", {}, {"--arch", "sm_75"}), "emulator:sm_75"},
      {{"emulate", x, "--entry", "k"}, "no .target line"},
      {{"emulate", "/absent.ptx", "--entry", "k"}, "/absent.ptx: does not exist"},
  };
  for (const auto &[line, message] : cases) {
    const CommandResult result = runner.run(line);
    EXPECT_EQ(result.status, 1) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << message << ": " << result.err;
  }
  EXPECT_EQ(runner.run({"emulate", ptx}).status, 2) << "--entry is missing";
}

TEST_F(EmulateCommandTest, SaysWhichLineOfThePtxIsWrong) {
  const std::string bad = runner.folder().write(
      "bad.ptx", ".version 8.7\n.target sm_90a\n.address_size 64\n.entry k()\n{\n  frob.u32;\n}\n");

  const JsonValue json = runner.runJson({"emulate", bad, "--entry", "k"}, 1);
  const CommandResult text = runner.run({"emulate", bad, "--entry", "k"});

  EXPECT_EQ(textOf(*json.find("error"), "code"), "DriverError");
  EXPECT_NE(text.err.find("line 6; error: "), std::string::npos) << text.err;
}

} // namespace fp8jit
