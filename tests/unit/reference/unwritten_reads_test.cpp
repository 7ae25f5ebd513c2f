/// Which forgotten copies are found before a run, and that nothing else is told.
#include "models/reference/unwritten_reads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/isa/load.hpp"
#include "tests/harness_workload/sample_workload.hpp"

namespace lockstep::unwritten_reads_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// `move` reads one number from `from` and stores it to `to`; `increment` reads and writes `to`;
/// `through` stores to where a pointer in `from` points, and only then reads `to`; `maybe` reads
/// `to` if what `from` has is 1; `count` adds to `to` atomically.
const char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry move(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry increment(.param .u64 to) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd2, [to];
  ld.global.u32 %r1, [%rd2];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry through(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.u64 %rd3, [%rd1];
  st.global.u32 [%rd3], 1;
  ld.global.u32 %r1, [%rd2];
  ret;
}
.visible .entry maybe(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 1;
  @%p1 ld.global.u32 %r2, [%rd2];
  ret;
}
.visible .entry count(.param .u64 to) {
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  red.global.add.u32 [%rd1], 1;
  ret;
}
)";

std::vector<std::string> found(const std::string& program, const std::string& of_a = "") {
  static const isa::Module module = isa::load_module_text(ptx, "sample.ptx");
  return find_unwritten_reads(sample::read("module: sample.ptx\nbuffers:\n"
                                           "  a: {type: u32, count: 4, memory: device" +
                                           of_a +
                                           "}\n"
                                           "  b: {type: u32, count: 4, memory: device}\n"
                                           "  m: {type: u32, count: 4, memory: managed}\n"
                                           "program:\n" +
                                           program),
                              module);
}

std::string launch(const std::string& kernel, const std::string& arguments) {
  return "  - launch: {kernel: " + kernel + ", grid: [1], block: [32], arguments: [" + arguments +
         "]}\n";
}
std::string to_gpu(const std::string& buffer) {
  return "  - copy: {buffer: " + buffer + ", to: device}\n";
}
std::string told(int line, const std::string& kernel, const std::string& buffer) {
  return unwritten_read_text("sample.ptx:" + std::to_string(line) + ": kernel " + kernel, buffer);
}

TEST(UnwrittenReads, AForgottenCopyIsToldOnce) {
  EXPECT_THAT(found(launch("move", "a, b") + launch("move", "a, b")),
              ElementsAre(told(10, "move", "a")));
  EXPECT_THAT(found(launch("move", "a, b"), ", init: {value: 1}"),
              ElementsAre(told(10, "move", "a")));
  EXPECT_THAT(found(launch("increment", "b")), ElementsAre(told(18, "increment", "b")));
}

TEST(UnwrittenReads, WhatWasCopiedIsNot) {
  EXPECT_THAT(found(to_gpu("a") + launch("move", "a, b")), IsEmpty());
  EXPECT_THAT(found(to_gpu("a") + launch("increment", "a")), IsEmpty());
  EXPECT_THAT(found("  - copy: {buffer: a, to: device, count: 1}\n" + launch("move", "a, b")),
              IsEmpty());
}

TEST(UnwrittenReads, ACopyTheOtherWayDoesNotHelp) {
  EXPECT_THAT(found("  - copy: {buffer: a, to: host}\n" + launch("move", "a, b")),
              ElementsAre(told(10, "move", "a")));
}

TEST(UnwrittenReads, ManagedMemoryNeedsNoCopy) {
  EXPECT_THAT(found(launch("move", "m, b")), IsEmpty());
}

TEST(UnwrittenReads, WhatAKernelMayHaveWrittenIsNot) {
  EXPECT_THAT(found(launch("move", "m, a") + launch("move", "a, b")), IsEmpty());
  EXPECT_THAT(found(launch("count", "a") + launch("move", "a, b")), IsEmpty());
  EXPECT_THAT(found(launch("through", "m, m") + launch("move", "a, b")), IsEmpty());
}

TEST(UnwrittenReads, WhatItWroteElsewhereDoesNotHelp) {
  EXPECT_THAT(found(launch("move", "m, b") + launch("move", "a, b")),
              ElementsAre(told(10, "move", "a")));
}

TEST(UnwrittenReads, WhatMayNotBeReadOrMayBeWrittenBeforeIsNot) {
  EXPECT_THAT(found(launch("maybe", "m, a")), IsEmpty());
  EXPECT_THAT(found(launch("through", "m, a")), IsEmpty());
}

TEST(UnwrittenReads, SwapsAreFollowed) {
  EXPECT_THAT(found(to_gpu("a") + "  - swap: [a, b]\n" + launch("move", "b, m")), IsEmpty());
  EXPECT_THAT(found(to_gpu("a") + "  - swap: [a, b]\n" + launch("move", "a, m")),
              ElementsAre(told(10, "move", "b")));
}

TEST(UnwrittenReads, TheFirstRoundOfALoopIsSeenAndNothingBehindOneWithoutAKnownEnd) {
  const std::string until =
      "  - repeat:\n      until: {buffer: m, index: 0, equals: 1}\n"
      "      program:\n      ";
  EXPECT_THAT(found(until + launch("move", "a, b")), ElementsAre(told(10, "move", "a")));
  EXPECT_THAT(found(until + launch("move", "m, m") + launch("move", "a, b")), IsEmpty());
}

TEST(UnwrittenReads, MistakesInTheProgramAreLeftToTheRun) {
  EXPECT_THAT(found("  - launch: {kernel: move, grid: [0], block: [32], arguments: [a, b]}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace lockstep::unwritten_reads_test
