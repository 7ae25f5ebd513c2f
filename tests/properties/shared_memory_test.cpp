/// GPUs of a tenant that take pages of managed memory from each other: bytes are those of the
/// interpreter, in any layout and through checkpoints, under every peer policy.
#include "tests/properties/any_layout.hpp"
#include "tests/properties/random/random_storm.hpp"

namespace lockstep::testing::shared_memory_test {
namespace {

TEST(SharedMemory, StormsOfFaultsLeaveTheSameInAnyLayout) {
  expect_same_in_any_layout<RandomStorm>(6);
}

TEST(SharedMemory, AnInterruptionInAStormChangesNothing) {
  const auto met = expect_same_when_interrupted<RandomStorm>(
      16, [](std::uint64_t seed) { return when_pages_are_awaited(1 + seed % 40); });
  EXPECT_GT(met, 0u) << "pages were never waited for";
}

TEST(SharedMemory, AnInterruptionWhilePagesGoFromGpuToGpuChangesNothing) {
  const auto met = expect_same_when_interrupted<RandomStorm>(16, [](std::uint64_t seed) {
    return when_pages_are_awaited(1 + seed % 7, "wait for other GPUs");
  });
  EXPECT_GT(met, 0u) << "no page was fetched";
}

}  // namespace
}  // namespace lockstep::testing::shared_memory_test
