#include "models/host/kernel_log.hpp"

#include <gtest/gtest.h>

namespace lockstep::kernel_log_test {
namespace {

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
  KernelLog log;
  EXPECT_EQ(log.add(launch("a")), 0u);
  EXPECT_EQ(log.add(launch("b")), 1u);
  EXPECT_EQ(log[1].kernel, "b");
}

TEST(KernelLog, GivesAwayWhatIsOverUpToTheFirstThatIsNot) {
  KernelLog log;
  for (const char* kernel : {"a", "b", "c", "d"}) log.add(launch(kernel));
  EXPECT_EQ(names(log.take_over()), "");
  log[0].is_over = log[2].is_over = true;
  EXPECT_EQ(names(log.take_over()), "a");
  EXPECT_EQ(names(log.take_over()), "");
  log[1].is_over = true;
  EXPECT_EQ(names(log.take_over()), "bc");
}

TEST(KernelLog, NumbersGoOnAfterSomeWereTaken) {
  KernelLog log;
  log.add(launch("a"));
  log[0].is_over = true;
  log.take_over();
  EXPECT_EQ(log.add(launch("b")), 1u);
  log[1].tenant = 7;
  EXPECT_EQ(log.take_all().front().tenant, 7u);
  EXPECT_THROW(log[0], InternalError);
}

}  // namespace
}  // namespace lockstep::kernel_log_test
