#include "core/output/recorder.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "core/output/compare.hpp"
#include "tests/unit/core/output/sample_run.hpp"

namespace lockstep::recorder_test {
namespace {

using namespace sample;

std::vector<std::uint64_t> read_u64(const std::string& path, const std::string& dataset) {
  const h5::File file = h5::File::open_to_read(path);
  const h5::Shape shape = file.shape(dataset);
  const auto bytes = file.read(dataset, 0, shape.empty() ? 1 : shape[0]);
  std::vector<std::uint64_t> values(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Recorder, RowsHoldIncrementsOfCountersAndLevelsOfGauges) {
  const TemporaryFile file("increments");
  SampleRun run(file.path());
  for (std::uint64_t n = 0; n < 3; ++n) run.epoch(n);
  run.finish();
  EXPECT_EQ(read_u64(file.path(), "/stats/sm/instructions"),
            (std::vector<std::uint64_t>{0, 1, 2, 10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(read_u64(file.path(), "/stats/sm/warps"),
            (std::vector<std::uint64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(read_u64(file.path(), "/stats/partition/reads"),
            (std::vector<std::uint64_t>{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0}));
  EXPECT_EQ(read_u64(file.path(), "/final/stats/sm/instructions"),
            (std::vector<std::uint64_t>{30, 33, 36}));
  EXPECT_EQ(read_u64(file.path(), "/epochs/time"),
            (std::vector<std::uint64_t>{10'000'000'000, 20'000'000'000, 30'000'000'000}));
}

TEST(Recorder, EpochWithoutAChangedCounterWritesNoRow) {
  const TemporaryFile file("idle");
  SampleRun run(file.path());
  run.epoch(1);
  run.machine.sms[0].warps = 99;
  run.recorder.record(Time{50'000'000'000}, run.machine.words(run.recorder.layout()));
  EXPECT_EQ(run.recorder.epochs(), 1u);
  run.epoch(2);
  EXPECT_EQ(run.recorder.epochs(), 2u);
  run.finish();
  EXPECT_EQ(read_u64(file.path(), "/stats/sm/warps"),
            (std::vector<std::uint64_t>{1, 1, 1, 2, 2, 2}));
}

TEST(Recorder, ThousandsOfEpochsCompress) {
  const TemporaryFile file("many");
  SampleRun run(file.path());
  for (std::uint64_t n = 0; n < 5000; ++n) run.epoch(n % 7);
  run.finish();
  EXPECT_EQ(read_u64(file.path(), "/epochs/time").size(), 5000u);
  EXPECT_LT(std::filesystem::file_size(file.path()), 5000u * 24 * 8 / 2);
}

TEST(Recorder, FlushTimesDoNotChangeTheContent) {
  const TemporaryFile often("often"), once("once");
  SampleRun a(often.path()), b(once.path());
  for (std::uint64_t n = 0; n < 200; ++n) {
    a.epoch(n);
    a.recorder.flush();
    b.epoch(n);
  }
  a.finish();
  b.finish();
  const FileComparison comparison = compare_files(often.path(), once.path());
  EXPECT_TRUE(comparison.equal) << comparison.text();
}

}  // namespace
}  // namespace lockstep::recorder_test
