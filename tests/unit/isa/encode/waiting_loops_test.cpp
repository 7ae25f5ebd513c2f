// Which loops wait for other threads: those whose end depends on what others may write.

#include <gtest/gtest.h>

#include "models/isa/load.hpp"
#include "tests/harness/spinning_kernels.hpp"

namespace lockstep::isa::waiting_loops_test {
namespace {

/// The strongest mark on a branch of either program.
enum class Marks { none, weak, strong };

Marks marks_of(const Program& program) {
  Marks marks = Marks::none;
  for (const Instruction& i : program.instructions) {
    if ((i.flags & flag_decides_wait) == 0) continue;
    marks = std::max(marks, (i.flags & flag_strong_wait) != 0 ? Marks::strong : Marks::weak);
  }
  return marks;
}

void expect_marks(const std::string& body, Marks expected, const std::string& functions = "") {
  const Module module = load_module_text(spinning_text(body, functions), "k.ptx");
  EXPECT_EQ(marks_of(module.kernels[0].reference), expected) << body;
  EXPECT_EQ(marks_of(module.kernels[0].lowered), expected) << body << "(lowered)";
}

const std::string count_to_n = "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, %r8;\n@%p3 bra LOOP;\n";

TEST(WaitingLoops, ALockAndAPolledWordWaitStrongly) {
  expect_marks(
      "LOOP:\natom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n"
      "@%p1 bra LOOP;\n",
      Marks::strong);
  for (const std::string load : {"ld.volatile.global.u32", "ld.relaxed.gpu.global.u32",
                                 "ld.acquire.sys.global.u32", "ld.volatile.u32"})
    expect_marks("LOOP:\n" + load + " %r2, [%rd1];\nsetp.ne.u32 %p1, %r2, 5;\n@%p1 bra LOOP;\n",
                 Marks::strong);
}

TEST(WaitingLoops, AWeaklyReadWordWaitsWeakly) {
  expect_marks("LOOP:\nld.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p1, %r2, 5;\n@%p1 bra LOOP;\n",
               Marks::weak);
}

TEST(WaitingLoops, ALoopThatCountsDoesNotWaitWhateverItReads) {
  const std::string begin = "mov.u32 %r7, 0;\nmov.u32 %r8, %ntid.x;\nLOOP:\n";
  expect_marks(
      begin + "atom.global.add.u32 %r2, [%rd1], 1;\nst.global.u32 [%rd3], %r2;\n" + count_to_n,
      Marks::none);
  expect_marks(begin + "ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd3+4], %r2;\n" + count_to_n,
               Marks::none);
  // What is read decides what the loop does, not whether it goes on.
  expect_marks(
      begin +
          "ld.volatile.global.u32 %r2, [%rd3];\nsetp.eq.u32 %p1, %r2, 3;\n"
          "@%p1 bra NOT;\nbar.warp.sync 0xffffffff;\nst.global.u32 [%rd3+4], %r2;\nNOT:\n" +
          count_to_n,
      Marks::none);
}

TEST(WaitingLoops, AFlagThatIsSetUnderTheLockWaits) {
  expect_marks(
      "mov.u32 %r7, 0;\nLOOP:\natom.global.cas.b32 %r2, [%rd1], 0, 1;\n"
      "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra NOT;\nbar.warp.sync 0xffffffff;\nmov.u32 %r7, 1;\n"
      "atom.global.exch.b32 %r3, [%rd1], 0;\nNOT:\nsetp.eq.u32 %p2, %r7, 0;\n"
      "@%p2 bra LOOP;\n",
      Marks::strong);
}

TEST(WaitingLoops, ALoopThatIsLeftInItsMiddleWaits) {
  expect_marks(
      "LOOP:\nld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 5;\n@%p1 bra OUT;\n"
      "nanosleep.u32 10;\nbra LOOP;\nOUT:\nst.global.u32 [%rd3], %r2;\n",
      Marks::strong);
}

TEST(WaitingLoops, ALoopWhoseOwnBranchesAreUnconditionalWaits) {
  const std::string left =
      "setp.ne.u32 %p1, %r2, 5;\n@%p1 bra MORE;\nbra.uni OUT;\nMORE:\nnanosleep.u32 20;\n"
      "bra.uni LOOP;\nOUT:\n";
  expect_marks("LOOP:\nld.volatile.global.u32 %r2, [%rd1];\n" + left, Marks::strong);
  expect_marks("LOOP:\nld.global.u32 %r2, [%rd1];\n" + left, Marks::weak);
  // What is read decides what the loop does, not whether it goes on.
  expect_marks(
      "mov.u32 %r7, 0;\nmov.u32 %r8, %ntid.x;\nLOOP:\nsetp.lt.u32 %p3, %r7, %r8;\n"
      "@%p3 bra MORE;\nbra.uni OUT;\nMORE:\nld.volatile.global.u32 %r2, [%rd3];\n"
      "setp.eq.u32 %p1, %r2, 3;\n@%p1 bra NOT;\nbar.warp.sync 0xffffffff;\n"
      "st.global.u32 [%rd3+4], %r2;\nNOT:\nadd.u32 %r7, %r7, 1;\nbra.uni LOOP;\nOUT:\n",
      Marks::none);
}

TEST(WaitingLoops, WhatACalledFunctionReadsCounts) {
  const std::string function =
      ".func (.param .b32 old) ask(.param .b64 at) {\n.reg .b32 %o;\n.reg .b64 %l;\n"
      "ld.param.u64 %l, [at];\nld.volatile.u32 %o, [%l];\nst.param.b32 [old], %o;\nret;\n}\n";
  const std::string call =
      "{\n.param .b64 l;\n.param .b32 o;\nst.param.b64 [l], %rd1;\ncall (o), ask, (l);\n"
      "ld.param.b32 %r2, [o];\n}\n";
  expect_marks("LOOP:\n" + call + "setp.ne.u32 %p1, %r2, 5;\n@%p1 bra LOOP;\n", Marks::strong,
               function);
  expect_marks("mov.u32 %r7, 0;\nmov.u32 %r8, %ntid.x;\nLOOP:\n" + call +
                   "st.global.u32 [%rd3], %r2;\n" + count_to_n,
               Marks::none, function);
}

}  // namespace
}  // namespace lockstep::isa::waiting_loops_test
