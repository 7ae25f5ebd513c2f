#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness_workload/sample_workload.hpp"

namespace lockstep::steps_test {
namespace {

using sample::program_error;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// The first step of a program.
Step first(const std::string& line) {
  return sample::with_program("  - " + line + "\n").program.front();
}
/// The step stands at line 9, column 5.
std::string error(const std::string& line) {
  return program_error("  - " + line + "\n");
}

TEST(Steps, CopyNamesBufferAndDirection) {
  const Step step = first("copy: {buffer: twin, to: device}");
  EXPECT_EQ(step.kind, Step::Kind::copy);
  EXPECT_EQ(step.buffer, 1u);
  EXPECT_TRUE(step.to_gpu);
  EXPECT_FALSE(step.has_stream);
  EXPECT_FALSE(step.offset.given());
  EXPECT_FALSE(first("copy: {buffer: a, to: host}").to_gpu);
}

TEST(Steps, CopyOfAPartOnAStream) {
  const Step step = first("copy: {buffer: a, to: host, offset: n / 4, count: half, stream: 3}");
  EXPECT_EQ(step.offset.text(), "n / 4");
  EXPECT_EQ(step.count.text(), "half");
  EXPECT_TRUE(step.has_stream);
  EXPECT_EQ(step.stream, 3u);
}

TEST(Steps, OnlyDeviceBuffersAreCopied) {
  EXPECT_THAT(error("copy: {buffer: m, to: device}"),
              AllOf(StartsWith("w.yaml:9:20: "), HasSubstr("only device buffers")));
}

TEST(Steps, CopyToAnUnknownPlaceIsAnError) {
  EXPECT_THAT(error("copy: {buffer: a, to: gpu}"),
              AllOf(StartsWith("w.yaml:9:27: "), HasSubstr("device or host")));
}

TEST(Steps, LaunchNamesKernelShapeAndArguments) {
  const Step step = first(
      "launch: {kernel: k, grid: [n, 2], block: [32, 4, 2], shared: 4 * n, arguments: [a, n, "
      "1.5]}");
  EXPECT_EQ(step.kind, Step::Kind::launch);
  EXPECT_EQ(step.kernel, "k");
  EXPECT_EQ(step.grid[1].text(), "2");
  EXPECT_FALSE(step.grid[2].given());
  EXPECT_EQ(step.block[2].text(), "2");
  EXPECT_EQ(step.shared.text(), "4 * n");
  ASSERT_EQ(step.arguments.size(), 3u);
  EXPECT_TRUE(step.arguments[0].is_buffer);
  EXPECT_EQ(step.arguments[0].buffer, 0u);
  EXPECT_FALSE(step.arguments[1].is_buffer);
  EXPECT_EQ(step.arguments[2].expression.text(), "1.5");
}

TEST(Steps, ArgumentKnowsItsPosition) {
  const Step step = first("launch: {kernel: k, grid: [1], block: [1], arguments: [n]}");
  EXPECT_EQ(step.arguments[0].expression.where(), "w.yaml:9:60");
}

TEST(Steps, OneDimensionNeedsNoBrackets) {
  EXPECT_EQ(first("launch: {kernel: k, grid: n, block: 32}").grid[0].text(), "n");
}

TEST(Steps, FourDimensionsAreAnError) {
  EXPECT_THAT(error("launch: {kernel: k, grid: [1, 1, 1, 1], block: [1]}"),
              AllOf(StartsWith("w.yaml:9:31: "), HasSubstr("one to three sizes")));
}

TEST(Steps, LaunchNeedsAKernel) {
  EXPECT_THAT(error("launch: {grid: [1], block: [1]}"),
              AllOf(StartsWith("w.yaml:9:13: "), HasSubstr("kernel")));
}

TEST(Steps, MisspelledLaunchKeyNamesTheNearest) {
  EXPECT_THAT(error("launch: {kernel: k, grid: [1], blocks: [1], block: [1]}"),
              AllOf(StartsWith("w.yaml:9:36: "), HasSubstr("block")));
}

TEST(Steps, SynchronizeWaitsForAllStreamsOrOne) {
  EXPECT_FALSE(first("synchronize").has_stream);
  const Step one = first("synchronize: {stream: 2}");
  EXPECT_EQ(one.kind, Step::Kind::synchronize);
  EXPECT_TRUE(one.has_stream);
  EXPECT_EQ(one.stream, 2u);
}

TEST(Steps, StreamOutOfRangeIsAnError) {
  EXPECT_THAT(error("synchronize: {stream: 65536}"), StartsWith("w.yaml:9:27: "));
  EXPECT_THAT(error("synchronize: {stream: -1}"), StartsWith("w.yaml:9:27: "));
}

TEST(Steps, PrefetchMovesManagedMemory) {
  const Step step = first("prefetch: {buffer: m, to: gpu}");
  EXPECT_EQ(step.kind, Step::Kind::prefetch);
  EXPECT_TRUE(step.to_gpu);
  EXPECT_THAT(error("prefetch: {buffer: a, to: gpu}"),
              AllOf(StartsWith("w.yaml:9:24: "), HasSubstr("only managed buffers")));
}

TEST(Steps, ReadWriteSaveAndFreeNameABuffer) {
  EXPECT_EQ(first("read: m").kind, Step::Kind::read);
  EXPECT_EQ(first("write: m").kind, Step::Kind::write);
  EXPECT_EQ(first("save: m").kind, Step::Kind::save);
  EXPECT_EQ(first("free: m").kind, Step::Kind::free);
  EXPECT_EQ(first("free: m").buffer, 2u);
}

TEST(Steps, PartOfABufferCanBeFreed) {
  EXPECT_FALSE(first("free: m").is_part);
  const Step part = first("free: {buffer: a, offset: 1, count: n - 1}");
  EXPECT_EQ(part.kind, Step::Kind::free);
  EXPECT_TRUE(part.is_part);
  EXPECT_EQ(part.count.text(), "n - 1");
  EXPECT_THAT(error("free: {buffer: p, count: 1}"),
              AllOf(StartsWith("w.yaml:9:"), HasSubstr("part of a pinned buffer")));
}

TEST(Steps, UnknownBufferNamesTheKnownOnes) {
  EXPECT_THAT(error("read: c"), AllOf(StartsWith("w.yaml:9:11: "), HasSubstr("no buffer \"c\""),
                                      HasSubstr("a, twin, m, p")));
}

TEST(Steps, FillHasAValue) {
  const Step step = first("fill: {buffer: a, value: n - 1}");
  EXPECT_EQ(step.kind, Step::Kind::fill);
  EXPECT_EQ(step.value.text(), "n - 1");
  EXPECT_THAT(error("fill: {buffer: a}"), AllOf(StartsWith("w.yaml:9:11: "), HasSubstr("value")));
}

TEST(Steps, DelayHasAUnit) {
  EXPECT_EQ(first("delay: 10us").duration, Time{10'000'000'000});
  EXPECT_THAT(error("delay: 10"), StartsWith("w.yaml:9:12: "));
}

TEST(Steps, SwapTakesTwoEqualBuffers) {
  const Step step = first("swap: [a, twin]");
  EXPECT_EQ(step.kind, Step::Kind::swap);
  EXPECT_EQ(step.buffer, 0u);
  EXPECT_EQ(step.other, 1u);
  EXPECT_THAT(error("swap: [a, m]"), AllOf(StartsWith("w.yaml:9:11: "), HasSubstr("differ")));
  EXPECT_THAT(error("swap: [a]"), AllOf(StartsWith("w.yaml:9:11: "), HasSubstr("two buffers")));
}

TEST(Steps, RepeatHoldsItsProgram) {
  const Step step = first("repeat: {times: n, counter: i, program: [synchronize, read: m]}");
  EXPECT_EQ(step.kind, Step::Kind::repeat_times);
  EXPECT_EQ(step.times.text(), "n");
  EXPECT_EQ(step.counter, "i");
  EXPECT_EQ(step.body.size(), 2u);
}

TEST(Steps, RepeatUntilNamesAnElement) {
  const Step step =
      first("repeat: {until: {buffer: m, index: 1, equals: 0}, program: [synchronize]}");
  EXPECT_EQ(step.kind, Step::Kind::repeat_until);
  EXPECT_EQ(step.buffer, 2u);
  EXPECT_EQ(step.index.text(), "1");
  EXPECT_EQ(step.equals.text(), "0");
}

TEST(Steps, RepeatNeedsExactlyOneCondition) {
  EXPECT_THAT(error("repeat: {program: [synchronize]}"),
              AllOf(StartsWith("w.yaml:9:13: "), HasSubstr("either times or until")));
  EXPECT_THAT(error("repeat: {times: 1, until: {buffer: m, index: 0, equals: 0}, "
                    "program: [synchronize]}"),
              HasSubstr("either times or until"));
}

TEST(Steps, LoopWithoutStepsIsAnError) {
  EXPECT_THAT(error("repeat: {times: 1, program: []}"),
              AllOf(StartsWith("w.yaml:9:33: "), HasSubstr("a loop needs a step")));
}

TEST(Steps, ErrorInsideALoopHasItsOwnPosition) {
  EXPECT_THAT(program_error("  - repeat:\n      times: 1\n      program:\n        - read: c\n"),
              StartsWith("w.yaml:12:17: "));
}

TEST(Steps, UnknownStepNamesTheKnownOnes) {
  EXPECT_THAT(error("lunch: {}"),
              AllOf(StartsWith("w.yaml:9:5: "), HasSubstr("\"lunch\""), HasSubstr("launch")));
}

TEST(Steps, StepWithoutArgumentIsAnError) {
  EXPECT_THAT(error("read"), AllOf(StartsWith("w.yaml:9:5: "), HasSubstr("needs an argument")));
}

TEST(Steps, TwoStepsInOneEntryAreAnError) {
  EXPECT_THAT(error("{read: m, write: m}"),
              AllOf(StartsWith("w.yaml:9:5: "), HasSubstr("one entry")));
}

}  // namespace
}  // namespace lockstep::steps_test
