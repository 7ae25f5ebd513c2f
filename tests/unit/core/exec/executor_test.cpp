#include "core/exec/executor.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/exec/tick_clock.hpp"
#include "core/random/random.hpp"

namespace lockstep::executor_test {
namespace {

/// Tasks that count their runs.  Plain counters of a share belong to one round: a race checker sees
/// whether the executor orders rounds.
class CountedTasks final : public WindowTasks {
 public:
  explicit CountedTasks(std::uint32_t shares) : opened_(shares), runs_(shares) {}

  /// As many tasks as `counts` says, by share, each of which takes `ticks_per_task`.
  void begin(const std::vector<std::uint32_t>& counts, std::uint64_t ticks_per_task) {
    ticks_per_task_ = ticks_per_task;
    for (std::size_t share = 0; share < counts.size(); ++share) {
      opened_[share] = 0;
      runs_[share].assign(counts[share], 0);
    }
  }
  void expect_all_run_once() const {
    for (std::size_t share = 0; share < runs_.size(); ++share) {
      EXPECT_EQ(opened_[share], 1u) << "share " << share;
      for (const std::uint32_t runs : runs_[share]) EXPECT_EQ(runs, 1u) << "share " << share;
    }
  }

  void fetch(std::uint32_t, std::uint64_t) const override {}
  void fetch_outcome() const override {}
  std::uint32_t open(std::uint32_t share, std::uint32_t) override {
    ++opened_[share];
    return static_cast<std::uint32_t>(runs_[share].size());
  }
  void run(std::uint32_t share, std::uint32_t first, std::uint32_t last, std::uint32_t) override {
    for (std::uint32_t task = first; task < last; ++task) {
      ++runs_[share][task];
      for (const std::uint64_t begin = ticks(); ticks() - begin < ticks_per_task_;) {
      }
    }
  }

 private:
  std::vector<std::uint32_t> opened_;
  std::vector<std::vector<std::uint32_t>> runs_;
  std::uint64_t ticks_per_task_ = 0;
};

/// Rounds long enough to share, too short to, and empty ones, in any order.
void run_rounds(Executor& executor, std::uint64_t rounds, std::uint64_t seed) {
  Random random(seed, ComponentId{0}, 0);
  CountedTasks tasks(executor.threads());
  std::vector<std::uint32_t> counts(executor.threads());
  executor.begin();
  for (std::uint64_t round = 1; round <= rounds && !::testing::Test::HasFailure(); ++round) {
    const std::uint64_t most = random.below(4) == 0 ? 1 : 60;
    for (std::uint32_t& count : counts) count = static_cast<std::uint32_t>(random.below(most));
    tasks.begin(counts, random.below(2000));
    executor.run_window(tasks, round);
    tasks.expect_all_run_once();
  }
  executor.end();
}

TEST(Executor, RunsEveryTaskOfEveryRoundOnce) {
  run_rounds(*make_serial_executor(), 200, 1);
  for (const std::uint32_t threads : {2u, 3u, 8u}) {  // more than most machines have cores, too
    SCOPED_TRACE(threads);
    run_rounds(*make_thread_executor(threads), 1000, threads);
  }
}

TEST(Executor, BeginsAgainAfterItsEnd) {
  const std::unique_ptr<Executor> executor = make_thread_executor(2);
  for (std::uint64_t seed = 0; seed < 20; ++seed) run_rounds(*executor, 20, seed);
}

TEST(Executor, RunsAllOnTheCallingThreadOutsideOfBeginAndEnd) {
  const std::unique_ptr<Executor> executor = make_thread_executor(2);
  CountedTasks tasks(2);
  tasks.begin({3, 5}, 0);
  executor->run_window(tasks, 1);
  tasks.expect_all_run_once();
  EXPECT_GT(executor->times().working, 0);
  EXPECT_EQ(executor->times().synchronising, 0);
}

TEST(Executor, AccountsForItsTasksAndForNoMoreTimeThanPassed) {
  const std::unique_ptr<Executor> executor = make_thread_executor(2);
  CountedTasks tasks(2);
  executor->begin();
  const std::uint64_t begin = ticks();
  for (std::uint64_t round = 1; round <= 200; ++round) {
    tasks.begin({20, 20}, 2000);
    executor->run_window(tasks, round);
  }
  const auto elapsed = static_cast<double>(ticks() - begin);
  executor->end();
  const ExecutorTimes times = executor->times();
  const double accounted = times.working + times.synchronising + times.waiting;
  EXPECT_LE(accounted, 1.05 * elapsed);         // clocks of two cores differ a little
  EXPECT_GE(times.working, 200 * 20 * 2000.0);  // on average over the threads
}

}  // namespace
}  // namespace lockstep::executor_test
