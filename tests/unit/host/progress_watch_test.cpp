#include "models/host/progress_watch.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace lockstep {
namespace {

using namespace literals;
using Bits = ProgressBits;

/// When the first tenant is found, if every epoch of 100 us is like this; nothing within a second.
std::optional<Time> found_at(const Bits& each) {
  ProgressWatch watch(10_ms, each.size());
  for (std::int64_t epoch = 1; epoch <= 10'000; ++epoch) {
    watch.look(100_us * epoch, each);
    if (!watch.found().empty() && watch.found().front() == 0) return 100_us * epoch;
  }
  return std::nullopt;
}

constexpr std::uint8_t waits = progress::unfinished | progress::on_chip;
constexpr std::uint8_t moves = waits | progress::issued | progress::got_on;

TEST(ProgressWatch, WhoWaitsAloneIsFoundAfterTheLimit) {
  EXPECT_EQ(found_at({waits}), 10_ms);
  EXPECT_EQ(found_at({progress::unfinished}), 10_ms);
}

TEST(ProgressWatch, WhoPollsIsFoundSooner) {
  EXPECT_EQ(found_at({waits | progress::issued}), 1_ms);
  EXPECT_EQ(found_at({waits | progress::issued | progress::wants_page}), 10_ms);
  EXPECT_EQ(found_at({waits | progress::issued, moves}), 1_ms);
}

TEST(ProgressWatch, WhoWaitsWhileOthersGetOnHasLonger) {
  EXPECT_EQ(found_at({waits, moves}), 100_ms);
}

TEST(ProgressWatch, WhoseTurnHasNotComeMayWait) {
  EXPECT_EQ(found_at({progress::unfinished, moves}), std::nullopt);
}

TEST(ProgressWatch, WhoGetsOnOrHasEndedIsNotFound) {
  EXPECT_EQ(found_at({moves}), std::nullopt);
  EXPECT_EQ(found_at({waits | progress::stepped}), std::nullopt);
  EXPECT_EQ(found_at({0}), std::nullopt);
}

TEST(ProgressWatch, ItIsToldOnceUntilItGetsOnAgain) {
  ProgressWatch watch(1_ms, 1);
  int told = 0;
  auto look = [&, now = Time::zero()](std::uint8_t bits, int epochs) mutable {
    for (; epochs > 0; --epochs) {
      watch.look(now += 100_us, Bits{bits});
      told += static_cast<int>(watch.found().size());
    }
  };
  look(waits, 50);
  EXPECT_EQ(told, 1);
  look(moves, 1);
  look(waits, 50);
  EXPECT_EQ(told, 2);
}

TEST(ProgressWatch, ALongEpochIsNoProof) {
  ProgressWatch watch(1_ms, 1);
  watch.look(1'000_ms, Bits{waits | progress::issued});
  EXPECT_TRUE(watch.found().empty());
}

}  // namespace
}  // namespace lockstep
