/// Modules that are compiled apart and linked: which definition a name means, and what is wrong
/// when there is none or more than one.
#include "models/isa/module/module_linker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error/error.hpp"
#include "models/isa/module/module_loader.hpp"
#include "models/isa/reader/reader.hpp"
#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa::module_linker_test {
namespace {

const std::string header = ".version 7.8\n.target sm_75\n.address_size 64\n";

SourceModule link(const std::vector<std::string>& texts) {
  std::vector<SourceModule> modules;
  for (const std::string& text : texts)
    modules.push_back(
        read_ptx(header + text, std::string(1, static_cast<char>('a' + modules.size())) + ".ptx"));
  return link_modules(std::move(modules));
}

Module load(const std::vector<std::string>& texts) {
  ModuleLoader loader(link(texts));
  Module module = loader.module();
  loader.load_all(module);
  return module;
}

std::string error_of(const std::vector<std::string>& texts) {
  try {
    load(texts);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// What one thread of kernel k stores, before and after lowering.
std::uint32_t result_of(const std::vector<std::string>& texts) {
  std::vector<std::uint32_t> results;
  for (const bool lowered : {false, true}) {
    IsaBench bench(load(texts), lowered);
    const std::uint64_t out = bench.allocate(4);
    bench.run("k", {1, 1, 1}, {1, 1, 1}, out);
    results.push_back(bench.values<std::uint32_t>(out, 1)[0]);
  }
  EXPECT_EQ(results[0], results[1]);
  return results[0];
}

/// Kernel k stores what `lines` leave in %r1.
std::string kernel(const std::string& lines, const std::string& name = "k") {
  return ".visible .entry " + name +
         "(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\n" +
         lines + "st.global.u32 [%rd1], %r1;\nret;\n}\n";
}
std::string function(const std::string& linkage, const std::string& name, unsigned value) {
  return linkage + " .func (.param .b32 y) " + name + "()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, " +
         std::to_string(value) + ";\nst.param.b32 [y], %r1;\nret;\n}\n";
}
std::string declared(const std::string& name) {
  return ".extern .func (.param .b32 y) " + name + "();\n";
}
std::string call(const std::string& name) {
  return "{ .param .b32 q;\ncall.uni (q), " + name + ", ();\nld.param.b32 %r1, [q];\n}\n";
}

TEST(ModuleLinker, CallsTheVisibleFunctionOfAnotherModule) {
  EXPECT_EQ(result_of({declared("f") + kernel(call("f")), function(".visible", "f", 7)}), 7u);
}

TEST(ModuleLinker, LinksWhateverModuleComesFirst) {
  EXPECT_EQ(result_of({function(".visible", "f", 7), declared("f") + kernel(call("f"))}), 7u);
}

TEST(ModuleLinker, KeepsFunctionsWithoutLinkageToTheirModule) {
  const std::string other = function("", "f", 2) +
                            ".visible .func (.param .b32 y) g()\n{\n.reg .b32 %r<2>;\n" +
                            call("f") + "st.param.b32 [y], %r1;\nret;\n}\n";
  const std::string first = function("", "f", 1) + declared("g");
  EXPECT_EQ(result_of({first + kernel(call("f")), other}), 1u);
  EXPECT_EQ(result_of({first + kernel(call("g")), other}), 2u);
}

TEST(ModuleLinker, PrefersAVisibleDefinitionToWeakOnes) {
  EXPECT_EQ(result_of({function(".weak", "f", 1) + kernel(call("f")), function(".weak", "f", 2),
                       function(".visible", "f", 3)}),
            3u);
}

TEST(ModuleLinker, TakesTheFirstOfWeakDefinitions) {
  EXPECT_EQ(result_of({function(".weak", "f", 1), function(".weak", "f", 2) + kernel(call("f"))}),
            1u);
}

TEST(ModuleLinker, ReadsTheVariablesOfAnotherModule) {
  const std::string load =
      "ld.global.u32 %r2, [shared_count];\nld.const.u32 %r3, [table+4];\n"
      "add.u32 %r1, %r2, %r3;\n";
  EXPECT_EQ(
      result_of({".const .align 4 .u32 own[3] = {1, 2, 3};\n"
                 ".extern .global .u32 shared_count;\n.extern .const .align 4 .b32 table[];\n" +
                     kernel(load),
                 ".visible .global .u32 shared_count = 40;\n"
                 ".visible .const .align 4 .b32 table[2] = {1, 2};\n"}),
      42u);
}

TEST(ModuleLinker, PatchesAddressesOfOtherModulesIntoVariables) {
  const std::string load = "ld.global.u64 %rd2, [place];\nld.u32 %r1, [%rd2];\n";
  const std::string first =
      ".extern .const .align 4 .b32 table[];\n.const .align 4 .u32 own = 5;\n"
      ".visible .global .align 8 .u64 place = generic(table)+4;\n";
  EXPECT_EQ(result_of({first + kernel(load),
                       ".const .align 64 .u32 before = 9;\n"
                       ".visible .const .align 4 .b32 table[2] = {1, 23};\n"}),
            23u);
}

TEST(ModuleLinker, MakesTheLargestOfCommonVariablesTheOne) {
  const SourceModule module =
      link({".common .global .align 4 .b8 room[8];\n", ".common .global .align 4 .b8 room[64];\n"});
  ASSERT_EQ(module.globals.size(), 1u);
  EXPECT_EQ(module.globals[0].bytes, 64u);
}

TEST(ModuleLinker, GivesEachModuleItsSharedVariables) {
  const std::string other =
      ".visible .func (.param .b32 y) f()\n{\n.reg .b32 %r<2>;\n.shared .u32 cell;\n"
      "mov.u32 %r1, 4;\nst.shared.u32 [cell], %r1;\nst.param.b32 [y], %r1;\nret;\n}\n";
  EXPECT_EQ(result_of({declared("f") + ".shared .u32 cell;\n" +
                           kernel("mov.u32 %r2, 9;\nst.shared.u32 [cell], %r2;\n" + call("f") +
                                  "ld.shared.u32 %r1, [cell];\n"),
                       other}),
            9u);
}

TEST(ModuleLinker, GivesAllModulesOneHeap) {
  const std::string text =
      ".extern .func (.param .b64 p) malloc(.param .b64 size);\n.extern .func free(.param .b64 "
      "p);\n";
  const SourceModule module = link({text + kernel("mov.u32 %r1, 1;\n"), text});
  std::size_t heaps = 0;
  for (const GlobalVariable& global : module.globals) heaps += global.name == heap_name ? 1 : 0;
  EXPECT_EQ(heaps, 1u);
}

TEST(ModuleLinker, RefusesTwoVisibleDefinitionsAtTheSecond) {
  EXPECT_THAT(error_of({function(".visible", "f", 1), function(".visible", "f", 2)}),
              testing::StartsWith("b.ptx:4:"));
  EXPECT_THAT(error_of({function(".visible", "f", 1), function(".visible", "f", 2)}),
              testing::HasSubstr("f is defined twice, first at a.ptx:4:"));
}

TEST(ModuleLinker, RefusesTwoKernelsOfOneName) {
  std::string text = kernel("mov.u32 %r1, 1;\n");
  text.erase(0, std::string(".visible ").size());
  EXPECT_THAT(error_of({text, text}), testing::HasSubstr("kernel k is defined twice"));
}

TEST(ModuleLinker, SaysWhereAVariableIsDeclaredThatNobodyDefines) {
  EXPECT_THAT(error_of({"", ".extern .global .u32 count;\n"}),
              testing::AllOf(testing::StartsWith("b.ptx:4:"),
                             testing::HasSubstr("count has no definition in any of the modules")));
}

TEST(ModuleLinker, SaysWhereAFunctionIsCalledThatNobodyDefines) {
  EXPECT_THAT(error_of({"", declared("f") + kernel(call("f"))}),
              testing::AllOf(testing::StartsWith("b.ptx:10:"),
                             testing::HasSubstr("call of f, which has no body")));
}

TEST(ModuleLinker, RefusesAFunctionThatIsDeclaredOtherwise) {
  EXPECT_THAT(
      error_of({".extern .func (.param .b64 y) f();\n", function(".visible", "f", 1)}),
      testing::AllOf(testing::StartsWith("a.ptx:4:"),
                     testing::HasSubstr("declared otherwise than it is defined at b.ptx:4:")));
}

TEST(ModuleLinker, NamesTheFileOfWhatIsNotSupported) {
  EXPECT_THAT(error_of({"", kernel("nonsense.u32 %r1, %r1;\n")}),
              testing::StartsWith("b.ptx:8:1: "));
}

}  // namespace
}  // namespace lockstep::isa::module_linker_test
