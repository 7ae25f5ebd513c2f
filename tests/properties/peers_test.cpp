/// Random programs on several GPUs that load, store and modify each other's memory: bytes are those
/// of the interpreter, in any layout and through checkpoints.
#include "tests/properties/any_layout.hpp"
#include "tests/properties/random/random_peers.hpp"

namespace lockstep::testing::peers_test {
namespace {

TEST(Peers, AnyLayoutCountsTheSame) {
  expect_same_in_any_layout<RandomPeers>(16);
}

TEST(Peers, AnInterruptionChangesNothing) {
  const auto met = expect_same_when_interrupted<RandomPeers>(16, [](std::uint64_t seed) {
    return MachineBench::after_windows(50 + static_cast<unsigned>(seed) * 37);
  });
  EXPECT_GT(met, 0u) << "all runs were over before";
}

}  // namespace
}  // namespace lockstep::testing::peers_test
