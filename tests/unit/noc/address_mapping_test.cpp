#include "models/noc/address_mapping.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace lockstep::address_mapping_test {
namespace {

using Kind = AddressMapping::Kind;

PhysicalAddress at(std::uint64_t address) {
  return PhysicalAddress{address};
}

class EveryMapping : public testing::TestWithParam<std::tuple<Kind, std::uint32_t>> {
 protected:
  AddressMapping mapping() const { return {std::get<0>(GetParam()), std::get<1>(GetParam())}; }
};

TEST_P(EveryMapping, PhysicalIsTheInverseOfPartitionAndOffset) {
  const AddressMapping m = mapping();
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const PhysicalAddress address = at(i * 97 + (i % 7) * 0x1234'5678'9a0);
    const PartitionId partition = m.partition(address);
    ASSERT_LT(partition.value(), m.partitions());
    EXPECT_EQ(m.physical(partition, m.offset(address)), address);
  }
}

TEST_P(EveryMapping, OffsetsOfAPartitionAreDense) {
  const AddressMapping m = mapping();
  const std::uint64_t stripe = m.chunk_bytes() * m.partitions();
  std::vector<std::set<PartitionOffset>> seen(m.partitions());
  for (std::uint64_t a = 0; a < 16 * stripe; a += m.chunk_bytes())
    seen[m.partition(at(a)).value()].insert(m.offset(at(a)));
  for (const auto& offsets : seen) {
    EXPECT_EQ(offsets.size(), 16u);
    EXPECT_EQ(*offsets.rbegin(), PartitionOffset{15 * m.chunk_bytes()});
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, EveryMapping,
                         testing::Combine(testing::Values(Kind::plain, Kind::hashed, Kind::frame),
                                          testing::Values(1u, 2u, 3u, 6u, 8u, 32u, 40u, 64u,
                                                          1024u)));

TEST(AddressMapping, HashedSpreadsPowerOfTwoStrides) {
  // IPOLY is free of conflicts for them: as many chunks as partitions reach every partition once.
  const AddressMapping m(Kind::hashed, 32);
  for (std::uint64_t stride = 256; stride <= (1u << 20); stride *= 2) {
    std::set<PartitionId> used;
    for (std::uint64_t i = 0; i < 32; ++i) used.insert(m.partition(at(i * stride)));
    EXPECT_EQ(used.size(), 32u) << stride;
  }
}

TEST(AddressMapping, PlainPutsSuchStridesInOnePartition) {
  const AddressMapping m(Kind::plain, 32);
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(m.partition(at(i * 8192)), PartitionId{0});
}

TEST(AddressMapping, HashedFollowsThePublishedEquationsForSixteenSlices) {
  // U * x^4 mod x^4 + x + 1: the lowest bit of U turns bits 1 and 0, the next bits 2 and 1.
  const AddressMapping m(Kind::hashed, 16);
  EXPECT_EQ(m.partition(at(std::uint64_t{1} << 12)).value(), 0b0011);
  EXPECT_EQ(m.partition(at(std::uint64_t{1} << 13)).value(), 0b0110);
  EXPECT_EQ(m.partition(at(std::uint64_t{1} << 14)).value(), 0b1100);
  EXPECT_EQ(m.partition(at(std::uint64_t{1} << 15)).value(), 0b1011);
}

/// Two groups of 1 MiB and four partitions each.
class GroupedMapping : public testing::Test {
 protected:
  static constexpr std::uint64_t mib = 1 << 20;
  const AddressMapping m{Kind::grouped, 8, {.count = 2, .bytes = mib}};
};

TEST_F(GroupedMapping, EachPartOfMemoryLiesInItsOwnPartitions) {
  std::set<PartitionId> first, second, behind;
  for (std::uint64_t address = 0; address < mib; address += 256) {
    first.insert(m.partition(at(address)));
    second.insert(m.partition(at(mib + address)));
    behind.insert(m.partition(at(2 * mib + address)));
  }
  EXPECT_EQ(first, (std::set<PartitionId>{PartitionId{0}, PartitionId{1}, PartitionId{2},
                                          PartitionId{3}}));
  EXPECT_EQ(second, (std::set<PartitionId>{PartitionId{4}, PartitionId{5}, PartitionId{6},
                                           PartitionId{7}}));
  EXPECT_EQ(behind.size(), 8u);
}

TEST_F(GroupedMapping, EveryByteHasItsOwnPlace) {
  std::set<std::pair<PartitionId, PartitionOffset>> places;
  for (std::uint64_t address = 0; address < 3 * mib; address += 64) {
    const PartitionId partition = m.partition(at(address));
    const PartitionOffset offset = m.offset(at(address));
    EXPECT_TRUE(places.emplace(partition, offset).second);
    EXPECT_LT(offset.value(), 3 * mib / 8);
    EXPECT_EQ(m.physical(partition, offset), at(address));
  }
}

TEST(AddressMapping, AFrameStaysInOnePartition) {
  const AddressMapping m(Kind::frame, 6);
  for (std::uint64_t frame = 0; frame < 100; ++frame)
    for (std::uint64_t byte = 0; byte < 4096; byte += 128)
      EXPECT_EQ(m.partition(at(frame * 4096 + byte)).value(), frame % 6);
}

}  // namespace
}  // namespace lockstep::address_mapping_test
