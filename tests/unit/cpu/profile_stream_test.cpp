/// What a profile's stream of accesses looks like before any memory sees it.
#include "models/cpu/profile_stream.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "models/memory/memory_parameters.hpp"
#include "models/workload/cpu/cpu_profiles.hpp"

namespace lockstep::test::profile_stream_test {
namespace {

constexpr std::uint64_t bytes = std::uint64_t{16} << 20;
constexpr std::uint32_t window = 128;

CoreMemory four_partitions(std::uint32_t channels_of_each = 1) {
  DramParameters dram = defaults<MemoryParameters>().dram;
  dram.channels = channels_of_each;
  return {AddressMapping(AddressMapping::Kind::hashed, 4), DramLayout(dram),
          PhysicalAddress{3 * bytes}, bytes};
}

ProfileStream stream_of(const CpuTraffic& traffic, CpuMisses misses = CpuMisses::grouped) {
  return {traffic, misses, window, {2, 27, 110}, four_partitions(), Random(1, ComponentId{5}, 0)};
}

TEST(ProfileStream, HasTheMissesAndWritesOfItsProfile) {
  for (const CpuMisses misses : {CpuMisses::grouped, CpuMisses::spread})
    for (const CpuProfile& profile : cpu_profiles()) {
      SCOPED_TRACE(profile.name);
      ProfileStream stream = stream_of(profile.traffic, misses);
      double reads = 0, writes = 0, instructions = 0;
      for (int i = 0; i < 20'000; ++i) {
        const CpuAccess access = *stream.next();
        (access.write ? writes : reads) += 1;
        instructions = static_cast<double>(access.instruction);
      }
      EXPECT_NEAR(1000 * reads / instructions / profile.traffic.misses, 1, 0.05);
      EXPECT_NEAR(writes / (reads + writes), profile.traffic.write_share, 0.01);
    }
}

TEST(ProfileStream, StaysInItsMemoryAndGoesForwardInItsProgram) {
  ProfileStream stream = stream_of({100, 0.5, 3, 0.3});
  std::int64_t last = 0;
  for (int i = 0; i < 10'000; ++i) {
    const CpuAccess access = *stream.next();
    EXPECT_LT(access.offset, bytes);
    EXPECT_EQ(access.offset % cpu_line_bytes, 0u);
    EXPECT_GE(access.instruction, last);
    last = access.instruction;
  }
}

TEST(ProfileStream, AWindowLiesBetweenTheGroups) {
  ProfileStream stream = stream_of({155, 0.4, 4, 0});
  std::int64_t last = stream.next()->instruction;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t next = stream.next()->instruction;
    EXPECT_TRUE(next == last + 1 || next > last + window) << next - last;
    last = next;
  }
}

TEST(ProfileStream, SpreadReadsAreEvenlyApart) {
  ProfileStream stream = stream_of({160, 0.4, 4, 0}, CpuMisses::spread);
  const std::int64_t first = stream.next()->instruction;
  EXPECT_LT(first, 7);
  std::int64_t last = first;
  for (int i = 1; i <= 1000; ++i) {
    const std::int64_t next = stream.next()->instruction;
    EXPECT_TRUE(next == last + 6 || next == last + 7) << next - last;  // 1000 / 160 = 6.25
    if (i % 4 == 0) {
      EXPECT_EQ(next, first + i / 4 * 25);
    }
    last = next;
  }
}

TEST(ProfileStream, ASpreadStreamGoesOnFromWhereItWasSaved) {
  const CpuTraffic traffic{70, 0.9, 1.5, 0.25};
  ProfileStream whole = stream_of(traffic, CpuMisses::spread);
  ProfileStream other = stream_of(traffic, CpuMisses::spread);
  for (int i = 0; i < 777; ++i) whole.next();
  std::stringstream saved;
  Archive out = Archive::saving(saved);
  whole.serialize(out);
  Archive in = Archive::restoring(saved);
  other.serialize(in);
  for (int i = 0; i < 1000; ++i) {
    const CpuAccess a = *whole.next(), b = *other.next();
    ASSERT_EQ(a.instruction, b.instruction);
    ASSERT_EQ(a.offset, b.offset);
    ASSERT_EQ(a.write, b.write);
  }
}

TEST(ProfileStream, StaysInARowAsOftenAsItsLocalitySays) {
  ProfileStream stream = stream_of({50, 0.7, 3, 0.2});
  const CoreMemory memory = four_partitions();
  std::map<std::uint32_t, std::uint64_t> open;
  std::set<std::uint32_t> banks;
  int hits = 0;
  constexpr int accesses = 20'000;
  for (int i = 0; i < accesses; ++i) {
    const CpuAccess access = *stream.next();
    const CoreMemory::Place place = memory.place_of(access.offset);
    const std::uint64_t row = DramLayout(defaults<MemoryParameters>().dram)
                                  .locate(AddressMapping(AddressMapping::Kind::hashed, 4)
                                              .offset(memory.address(access.offset)))
                                  .row;
    hits += open.contains(place.bank) && open[place.bank] == row;
    open[place.bank] = row;
    banks.insert(place.bank);
  }
  EXPECT_NEAR(static_cast<double>(hits) / accesses, 0.7, 0.015);
  EXPECT_EQ(banks.size(), memory.banks());
}

TEST(CoreMemory, APlaceInARowIsWhereItsOffsetSays) {
  for (const std::uint32_t channels : {1u, 2u, 4u}) {
    const CoreMemory memory = four_partitions(channels);
    EXPECT_EQ(memory.banks(), channels * four_partitions().banks());
    for (std::uint32_t bank = 0; bank < memory.banks(); ++bank)
      for (const std::uint64_t row : {std::uint64_t{0}, memory.rows() - 1})
        for (const std::uint64_t byte : {std::uint64_t{0}, memory.row_bytes() - 64}) {
          const std::uint64_t offset = memory.offset_of(bank, row, byte);
          EXPECT_LT(offset, memory.bytes());
          EXPECT_EQ(memory.place_of(offset).bank, bank);
        }
  }
}

}  // namespace
}  // namespace lockstep::test::profile_stream_test
