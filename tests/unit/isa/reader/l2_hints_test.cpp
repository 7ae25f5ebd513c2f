/// What a program says about which lines the L2 shall keep: read off policies and modifiers, and
/// carried by the accesses.
#include <gtest/gtest.h>

#include "models/isa/l2_hint.hpp"
#include "models/isa/load.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::isa::l2_hints_test {
namespace {

std::string kernel_text(const std::string& lines) {
  return ".version 8.6\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .f32 part) {\n"
         ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<2>;\n"
         ".shared .align 16 .b8 room[16];\n"
         "ld.param.u64 %rd1, [in]; ld.param.f32 %f1, [part]; mov.u32 %r1, room;\n" +
         lines + "\nret;\n}\n";
}

/// Hints of the memory instructions that leave the SM, in the program as the SM runs it or as the
/// interpreter does.
std::vector<std::uint16_t> hints(const std::string& lines, bool lowered) {
  const Module module = load_module_text(kernel_text(lines), "good.ptx");
  const Kernel& kernel = module.kernels[0];
  std::vector<std::uint16_t> found;
  for (const Instruction& i : (lowered ? kernel.lowered : kernel.reference).instructions)
    if (is_memory(i.category) && i.memory.space == Space::global) found.push_back(i.detail);
  return found;
}
std::uint16_t hint(const std::string& lines) {
  const std::vector<std::uint16_t> found = hints(lines, false);
  EXPECT_EQ(found.size(), 1u) << lines;
  return found.empty() ? no_l2_hint : found[0];
}
std::string error_of(const std::string& lines) {
  return message_of([&] { load_module_text(kernel_text(lines), "bad.ptx"); });
}

constexpr std::uint16_t first = L2Hint{.primary = L2Priority::first}.packed();
constexpr std::uint16_t last = L2Hint{.primary = L2Priority::last}.packed();
constexpr std::uint16_t normal = L2Hint{.primary = L2Priority::normal}.packed();
const std::string load = " ld.global.L2::cache_hint.u32 %r2, [%rd1], %rd2;";

TEST(L2Hints, ComeFromThePolicyThatAnAccessNames) {
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;" + load), last);
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_first.b64 %rd2;" + load), first);
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_normal.b64 %rd2;" + load), normal);
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_last.b64 %rd2;"
                 "st.global.L2::cache_hint.v2.u32 [%rd1], {%r1, %r1}, %rd2;"),
            last);
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_first.b64 %rd2;"
                 "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1], [%rd1], 16, %rd2;"),
            first);
}

TEST(L2Hints, GoWithAtomicsAndPrefetches) {
  const std::string policy = "createpolicy.fractional.L2::evict_last.b64 %rd2;";
  EXPECT_EQ(hint(policy + "atom.global.add.L2::cache_hint.u32 %r2, [%rd1], %r1, %rd2;"), last);
  EXPECT_EQ(hint(policy + "atom.global.cas.L2::cache_hint.b32 %r2, [%rd1], 0, %r1, %rd2;"), last);
  EXPECT_EQ(hint(policy + "red.global.add.L2::cache_hint.u32 [%rd1], %r1, %rd2;"), last);
  EXPECT_EQ(hint("prefetch.global.L2::evict_last [%rd1];"), last);
  EXPECT_EQ(hint("prefetch.global.L2::evict_normal [%rd1];"), normal);
  EXPECT_EQ(hint("prefetch.global.L2 [%rd1];"), no_l2_hint);
  EXPECT_EQ(hint("atom.global.add.u32 %r2, [%rd1], %r1;"), no_l2_hint);
}

TEST(L2Hints, MayBeAllThatAnInstructionIs) {
  EXPECT_EQ(hint("applypriority.global.L2::evict_normal [%rd1], 128;"), normal | l2_hint_only);
  EXPECT_EQ(hint("discard.global.L2 [%rd1], 128;"), l2_hint_only | l2_discards);
  EXPECT_NE(error_of("discard.global.L2 [%rd1], 64;").find("the size is that of a line"),
            std::string::npos);
  EXPECT_NE(error_of("applypriority.global.L2::evict_last [%rd1], 128;").find("evict_normal"),
            std::string::npos);
}

TEST(L2Hints, ComeFromWhatTritonAndLibrariesWrite) {
  EXPECT_EQ(
      hint("mov.u64 %rd2, 0x0; createpolicy.fractional.L2::evict_first.b64 %rd2, 1.0;" + load),
      first);
  EXPECT_EQ(hint("mov.b64 %rd2, 0x14F0000000000000;" + load), last);
  EXPECT_EQ(hint("mov.b64 %rd3, 0x12F0000000000000; mov.b64 %rd2, %rd3;" + load), first);
  EXPECT_EQ(hint("mov.b64 %rd2, 1152921504606846976;" + load), normal);
  EXPECT_EQ(hint("ld.global.cg.L2::evict_last.u32 %r2, [%rd1];"), last);
}

TEST(L2Hints, OfAPolicyThatTheTextDoesNotTellSayNothing) {
  EXPECT_EQ(hint("mov.u64 %rd2, %rd1;" + load), no_l2_hint);
  EXPECT_EQ(hint("add.u64 %rd2, %rd1, 1;" + load), no_l2_hint);
  EXPECT_EQ(hint("createpolicy.cvt.L2.b64 %rd2, %rd1;" + load), no_l2_hint);
  EXPECT_EQ(hint("mov.b64 %rd2, 0;" + load), no_l2_hint);
  EXPECT_EQ(hint("ld.global.L1::evict_last.u32 %r2, [%rd1];"), no_l2_hint);
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_first.b64 %rd2; ld.global.u32 %r2, [%rd1];"),
            no_l2_hint);
}

TEST(L2Hints, OfTheLastPolicyInARegisterCount) {
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_last.b64 %rd2;"
                 "createpolicy.fractional.L2::evict_first.b64 %rd2;" +
                 load),
            first);
}

TEST(L2Hints, SurviveLowering) {
  const auto found = hints(
      "createpolicy.fractional.L2::evict_last.b64 %rd2;" + load + "st.global.u32 [%rd1+8], %r2;",
      true);
  EXPECT_EQ(found, (std::vector<std::uint16_t>{last, no_l2_hint}));
}

TEST(L2Hints, WithAFractionDivideTheLines) {
  const std::uint16_t quarter =
      hint("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd2, 0.25;" + load);
  EXPECT_EQ(L2Hint::unpack(quarter).sixteenths, 4);
  unsigned kept = 0;
  for (std::uint64_t line = 0; line < 4096; ++line) {
    const L2Priority priority = l2_priority(quarter, line);
    ASSERT_TRUE(priority == L2Priority::last || priority == L2Priority::first);
    kept += priority == L2Priority::last;
  }
  EXPECT_NEAR(kept, 1024, 60);
  EXPECT_EQ(hint("createpolicy.fractional.L2::evict_last.b64 %rd2, %f1;" + load), last)
      << "a fraction that the text does not tell is all lines";
  EXPECT_NE(error_of("createpolicy.fractional.L2::evict_last.b64 %rd2, 1.5;").find("at most 1"),
            std::string::npos);
  EXPECT_NE(error_of("createpolicy.fractional.L2::evict_last.b64 %rd2, 0.0;").find("above 0"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::isa::l2_hints_test
