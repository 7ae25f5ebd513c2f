/// What of a module is made when: programs of the kernels that are asked for, errors of what they
/// reach, and how many registers their blocks leave them.
#include "models/isa/module/module_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error/error.hpp"
#include "models/isa/load.hpp"
#include "models/isa/reader/reader.hpp"
#include "models/isa/text/disassemble.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::module_loader_test {
namespace {

const std::string header = ".version 7.8\n.target sm_75\n.address_size 64\n";

/// Stores what `lines` leave in %r1; `bounds` stand behind its parameters.
std::string kernel(const std::string& name, const std::string& lines,
                   const std::string& bounds = "") {
  return ".visible .entry " + name + "(.param .u64 out)\n" + bounds +
         "{\n.reg .b32 %r<4>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, "
         "%tid.x;\n" +
         lines + "st.global.u32 [%rd1], %r1;\nret;\n}\n";
}

const std::string square =
    ".func (.param .b32 y) square(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [x];\n"
    "mul.lo.u32 %r2, %r1, %r1;\nst.param.b32 [y], %r2;\nret;\n}\n";
const std::string call_square =
    "{ .param .b32 p; .param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), square, (p);\n"
    "ld.param.b32 %r1, [q];\n}\n";
const std::string unsupported = "nonsense.u32 %r1, %r1;\n";

Module load_named(const std::string& text, const std::vector<std::string>& names) {
  ModuleLoader loader(read_ptx(text, "some.ptx"));
  Module module = loader.module();
  std::vector<std::uint32_t> kernels;
  for (const std::string& name : names)
    kernels.push_back(static_cast<std::uint32_t>(module.kernel_index(name)));
  loader.load(module, kernels);
  return module;
}

std::string message_of(const std::function<void()>& load) {
  try {
    load();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ModuleLoader, MakesTheProgramsOfNamedKernelsOnly) {
  const Module module =
      load_named(header + kernel("a", "") + kernel("b", "") + kernel("c", ""), {"b"});
  ASSERT_EQ(module.kernels.size(), 3u);
  EXPECT_FALSE(is_loaded(module.kernels[0]));
  EXPECT_TRUE(is_loaded(module.kernels[1]));
  EXPECT_FALSE(is_loaded(module.kernels[2]));
}

TEST(ModuleLoader, KnowsNamesAndParametersOfKernelsThatAreNotLoaded) {
  const Module module = load_named(header + kernel("a", "", ".maxntid 96, 1, 1\n"), {});
  EXPECT_EQ(module.kernel_index("a"), 0);
  ASSERT_EQ(module.kernels[0].lowered.parameters.size(), 1u);
  EXPECT_EQ(module.kernels[0].lowered.parameters[0].name, "out");
  EXPECT_EQ(module.kernels[0].lowered.parameter_bytes, 8u);
  EXPECT_EQ(module.kernels[0].reference.maximum_threads, 96u);
}

TEST(ModuleLoader, MakesTheSameProgramWhateverElseIsLoaded) {
  const std::string text = header + square + kernel("a", call_square, ".maxnreg 32\n") +
                           kernel("b", "add.u32 %r1, %r1, 1;\n" + call_square);
  const Module alone = load_named(text, {"b"}), all = load_module_text(text, "some.ptx");
  EXPECT_EQ(disassemble(alone.kernels[1].lowered), disassemble(all.kernels[1].lowered));
  EXPECT_EQ(disassemble(alone.kernels[1].reference), disassemble(all.kernels[1].reference));
  EXPECT_EQ(alone.kernels[1].lowered.registers_per_thread,
            all.kernels[1].lowered.registers_per_thread);
}

TEST(ModuleLoader, LoadsAKernelThatIsLaunchedLater) {
  ModuleLoader loader(read_ptx(header + kernel("a", "") + kernel("b", ""), "some.ptx"));
  Module module = loader.module();
  loader.load(module, std::vector<std::uint32_t>{1});
  const std::string before = disassemble(module.kernels[1].lowered);
  loader.load(module, std::vector<std::uint32_t>{0, 1});
  EXPECT_TRUE(is_loaded(module.kernels[0]));
  EXPECT_EQ(disassemble(module.kernels[1].lowered), before);
}

TEST(ModuleLoader, ForgivesWhatAKernelDoesThatNobodyLaunches) {
  const std::string text = header + kernel("bad", unsupported) + kernel("good", "");
  EXPECT_TRUE(is_loaded(load_named(text, {"good"}).kernels[1]));
  EXPECT_THAT(message_of([&] {
                load_named(text, {"good", "bad"});
              }),
              testing::StartsWith("some.ptx:9:1: "));
}

TEST(ModuleLoader, ReportsWhatAFunctionDoesToAKernelThatCallsIt) {
  std::string wrong = square;
  wrong.replace(wrong.find("mul.lo.u32"), 10, "nonsense.x");
  const std::string text = header + wrong + kernel("a", call_square) + kernel("b", "");
  EXPECT_TRUE(is_loaded(load_named(text, {"b"}).kernels[1]));
  EXPECT_THAT(message_of([&] { load_named(text, {"a"}); }), testing::StartsWith("some.ptx:8:1: "));
}

TEST(ModuleLoader, ReportsTheFirstMistakeOfTheTextWhenAllIsLoaded) {
  const std::string text = header + kernel("a", unsupported) + kernel("b", unsupported);
  EXPECT_THAT(message_of([&] { load_module_text(text, "some.ptx"); }),
              testing::StartsWith("some.ptx:9:1: "));
}

TEST(ModuleLoader, AsksOfAllTextThatItFollowsTheGrammar) {
  const std::string text = header + kernel("good", "") + kernel("bad", "add.u32 %r1 %r1, 1;\n");
  EXPECT_THAT(message_of([&] { load_named(text, {"good"}); }),
              testing::StartsWith("some.ptx:17:13: expected ';'"));
}

/// Live at once: `values` registers of 64 bits.
std::string many_values(unsigned values) {
  std::string text = "{ .reg .b64 %v<" + std::to_string(values) + ">;\n";
  for (unsigned v = 0; v < values; ++v)
    text += "ld.global.u64 %v" + std::to_string(v) + ", [%rd1+" + std::to_string(8 * v) + "];\n";
  text += "bar.sync 0;\n";
  for (unsigned v = 0; v < values; ++v)
    text += "st.global.u64 [%rd1+" + std::to_string(8 * v) + "], %v" + std::to_string(v) + ";\n";
  return text + "}\n";
}

std::uint32_t registers_with(const std::string& bounds) {
  const std::string text = header + kernel("k", many_values(150), bounds);
  return load_module_text(text, "some.ptx").kernels[0].lowered.registers_per_thread;
}

/// Most registers that ptxas 13 gives such a kernel: whole groups of four warps share the register
/// file, in steps of eight registers.
TEST(RegisterLimit, IsThatOfPtxasForTheBlocksThatMustFit) {
  const auto bounds = [](unsigned threads, unsigned blocks) {
    return ".maxntid " + std::to_string(threads) + ", 1, 1\n.minnctapersm " +
           std::to_string(blocks) + "\n";
  };
  const auto within = [&](unsigned threads, unsigned blocks, std::uint32_t limit) {
    const std::uint32_t registers = registers_with(bounds(threads, blocks));
    EXPECT_LE(registers, limit) << threads << " threads, " << blocks << " blocks";
    EXPECT_GT(registers + 8, limit) << threads << " threads, " << blocks << " blocks";
  };
  within(1024, 1, 64);
  within(768, 1, 80);
  within(600, 1, 96);
  within(512, 1, 128);
  within(320, 1, 168);
  within(289, 1, 168);
  within(256, 1, 255);
  within(512, 2, 64);
  within(1024, 2, 32);
  within(96, 5, 128);
}

TEST(RegisterLimit, StaysTheFewestWhateverIsAskedFor) {
  const std::uint32_t fewest = registers_with(".maxntid 1024, 1, 1\n.minnctapersm 4294967295\n");
  EXPECT_EQ(registers_with(".maxntid 1024, 1, 1\n.minnctapersm 1000\n"), fewest);
  EXPECT_EQ(registers_with(".maxntid 4294967295, 1, 1\n"), fewest);
  EXPECT_EQ(registers_with(".reqntid 65536, 65536, 65536\n"), fewest);
}

TEST(RegisterLimit, IsThatOfTheRequiredBlock) {
  EXPECT_LE(registers_with(".reqntid 16, 16, 4\n"), 64u);
}

TEST(RegisterLimit, HoldsForAKernelTogetherWithWhatItCalls) {
  std::string callee = square;
  callee.replace(callee.find("mul.lo.u32"), 0,
                 ".reg .b64 %rd<2>;\nmov.u64 %rd1, 4096;\n" + many_values(20));
  const std::string text =
      header + callee + kernel("k", many_values(100) + call_square, ".maxntid 1024, 1, 1\n");
  const Module module = load_module_text(text, "some.ptx");
  EXPECT_LE(module.kernels[0].lowered.registers_per_thread * 1024, 65536u);
}

/// Reads `values` numbers, waits, and folds them, last first: all are live at the barrier.
std::string folded_values(unsigned values) {
  const std::string n = std::to_string(values);
  std::string text = header +
                     ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>; "
                     ".reg .b32 %v<" +
                     n +
                     ">;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, "
                     "4;\nadd.s64 %rd3, %rd1, %rd2;\n";
  for (unsigned i = 0; i < values; ++i)
    text += "ld.global.u32 %v" + std::to_string(i) + ", [%rd3+" + std::to_string(4 * i) + "];\n";
  text += "bar.sync 0;\n";
  for (unsigned i = values; i-- > 0;)
    text += "mad.lo.u32 %r1, %r1, 5, %v" + std::to_string(i) + ";\n";
  return text + "bar.sync 0;\nst.global.u32 [%rd3], %r1;\nret;\n}\n";
}

/// A loop that uses so many values that each turn computes anew.
std::string loop_with_invariants(unsigned values, const std::string& bounds) {
  std::string text = header + ".visible .entry k(.param .u64 out, .param .u32 turns)\n" + bounds +
                     "{\n.reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .b32 %v<" +
                     std::to_string(values) +
                     ">;\nld.param.u64 %rd1, [out];\nld.param.u32 %r2, [turns];\n"
                     "mov.u32 %r3, %tid.x;\nmov.u32 %r1, 0;\nagain:\n";
  for (unsigned i = 0; i < values; ++i) {
    const std::string n = std::to_string(i);
    text += "xor.b32 %v" + n + ", %r3, " + std::to_string(997 * i + 1) + ";\n";
    text += "mad.lo.u32 %r1, %r1, %r2, %v" + n + ";\n";
  }
  return text +
         "sub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra again;\n"
         "st.global.u32 [%rd1], %r1;\nret;\n}\n";
}

TEST(ModuleLoader, LeavesInvariantsInALoopThatHasNoRegistersForThem) {
  LoweringOptions options;
  options.unroll_loops = true;
  const auto lowered = [&](const std::string& bounds) {
    ModuleLoader loader(read_ptx(loop_with_invariants(60, bounds), "some.ptx"), options);
    Module module = loader.module();
    loader.load_all(module);
    return module.kernels[0].lowered;
  };
  EXPECT_GT(lowered("").registers_per_thread, 60u);
  EXPECT_LE(lowered(".maxnreg 40\n").registers_per_thread, 40u);
  EXPECT_EQ(lowered(".maxnreg 40\n").local_bytes, 0u);
}

TEST(ModuleLoader, MakesAKernelAgainWithFewerRegistersThatComputesTheSame) {
  for (const bool unrolls : {false, true}) {
    LoweringOptions options;
    options.unroll_loops = unrolls;
    ModuleLoader loader(read_ptx(folded_values(80), "some.ptx"), options);
    Module module = loader.module();
    loader.load_all(module);
    EXPECT_GT(module.kernels[0].lowered.registers_per_thread, 80u);
    EXPECT_EQ(module.kernels[0].lowered.local_bytes, 0u);
    loader.limit_registers(module, 0, 64);
    EXPECT_LE(module.kernels[0].lowered.registers_per_thread, 64u);
    EXPECT_GE(module.kernels[0].lowered.local_bytes, 4u * 20);
    EXPECT_LE(module.kernels[0].lowered.local_bytes, 4u * 40);  // of values, not of loads ahead
    std::vector<std::uint32_t> expected;
    for (const bool lowered : {false, true}) {
      IsaBench bench(module, lowered);
      std::vector<std::uint32_t> values(64 + 80);
      for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761u;
      const std::uint64_t out = bench.buffer(values);
      bench.run("k", {1, 1, 1}, {64, 1, 1}, out);
      const auto result = bench.values<std::uint32_t>(out, 64);
      if (!lowered) expected = result;
      EXPECT_EQ(result, expected);
    }
  }
}

}  // namespace
}  // namespace lockstep::isa::module_loader_test
