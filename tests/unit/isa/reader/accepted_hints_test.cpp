// What tells caches what to keep, and what orders grids that overlap, is read and has no effect;
// what is refused says its name and why.

#include "core/error/error.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::accepted_hints_test {
namespace {

/// A kernel that stores 7 to its parameter, with a line before and one behind.
std::string module_with(const std::string& line) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 out) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>; .reg .f32 %f<9>;\n"
         "ld.param.u64 %rd1, [out]; mov.u32 %r1, 7; mov.u64 %rd2, 0; setp.ne.u32 %p1, %r1, 0;\n" +
         line + "\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
}

std::string error_of(const std::string& line) {
  try {
    load_module_text(module_with(line), "bad.ptx");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(AcceptedHints, HaveNoEffect) {
  for (const std::string line :
       {"createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd2;",
        "@%p1 createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd2, [%rd1], 64, 128;",
        "createpolicy.cvt.L2.b64 %rd2, 0x12F0000000000000;",
        "applypriority.global.L2::evict_normal [%rd1], 128;", "discard.global.L2 [%rd1], 128;",
        "discard.L2 [%rd1], 128;", "prefetch.tensormap [%rd1];",
        "prefetch.global.L2::evict_last [%rd1];", "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents;", "@!%p1 griddepcontrol.wait;",
        "ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd2;",
        "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.v2.u32 {%r2, %r3}, [%rd1], %rd2;",
        "st.global.L2::cache_hint.u32 [%rd1+8], %r1, %rd2;",
        "st.global.L1::evict_last.L2::cache_hint.v2.u32 [%rd1+8], {%r1, %r1}, %rd2;",
        "atom.global.add.L2::cache_hint.u32 %r2, [%rd1+8], %r1, %rd2;",
        "atom.global.cas.L2::cache_hint.b32 %r2, [%rd1+8], 0, %r1, %rd2;",
        "red.global.add.L2::cache_hint.u32 [%rd1+8], %r1, %rd2;"}) {
    SCOPED_TRACE(line);
    ASSERT_EQ(error_of(line), "");
    for (const bool lowered : {false, true}) {
      IsaBench bench(module_with(line), lowered);
      const std::uint64_t out = bench.allocate(256);
      bench.run("k", {1, 1, 1}, {1, 1, 1}, out);
      EXPECT_EQ(bench.values<std::uint32_t>(out, 1)[0], 7u);
    }
  }
}

TEST(AcceptedHints, ACacheHintDoesWhatItsInstructionDoes) {
  IsaBench bench(
      module_with("st.global.L2::cache_hint.u32 [%rd1+4], 5, %rd2;\n"
                  "red.global.add.L2::cache_hint.u32 [%rd1+4], %r1, %rd2;\n"
                  "ld.global.L2::cache_hint.u32 %r1, [%rd1+4], %rd2;"));
  const std::uint64_t out = bench.allocate(256);
  bench.run("k", {1, 1, 1}, {1, 1, 1}, out);
  EXPECT_EQ(bench.values<std::uint32_t>(out, 2), (std::vector<std::uint32_t>{12, 12}));
}

TEST(AcceptedHints, TheirOperandsAreChecked) {
  EXPECT_NE(error_of("ld.global.L2::cache_hint.u32 %r2, [%rd1], %r1;").find("%r1 has 32 bits"),
            std::string::npos);
  EXPECT_NE(error_of("ld.global.u32 %r2, [%rd1], %rd2;").find("takes 2 operands, not 3"),
            std::string::npos);
  EXPECT_NE(error_of("createpolicy.L2::evict_last.b64 %rd2;").find("needs .fractional"),
            std::string::npos);
  EXPECT_NE(error_of("griddepcontrol.stop;").find("needs .wait or .launch_dependents"),
            std::string::npos);
}

TEST(RefusedInstructions, SayWhy) {
  const std::pair<const char*, const char*> refused[] = {
      {"add.rn.f32x2 %rd2, %rd2, %rd2;", "add.rn.f32x2: modifier .f32x2 is not supported - pairs"},
      {"fma.rn.f32x2 %rd2, %rd2, %rd2, %rd2;", "modifier .f32x2 is not supported - pairs of f32"},
      {"min.f32 %f1, %f2, %f3, %f4;", "min.f32: of three values is not supported"},
      {"redux.sync.min.f32 %f1, %f2, 0xffffffff;", "redux.sync.min.f32: only .u32, .s32 and .b32"},
  };
  for (const auto& [line, why] : refused) {
    const std::string message = error_of(line);
    EXPECT_EQ(message.find("bad.ptx:7:1: "), 0u) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
  }
}

TEST(RefusedInstructions, KernelsLaunchNoKernels) {
  for (const std::string name : {"cudaLaunchDeviceV2", "__cuda_syscall_cnpv2GetParameterBufferV2",
                                 "cudaGetParameterBufferV2"}) {
    const std::string text =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".extern .func (.param .b64 r) " +
        name +
        "(.param .b64 a);\n"
        ".visible .entry k(.param .u64 out) {\n.reg .b64 %rd<4>;\n{\n"
        ".param .b64 p; .param .b64 r;\nst.param.b64 [p], 0;\n"
        "call.uni (r), " +
        name + ", (p);\nld.param.b64 %rd1, [r];\n}\nret;\n}\n";
    try {
      load_module_text(text, "bad.ptx");
      ADD_FAILURE() << name;
    } catch (const UserError& error) {
      EXPECT_EQ(error.what(),
                "bad.ptx:10:15: kernels that launch kernels are not supported in "
                "this release (" +
                    name + " is called) - launch them from the host");
    }
  }
}

}  // namespace
}  // namespace lockstep::isa::accepted_hints_test
