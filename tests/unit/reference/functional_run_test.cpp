#include "models/reference/functional_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "models/isa/load.hpp"
#include "tests/harness_workload/sample_workload.hpp"
#include "tests/unit/core/parameters/expect_error.hpp"

namespace lockstep::functional_run_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// `add` adds a number to each element by thread; `where` stores an address; `count` adds to the
/// variable `counter`, which starts at 40, and stores it.
const char ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 counter = 40;
.visible .entry add(.param .u64 add_p, .param .u32 add_value) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [add_p];
  ld.param.u32 %r1, [add_value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.u32 %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  ret;
}
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.const .align 1 .b8 format[5] = {116, 37, 117, 10, 0};
.visible .entry say() {
  .local .align 4 .b8 buffer[4];
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  st.local.u32 [buffer], %r1;
  mov.u64 %rd1, buffer;
  cvta.local.u64 %rd2, %rd1;
  mov.u64 %rd3, format;
  { .param .b64 f; .param .b64 a; .param .b32 r;
  st.param.b64 [f], %rd3;
  st.param.b64 [a], %rd2;
  call (r), vprintf, (f, a);
  }
  ret;
}
.visible .entry where(.param .u64 where_p, .param .u64 where_to) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [where_p];
  ld.param.u64 %rd2, [where_to];
  st.global.u64 [%rd2], %rd1;
  ret;
}
.visible .entry count(.param .u64 count_p) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [count_p];
  ld.global.u32 %r1, [counter];
  add.u32 %r2, %r1, 1;
  st.global.u32 [counter], %r2;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

constexpr std::uint32_t a = 0, twin = 1, m = 2, pinned = 3, address = 4;

std::string workload_text(const std::string& program) {
  return "module: sample.ptx\n"
         "buffers:\n"
         "  a: {type: u32, count: 4, memory: device, init: {linear: {start: 10}}}\n"
         "  twin: {type: u32, count: 4, memory: device}\n"
         "  m: {type: u32, count: 4, memory: managed, init: {value: 7}}\n"
         "  p: {type: u32, count: 4, memory: pinned, init: {value: 9}}\n"
         "  address: {type: u64, count: 2, memory: managed}\n"
         "program:\n" +
         program;
}

FunctionalResult run(const std::string& program) {
  static const isa::Module module = isa::load_module_text(ptx, "sample.ptx");
  return run_functionally("tenant", sample::read(workload_text(program)), module);
}

std::string error(const std::string& program) {
  return message_of([&] { run(program); });
}

std::vector<std::uint32_t> numbers(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> result(bytes.size() / 4);
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}
std::vector<std::uint32_t> host(const FunctionalResult& result, std::uint32_t buffer) {
  return numbers(result.buffers[buffer].host.copy());
}
std::vector<std::uint32_t> device(const FunctionalResult& result, std::uint32_t buffer) {
  return numbers(result.buffers[buffer].device.value().copy());
}

std::string add(const std::string& buffer, const std::string& value) {
  return "  - launch: {kernel: add, grid: [1], block: [4], arguments: [" + buffer + ", " + value +
         "]}\n";
}

