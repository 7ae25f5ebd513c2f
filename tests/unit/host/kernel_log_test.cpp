#include "models/host/kernel_log.hpp"

#include <gtest/gtest.h>

namespace lockstep::kernel_log_test {
namespace {

constexpr Time settling{5}, now{100};

KernelRecord launch(const std::string& kernel) {
  KernelRecord record;
  record.kernel = kernel;
  return record;
}

std::string names(const std::vector<KernelRecord>& records) {
  std::string text;
  for (const KernelRecord& record : records) text += record.kernel;
  return text;
}

TEST(KernelLog, NumbersGridsInTheOrderOfLaunches) {
  KernelLog log(settling);
  EXPECT_EQ(log.add(launch("a")), 0u);
  EXPECT_EQ(log.add(launch("b")), 1u);
  EXPECT_EQ(log[1].kernel, "b");
}

TEST(KernelLog, GivesAwayWhatIsOverUpToTheFirstThatIsNot) {
  KernelLog log(settling);
  for (const char* kernel : {"a", "b", "c", "d"}) log.add(launch(kernel));
  EXPECT_EQ(names(log.take_over(now)), "");
  log[0].is_over = log[2].is_over = true;
  EXPECT_EQ(names(log.take_over(now)), "a");
  EXPECT_EQ(names(log.take_over(now)), "");
  log[1].is_over = true;
  EXPECT_EQ(names(log.take_over(now)), "bc");
}

TEST(KernelLog, KeepsWhatIsDoneUntilAllHaveHeardOfIt) {
  KernelLog log(settling);
  log.add(launch("a"));
  log[0].done = now;
  log[0].is_over = true;
  EXPECT_EQ(names(log.take_over(now + settling)), "");
  EXPECT_EQ(names(log.take_over(now + settling + Time{1})), "a");
}

TEST(KernelLog, AddsUpWhatIsCountedOfAGrid) {
  KernelLog log(settling);
  log.add(launch("a"));
  GridContribution counted{0, {}};
  counted.counts.l1_hits = 3;
  log.add(counted);
  log.add(counted);
  EXPECT_EQ(log[0].counts.l1_hits, 6u);
  EXPECT_THROW(log.add({1, {}}), InternalError);
}

TEST(KernelLog, NumbersGoOnAfterSomeWereTaken) {
  KernelLog log(settling);
  log.add(launch("a"));
  log[0].is_over = true;
  log.take_over(now);
  EXPECT_EQ(log.add(launch("b")), 1u);
  log[1].tenant = 7;
  EXPECT_EQ(log.take_all().front().tenant, 7u);
  EXPECT_THROW(log[0], InternalError);
}

}  // namespace
}  // namespace lockstep::kernel_log_test
