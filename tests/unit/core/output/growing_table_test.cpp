#include "core/output/growing_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/output/compare.hpp"
#include "tests/unit/core/output/sample_run.hpp"

namespace lockstep::growing_table_test {
namespace {

using namespace sample;

KernelRow row(std::uint32_t n) {
  return {"kernel_" + std::to_string(n % 7), n, Time{n}, 0.5 * n, n % 2 == 0};
}

/// A run whose kernels end one after the other.
struct GrowingRun {
  RunOutput output;
  GrowingTable kernels;
  StatisticsRecorder recorder;

  template <class... Resumed>
  explicit GrowingRun(const std::string& path, Resumed... resumed)
      : output(path, resumed...),
        kernels(output, table_schema_of<KernelRow>(), std::string("kernel_0").size()),
        recorder(output, Machine::layout(), {"graph", "dense"}) {
    recorder.add(kernels);
  }
  void end_kernels(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t n = first; n < last; ++n) kernels.append(std::vector<KernelRow>{row(n)});
  }
  void finish() {
    recorder.finish();
    output.finish_epochs();
    output.close();
  }
};

std::vector<KernelRow> rows_of(const std::string& path) {
  return read_table<KernelRow>(h5::File::open_to_read(path));
}

void expect_rows(const std::vector<KernelRow>& found, std::uint32_t count) {
  ASSERT_EQ(found.size(), count);
  for (std::uint32_t n = 0; n < count; ++n) {
    EXPECT_EQ(found[n].kernel, row(n).kernel);
    EXPECT_EQ(found[n].tenant, n);
    EXPECT_EQ(found[n].start, Time{n});
    EXPECT_EQ(found[n].ipc, 0.5 * n);
    EXPECT_EQ(found[n].checked, n % 2 == 0);
  }
}

TEST(GrowingTable, RowsAreReadableAfterAFlushWhileTheRunGoesOn) {
  const TemporaryFile file("growing");
  GrowingRun run(file.path());
  run.output.start();
  run.end_kernels(0, 3);
  EXPECT_EQ(rows_of(file.path()).size(), 0u);
  run.recorder.flush();
  expect_rows(rows_of(file.path()), 3);
  run.end_kernels(3, 1000);
  run.recorder.flush();
  expect_rows(rows_of(file.path()), 1000);
}

TEST(GrowingTable, FlushTimesDoNotChangeTheContent) {
  const TemporaryFile often("often_growing"), once("once_growing");
  GrowingRun a(often.path()), b(once.path());
  for (GrowingRun* run : {&a, &b}) run->output.start();
  for (std::uint32_t n = 0; n < 600; ++n) {
    a.end_kernels(n, n + 1);
    if (n % 11 == 0) a.recorder.flush();
    b.end_kernels(n, n + 1);
  }
  for (GrowingRun* run : {&a, &b}) run->finish();
  expect_rows(rows_of(once.path()), 600);
  const FileComparison comparison = compare_files(often.path(), once.path());
  EXPECT_TRUE(comparison.equal) << comparison.text();
}

TEST(GrowingTable, AResumedRunBeginsWithTheRowsBeforeItsCheckpoint) {
  const TemporaryFile file("resumed_growing");
  std::stringstream checkpoint;
  {
    GrowingRun first(file.path());
    first.output.start();
    first.end_kernels(0, 300);
    first.recorder.flush();
    Archive archive = Archive::saving(checkpoint);
    first.recorder.serialize(archive);
    first.end_kernels(300, 310);  // lost: they end once more
    first.recorder.flush();
  }
  GrowingRun second(file.path(), RunOutput::Resumed{});
  Archive archive = Archive::restoring(checkpoint);
  second.recorder.serialize(archive);
  second.recorder.take_rows(second.output.before());
  second.output.start();
  second.end_kernels(300, 400);
  second.finish();
  expect_rows(rows_of(file.path()), 400);
}

TEST(GrowingTable, AnOutputWithFewerRowsIsRefused) {
  const TemporaryFile file("short_growing");
  std::stringstream checkpoint;
  const TemporaryFile other("other_growing");
  GrowingRun longer(other.path());
  longer.output.start();
  longer.end_kernels(0, 10);
  longer.recorder.flush();
  Archive saving = Archive::saving(checkpoint);
  longer.recorder.serialize(saving);
  {
    GrowingRun shorter(file.path());
    shorter.output.start();
  }
  GrowingRun resumed(file.path(), RunOutput::Resumed{});
  Archive archive = Archive::restoring(checkpoint);
  resumed.recorder.serialize(archive);
  try {
    resumed.recorder.take_rows(resumed.output.before());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("has not the 10 rows of /kernels"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace lockstep::growing_table_test