TEST(FunctionalRun, InitialContentOfADeviceBufferLandsInTheHostCopy) {
  const FunctionalResult result = run(add("a", "1"));
  EXPECT_THAT(host(result, a), ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(device(result, a), ElementsAre(1, 1, 1, 1));
}

TEST(FunctionalRun, WarnsOnceOfADeviceBufferThatIsReadBeforeItIsWritten) {
  EXPECT_THAT(run(add("a", "1") + add("a", "1")).warnings,
              ElementsAre("sample.ptx:14: kernel add reads device buffer a before anything was "
                          "written to it - add copy: {buffer: a, to: device} before the launch"));
  const std::string copied = "  - copy: {buffer: a, to: device}\n" + add("a", "1");
  EXPECT_THAT(run(copied + add("m", "1") + add("p", "1")).warnings, IsEmpty());
}

TEST(FunctionalRun, ADeviceBufferThatAKernelWroteMayBeRead) {
  const std::string written =
      "  - launch: {kernel: where, grid: [1], block: [1], "
      "arguments: [a, twin]}\n" +
      add("twin", "1");
  EXPECT_THAT(run(written).warnings, IsEmpty());
}

TEST(FunctionalRun, CopyMovesContentBetweenTheTwoCopies) {
  const FunctionalResult result = run("  - copy: {buffer: a, to: device}\n" + add("a", "1") +
                                      "  - copy: {buffer: a, to: host}\n" + add("a", "1"));
  EXPECT_THAT(host(result, a), ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(device(result, a), ElementsAre(12, 13, 14, 15));
}

TEST(FunctionalRun, CopyMayMoveAPart) {
  const FunctionalResult result = run("  - copy: {buffer: a, to: device, offset: 1, count: 2}\n");
  EXPECT_THAT(device(result, a), ElementsAre(0, 11, 12, 0));
  const FunctionalResult back = run("  - copy: {buffer: a, to: host, offset: 3}\n");
  EXPECT_THAT(host(back, a), ElementsAre(10, 11, 12, 0));
}

TEST(FunctionalRun, CopyPastTheEndIsReportedAtTheExpression) {
  EXPECT_THAT(error("  - copy: {buffer: a, to: host, offset: 3, count: 2}\n"),
              AllOf(StartsWith("w.yaml:9:"),
                    HasSubstr("2 elements from 3 on lie outside of buffer a of tenant")));
}

TEST(FunctionalRun, ManagedAndPinnedBuffersHaveOneCopy) {
  const FunctionalResult result = run(add("m", "1") + add("p", "2"));
  EXPECT_THAT(host(result, m), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(host(result, pinned), ElementsAre(11, 11, 11, 11));
  EXPECT_FALSE(result.buffers[m].device);
}

TEST(FunctionalRun, FillStoresIntoTheCpusCopy) {
  const FunctionalResult result =
      run("  - fill: {buffer: a, value: 5}\n  - fill: {buffer: m, value: 6}\n" + add("m", "1"));
  EXPECT_THAT(host(result, a), ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(device(result, a), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(host(result, m), ElementsAre(7, 7, 7, 7));
}

TEST(FunctionalRun, SwapExchangesWhatNamesMean) {
  const FunctionalResult result = run("  - swap: [a, twin]\n" + add("a", "3"));
  EXPECT_THAT(device(result, a), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(device(result, twin), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(result.meaning, ElementsAre(twin, a, m, pinned, address));
}

TEST(FunctionalRun, LoopCounterReachesTheKernel) {
  EXPECT_THAT(host(run("  - repeat:\n      times: 4\n      counter: i\n      program:\n      " +
                       add("m", "i * 10")),
                   m),
              ElementsAre(67, 67, 67, 67));
}

TEST(FunctionalRun, UntilTestsTheHostsContentAfterEachRound) {
  EXPECT_THAT(host(run("  - repeat:\n      until: {buffer: m, index: 2, equals: 10}\n"
                       "      program:\n      " +
                       add("m", "1")),
                   m),
              ElementsAre(10, 10, 10, 10));
}

TEST(FunctionalRun, UntilRunsAtLeastOnce) {
  const FunctionalResult result =
      run("  - repeat:\n      until: {buffer: p, index: 0, equals: 9}\n      program:\n      " +
          add("m", "1"));
  EXPECT_EQ(result.launches, 1u);
}

TEST(FunctionalRun, SaveKeepsTheLastContentOfAName) {
  const FunctionalResult result =
      run("  - save: m\n" + add("m", "1") + "  - save: a\n  - save: m\n" + add("m", "1") +
          "  - swap: [a, twin]\n  - save: a\n");
  ASSERT_EQ(result.saved.size(), 2u);
  EXPECT_EQ(result.saved[0].name, m);
  EXPECT_THAT(numbers(result.saved[0].bytes), ElementsAre(8, 8, 8, 8));
  EXPECT_EQ(result.saved[1].name, a);
  EXPECT_THAT(numbers(result.saved[1].bytes), ElementsAre(0, 0, 0, 0));
}

TEST(FunctionalRun, FreedBufferKeepsItsContentForTheComparison) {
  const FunctionalResult result = run(add("m", "1") + "  - free: m\n" + add("p", "1"));
  EXPECT_THAT(host(result, m), ElementsAre(8, 8, 8, 8));
}

TEST(FunctionalRun, UseAfterFreeIsReportedAtTheStep) {
  for (const std::string& step :
       {std::string("  - read: m\n"), std::string("  - free: m\n"), add("m", "1")}) {
    EXPECT_THAT(error("  - free: m\n" + step),
                AllOf(StartsWith("w.yaml:10:5: "),
                      HasSubstr("tenant tenant uses buffer m after it was freed")));
  }
}

TEST(FunctionalRun, AccessBehindABufferIsReportedToTheByte) {
  EXPECT_THAT(error("  - launch: {kernel: add, grid: [1], block: [5], arguments: [m, 1]}\n"),
              AllOf(HasSubstr("kernel add"), HasSubstr("sample.ptx")));
}

TEST(FunctionalRun, WrongArgumentCountIsReportedAtTheStep) {
  EXPECT_THAT(error("  - launch: {kernel: add, grid: [1], block: [4], arguments: [m]}\n"),
              StartsWith("w.yaml:9:5: kernel add takes 2 arguments, got 1"));
}

TEST(FunctionalRun, VariablesKeepTheirContentBetweenLaunches) {
  const std::string count = "  - launch: {kernel: count, grid: [1], block: [1], arguments: [m]}\n";
  EXPECT_THAT(host(run(count + count), m), ElementsAre(42, 7, 7, 7));
}

TEST(FunctionalRun, BuffersHaveTheAddressesThatTheDriverGives) {
  // A page each, with a guard page behind it.
  const FunctionalResult result =
      run("  - launch: {kernel: where, grid: [1], block: [1], arguments: [m, address]}\n");
  std::uint64_t stored;
  std::memcpy(&stored, result.buffers[address].host.copy().data(), 8);
  EXPECT_EQ(stored, isa::first_global_address + 2 * 8192);
}

TEST(FunctionalRun, WhatKernelsPrintIsKept) {
  const std::string say = "  - launch: {kernel: say, grid: [2], block: [2], arguments: []}\n";
  EXPECT_THAT(run(say).printed, UnorderedElementsAre("t0\nt1\n", "t0\nt1\n"));
}

TEST(FunctionalRun, ImagesAgreeWithThemselves) {
  const std::string program = add("a", "1") + add("m", "1");
  const FunctionalResult result = run(program);
  const Workload workload = sample::read(workload_text(program));
  EXPECT_FALSE(find_mismatch("tenant", workload, result.images(), result.images()));
  const FunctionalResult other = run(program + add("a", "1"));
  const auto mismatch = find_mismatch("tenant", workload, result.images(), other.images());
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->text(), "tenant tenant, buffer a (GPU copy), element 0: expected 1, got 2");
}

}  // namespace
}  // namespace lockstep::functional_run_test
