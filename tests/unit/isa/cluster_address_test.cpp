/// Ranks of blocks in a cluster, and addresses of its shared memory.
#include <gtest/gtest.h>

#include <set>

#include "models/isa/cluster.hpp"

namespace lockstep::isa::cluster_address_test {
namespace {

TEST(ClusterRanks, CountTheBlocksOfEachClusterXFastest) {
  for (std::uint32_t x = 1; x <= 16; ++x)
    for (std::uint32_t y = 1; x * y <= 16; ++y)
      for (std::uint32_t z = 1; x * y * z <= 16; ++z) {
        const ClusterShape shape{x, y, z};
        const std::array<std::uint32_t, 3> first{3 * x, 2 * y, 5 * z};
        std::uint32_t rank = 0;
        for (std::uint32_t k = 0; k < z; ++k)
          for (std::uint32_t j = 0; j < y; ++j)
            for (std::uint32_t i = 0; i < x; ++i, ++rank) {
              const std::array<std::uint32_t, 3> block{first[0] + i, first[1] + j, first[2] + k};
              EXPECT_EQ(cluster_rank(block, shape), rank);
              for (std::uint32_t other = 0; other < blocks_of(shape); ++other)
                EXPECT_EQ(cluster_rank(block_of_rank(block, shape, other), shape), other);
              EXPECT_EQ(block_of_rank(first, shape, rank), block);
            }
        EXPECT_EQ(rank, blocks_of(shape));
      }
}

TEST(ClusterAddresses, NameOneByteOfOneBlockEach) {
  std::set<std::uint32_t> seen;
  const std::uint32_t offsets[] = {0, 1, 8, 227 * 1024 - 1, ClusterAddress::block_bytes - 1};
  for (std::uint32_t rank = 0; rank < ClusterAddress::most_blocks; ++rank)
    for (const std::uint32_t offset : offsets) {
      const std::uint32_t address = ClusterAddress::in_block(offset, rank);
      EXPECT_LT(address, shared_window_bytes);
      EXPECT_TRUE(seen.insert(address).second);
      const ClusterAddress place = ClusterAddress::unpack(address);
      EXPECT_EQ(place.offset, offset);
      EXPECT_EQ(place.packed(), address);
      for (std::uint32_t asks = 0; asks < ClusterAddress::most_blocks; ++asks)
        EXPECT_EQ(place.rank(asks), rank);
    }
}

TEST(ClusterAddresses, OfTheBlockItselfAreThoseOfItsSharedMemory) {
  for (std::uint32_t offset = 0; offset < ClusterAddress::block_bytes; offset += 12'345) {
    const ClusterAddress place = ClusterAddress::unpack(offset);
    EXPECT_EQ(place.code, ClusterAddress::own);
    EXPECT_EQ(place.offset, offset);
    EXPECT_EQ(place.rank(7), 7u);
  }
}

TEST(ClusterAddresses, MoveToAnotherBlockFromWhereverTheyAre) {
  for (std::uint32_t from = 0; from < 16; ++from)
    for (std::uint32_t to = 0; to < 16; ++to)
      EXPECT_EQ(ClusterAddress::in_block(ClusterAddress::in_block(0x1234, from), to),
                ClusterAddress::in_block(0x1234, to));
}

TEST(ClusterAddresses, OfRanksThatNoClusterHasStayBeyondAllOfThem) {
  for (const std::uint32_t rank : {16u, 61u, 62u, 63u, 1000u, 0xffffffffu}) {
    const std::uint32_t address = ClusterAddress::in_block(0x40, rank);
    EXPECT_LT(address, shared_window_bytes);
    EXPECT_GE(ClusterAddress::unpack(address).rank(0), ClusterAddress::most_blocks);
  }
}

}  // namespace
}  // namespace lockstep::isa::cluster_address_test
