/// When a block can no longer be dropped and run again from its start.
/// Source: 003, section 4.1; preemption.md, section 2.2 with its errata.
#include "models/isa/encode/idempotence.hpp"

#include <gtest/gtest.h>

#include "tests/unit/isa/isa_bench.hpp"

namespace lockstep::isa {
namespace {

/// A kernel with three pointers and a number.
class Idempotence : public testing::Test {
 protected:
  void use(const std::string& body, const std::string& before = "") {
    const std::string text = R"(
.version 7.0
.target sm_70
.address_size 64
)" + before + R"(
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .u32 %r<10>;
  .reg .u64 %rd<10>;
  .reg .pred %p<4>;
  ld.param.u64 %rd0, [a];
  ld.param.u64 %rd1, [b];
  ld.param.u64 %rd2, [c];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd0, %rd0, %rd3;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
)" + body + "  ret;\n}\n";
    IsaBench bench(text);
    found = find_global_use(bench.module().kernels[0].lowered);
  }
  /// For each write in the order of the program, whether it ends idempotence.
  std::vector<bool> ends(const std::vector<std::uint32_t>& buffers = {1, 2, 3, 0}) {
    const PointerOrigins overwritten = found.overwritten(
        [&](unsigned place) { return place < buffers.size() ? buffers[place] : 0; });
    std::vector<bool> result;
    for (const GlobalUse::Write& write : found.writes)
      result.push_back(ends_idempotence(write, overwritten));
    return result;
  }
  GlobalUse found;
};

TEST_F(Idempotence, StoresToWhatTheKernelDoesNotReadCanBeRepeated) {
  use("  ld.global.u32 %r2, [%rd0];\n  st.global.u32 [%rd1], %r2;\n");
  EXPECT_EQ(ends(), std::vector{false});
}

TEST_F(Idempotence, AStoreThroughAParameterThatIsReadCannot) {
  use("  ld.global.u32 %r2, [%rd0];\n"
      "  st.global.u32 [%rd1], %r2;\n"
      "  st.global.u32 [%rd0+4], %r2;\n");
  EXPECT_EQ(ends(), (std::vector{false, true}));
}

TEST_F(Idempotence, ArgumentsMayPointIntoTheSameBuffer) {
  use("  ld.global.u32 %r2, [%rd0];\n  st.global.u32 [%rd1], %r2;\n");
  EXPECT_EQ(ends({1, 1, 3, 0}), std::vector{true});
}

TEST_F(Idempotence, AtomicOperationsCannotBeRepeatedWhereverTheyGo) {
  use("  atom.global.add.u32 %r2, [%rd0], 1;\n  red.global.add.u32 [%rd1], 1;\n");
  EXPECT_EQ(ends(), (std::vector{true, true}));
}

TEST_F(Idempotence, APointerThatMayBeOneOrTheOtherCountsAsBoth) {
  use("  setp.eq.u32 %p0, %r0, 7;\n"
      "  selp.b64 %rd4, %rd0, %rd1, %p0;\n"
      "  ld.global.u32 %r2, [%rd0];\n"
      "  st.global.u32 [%rd4], %r2;\n");
  EXPECT_EQ(ends(), std::vector{true});
}

TEST_F(Idempotence, APointerThatComesRoundALoopIsFollowed) {
  use("again:\n"
      "  ld.global.u32 %r2, [%rd0];\n"
      "  st.global.u32 [%rd1], %r2;\n"
      "  add.u64 %rd4, %rd1, 128;\n"
      "  mov.u64 %rd1, %rd0;\n"
      "  mov.u64 %rd0, %rd4;\n"
      "  sub.u32 %r0, %r0, 1;\n"
      "  setp.ne.u32 %p0, %r0, 0;\n"
      "  @%p0 bra again;\n");
  EXPECT_EQ(ends(), std::vector{true}) << "they are swapped in each round";
}

constexpr const char* moves_on =
    "  setp.eq.u32 %p0, %r0, 7;\n"
    "  mov.u64 %rd4, %rd0;\n"
    "  ld.global.u32 %r2, [%rd4];\n"
    "  @%p0 add.u64 %rd4, %rd1, 128;\n";

TEST_F(Idempotence, UnderAPredicateAPointerIsWhatWasWrittenUnderIt) {
  use(std::string(moves_on) + "  @%p0 st.global.u32 [%rd4], %r2;\n");
  EXPECT_EQ(ends(), std::vector{false});
}

TEST_F(Idempotence, UnderItsOppositeOrNoneAPointerMayBeWhatItWas) {
  use(std::string(moves_on) + "  @!%p0 st.global.u32 [%rd4], %r2;\n");
  EXPECT_EQ(ends(), std::vector{true});
  use(std::string(moves_on) + "  st.global.u32 [%rd4], %r2;\n");
  EXPECT_EQ(ends(), std::vector{true});
}

TEST_F(Idempotence, UnderAPredicateThatHasChangedAPointerMayBeWhatItWas) {
  use(std::string(moves_on) +
      "  setp.eq.u32 %p0, %r1, 3;\n"
      "  @%p0 st.global.u32 [%rd4], %r2;\n");
  EXPECT_EQ(ends(), std::vector{true});
}

TEST_F(Idempotence, WhatStandsInMemoryMayPointAnywhere) {
  use("  ld.global.u64 %rd4, [%rd0];\n  st.global.u32 [%rd4], %r1;\n");
  EXPECT_EQ(ends(), std::vector{true});
  use("  ld.global.u64 %rd4, [%rd0];\n"
      "  ld.global.u32 %r2, [%rd4];\n"
      "  st.global.u32 [%rd1], %r2;\n");
  EXPECT_EQ(ends(), std::vector{true}) << "it may be read through that pointer";
}

TEST_F(Idempotence, AnIndexThatIsReadDoesNotChangeWhereAPointerPoints) {
  use("  ld.global.u32 %r2, [%rd0];\n"
      "  mul.wide.u32 %rd4, %r2, 4;\n"
      "  add.u64 %rd5, %rd1, %rd4;\n"
      "  st.global.u32 [%rd5], %r1;\n");
  EXPECT_EQ(ends(), std::vector{false});
}

TEST_F(Idempotence, VariablesOfTheModuleAreABufferOfTheirOwn) {
  const std::string variable = ".global .align 4 .b8 room[4096];\n";
  use("  mov.u64 %rd4, room;\n"
      "  ld.global.u32 %r2, [%rd0];\n"
      "  st.global.u32 [%rd4], %r2;\n",
      variable);
  EXPECT_EQ(ends(), std::vector{false});
  use("  mov.u64 %rd4, room;\n"
      "  ld.global.u32 %r2, [%rd4];\n"
      "  st.global.u32 [%rd4], %r2;\n",
      variable);
  EXPECT_EQ(ends(), std::vector{true});
}

TEST_F(Idempotence, SharedMemoryStartsAfresh) {
  use("  mov.u64 %rd4, pit;\n"
      "  ld.shared.u32 %r2, [%rd4];\n"
      "  add.u32 %r2, %r2, 1;\n"
      "  st.shared.u32 [%rd4], %r2;\n"
      "  atom.shared.add.u32 %r3, [%rd4], 1;\n"
      "  st.global.u32 [%rd0], %r3;\n",
      ".shared .align 4 .b8 pit[64];\n");
  EXPECT_EQ(ends(), std::vector{false});
}

}  // namespace
}  // namespace lockstep::isa
