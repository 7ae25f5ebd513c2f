#include "core/output/compare.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/output/sample_run.hpp"

namespace lockstep::compare_test {
namespace {

using namespace sample;

/// A finished run of 20 epochs that `change` may disturb before each epoch.
template <class Change>
void write_run(const std::string& path, Change&& change, double wall_seconds = 1) {
  SampleRun run(path);
  for (std::uint64_t n = 0; n < 20; ++n) {
    change(n, run.machine);
    run.epoch(n);
  }
  run.finish(wall_seconds);
}
void nothing(std::uint64_t, Machine&) {}

TEST(CompareFiles, EqualRunsAreEqualWhateverStandsInRun) {
  const TemporaryFile a("a"), b("b");
  write_run(a.path(), nothing, 1);
  write_run(b.path(), nothing, 2);
  const FileComparison comparison = compare_files(a.path(), b.path());
  EXPECT_TRUE(comparison.equal) << comparison.text();
}

TEST(CompareFiles, NamesTheFirstEpochComponentAndCounter) {
  const TemporaryFile a("a"), b("b");
  write_run(a.path(), nothing);
  write_run(b.path(), [](std::uint64_t n, Machine& machine) {
    if (n == 9) machine.sms[1].instructions += 1000;
    if (n == 5) machine.partitions[1].delay.add(3);
  });
  const FileComparison comparison = compare_files(a.path(), b.path());
  EXPECT_FALSE(comparison.equal);
  EXPECT_EQ(comparison.first_difference,
            "epoch 5 (ends at 60us), partition[1], delay[2]: 0 against 1");
  EXPECT_EQ(comparison.largest.at(0).substr(0, 65),
            "epoch 9 (ends at 100us), sm[1], instructions: 91 against 1091 (1 ");
}

TEST(CompareFiles, NamesAMissingEpoch) {
  const TemporaryFile a("a"), b("b");
  write_run(a.path(), nothing);
  {
    SampleRun run(b.path());
    for (std::uint64_t n = 0; n < 19; ++n) run.epoch(n);
    run.finish();
  }
  const std::string text = compare_files(a.path(), b.path()).text();
  EXPECT_NE(text.find("/epochs/time has 20 rows against 19"), std::string::npos) << text;
}

TEST(CompareFiles, NamesColumnsAttributesAndMissingData) {
  const TemporaryFile a("a"), b("b");
  write_run(a.path(), nothing);
  write_run(b.path(), nothing);
  {
    h5::File file = h5::File::open(b.path());
    file.set_attribute("/stats/sm/warps", "extra", std::string("x"));
    file.write_text("/final/extra", "x");
    file.close();
  }
  const FileComparison comparison = compare_files(a.path(), b.path());
  EXPECT_FALSE(comparison.equal);
  EXPECT_EQ(comparison.first_difference, "/final/extra is only in " + b.path());
  EXPECT_EQ(comparison.largest.at(1),
            "attribute \"extra\" of /stats/sm/warps is only in " + b.path());
}

TEST(CompareFiles, NamesTheColumnOfATable) {
  const TemporaryFile a("a"), b("b");
  for (const auto* file : {&a, &b}) {
    RunOutput output(file->path());
    output.write_table<KernelRow>(
        {{"same", 1, Time{5}, 1.5, true}, {"k", 0, Time{file == &a ? 7 : 8}, 0, false}});
    output.close();
  }
  EXPECT_EQ(compare_files(a.path(), b.path()).first_difference,
            "/kernels row 1: column start: 7 against 8");
}

}  // namespace
}  // namespace lockstep::compare_test
