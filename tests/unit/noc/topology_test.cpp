#include "models/noc/topology.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep::test::topology_test {
namespace {

SmId sm(unsigned number) {
  return SmId{static_cast<std::uint16_t>(number)};
}
PartitionId partition(unsigned number) {
  return PartitionId{static_cast<std::uint16_t>(number)};
}

TEST(Topology, ClustersAreAsEqualAsTheyCanBe) {
  const Topology v100({.sms = 80, .partitions = 32, .clusters = 6});
  std::vector<unsigned> members(6);
  for (unsigned i = 0; i < 80; ++i) ++members.at(v100.cluster_of(sm(i)));
  for (const unsigned count : members) {
    EXPECT_GE(count, 13u);
    EXPECT_LE(count, 14u);
  }
}

TEST(Topology, SmsOfAClusterHaveNeighbouringNumbers) {
  for (unsigned sms = 1; sms < 40; ++sms) {
    for (unsigned clusters = 1; clusters <= 2 * sms; ++clusters) {
      const Topology topology({.sms = sms, .partitions = 1, .clusters = clusters});
      for (unsigned cluster = 0; cluster < clusters; ++cluster)
        for (unsigned i = topology.first_sm(cluster).value();
             i < topology.first_sm(cluster + 1).value(); ++i)
          ASSERT_EQ(topology.cluster_of(sm(i)), cluster) << i << " of " << sms;
      EXPECT_EQ(topology.first_sm(0).value(), 0);
      EXPECT_EQ(topology.first_sm(clusters).value(), sms);
    }
  }
}

TEST(Topology, ClustersMayBeOfTheSizesThatAListGives) {
  const Topology h100({.sms = 132, .partitions = 40, .gpcs = {16, 16, 16, 16, 16, 16, 18, 18}});
  EXPECT_EQ(h100.clusters(), 8u);
  std::vector<unsigned> members(8);
  for (unsigned i = 0; i < 132; ++i) ++members.at(h100.cluster_of(sm(i)));
  EXPECT_EQ(members, (std::vector<unsigned>{16, 16, 16, 16, 16, 16, 18, 18}));
  EXPECT_EQ(h100.first_sm(6).value(), 96);
  EXPECT_EQ(h100.first_sm(8).value(), 132);
}

TEST(Topology, TheFirstHalfOfSmsStandsAtTheFirstHalfOfPartitions) {
  const Topology a100({.sms = 108, .partitions = 40, .clusters = 7});
  EXPECT_FALSE(a100.in_second_half(sm(53)));
  EXPECT_TRUE(a100.in_second_half(sm(54)));
  EXPECT_FALSE(a100.in_second_half(partition(19)));
  EXPECT_TRUE(a100.in_second_half(partition(20)));
}

TEST(Topology, AnOddOneStandsInTheFirstHalf) {
  const Topology odd({.sms = 5, .partitions = 3, .clusters = 1});
  EXPECT_FALSE(odd.in_second_half(sm(2)));
  EXPECT_TRUE(odd.in_second_half(sm(3)));
  EXPECT_FALSE(odd.in_second_half(partition(1)));
  EXPECT_TRUE(odd.in_second_half(partition(2)));
}

}  // namespace
}  // namespace lockstep::test::topology_test
