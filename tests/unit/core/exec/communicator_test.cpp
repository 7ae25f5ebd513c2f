#include "core/exec/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/exec/loopback_ranks.hpp"

namespace lockstep::communicator_test {
namespace {

Communicator::Bytes bytes_of(int rank) {
  return Communicator::Bytes(static_cast<std::size_t>(rank) * 1000, static_cast<std::byte>(rank));
}

TEST(LoopbackRanks, RankZeroGathersWhatAllContribute) {
  LoopbackRanks(3).run([](Communicator& ranks) {
    const std::vector<Communicator::Bytes> all = ranks.gather(bytes_of(ranks.rank()));
    ASSERT_EQ(all.size(), ranks.rank() == 0 ? 3u : 0u);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], bytes_of(static_cast<int>(i)));
  });
}

TEST(LoopbackRanks, ASenderWaitsForItsReceiver) {
  std::atomic<bool> sent = false;
  LoopbackRanks(2).run([&](Communicator& ranks) {
    if (ranks.rank() == 1) {
      ranks.send(0, bytes_of(1));
      sent = true;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_FALSE(sent);
      EXPECT_EQ(ranks.receive(1), bytes_of(1));
    }
  });
}

}  // namespace
}  // namespace lockstep::communicator_test
