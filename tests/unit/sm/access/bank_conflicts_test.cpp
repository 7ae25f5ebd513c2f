#include "models/sm/access/bank_conflicts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "models/noc/messages.hpp"
#include "models/sm/access/coalescer.hpp"

namespace lockstep::bank_conflicts_test {
namespace {

Access coalesced(const LaneAddresses& address, std::uint32_t active, unsigned bytes) {
  Access access;
  access.active = active;
  access.stride = static_cast<std::uint8_t>(bytes);
  coalesce(access, address, bytes);
  return access;
}

/// Of 32 words that stand `stride` words apart.
unsigned conflicts(std::uint64_t stride) {
  LaneAddresses address;
  for (unsigned lane = 0; lane < 32; ++lane) address[lane] = 0x10000 + lane * stride * 4;
  return most_words_of_a_bank(coalesced(address, ~0u, 4));
}

TEST(BankConflicts, OddStridesHaveNoneAndEvenOnesTheirPowerOfTwo) {
  for (const std::uint64_t stride : {1, 3, 17, 31, 33}) EXPECT_EQ(conflicts(stride), 1u) << stride;
  EXPECT_EQ(conflicts(2), 2u);
  EXPECT_EQ(conflicts(6), 2u);
  EXPECT_EQ(conflicts(4), 4u);
  EXPECT_EQ(conflicts(32), 32u);
}

TEST(BankConflicts, LanesThatWantTheSameWordShareIt) {
  EXPECT_EQ(conflicts(0), 1u);
}

TEST(BankConflicts, WideLanesTakeACycleForEach128Bytes) {
  LaneAddresses address;
  for (unsigned lane = 0; lane < 32; ++lane) address[lane] = 0x10000 + lane * 16;
  EXPECT_EQ(most_words_of_a_bank(coalesced(address, ~0u, 16)), 4u);
  std::reverse(address.begin(), address.end());
  EXPECT_EQ(most_words_of_a_bank(coalesced(address, ~0u, 16)), 4u);
}

TEST(BankConflicts, AgreesWithCountingTheWordsOfEachBank) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const unsigned bytes = std::array{1u, 2u, 4u, 8u, 16u}[random() % 5];
    const std::uint32_t active = random() | 1;
    LaneAddresses address{};
    for (std::uint64_t& one : address) one = 0x10000 + random() % (round % 2 ? 256 : 4096) * bytes;
    std::array<std::set<std::uint64_t>, 32> words;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (std::uint64_t at = address[lane]; (active >> lane & 1) && at < address[lane] + bytes;
           ++at)
        words[at / 4 % 32].insert(at / 4);
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    const Access access = coalesced(address, active, bytes);
    if (!access.contiguous) {
      EXPECT_EQ(most_words_of_a_bank(access), most) << round;
    }
  }
}

}  // namespace
}  // namespace lockstep::bank_conflicts_test
