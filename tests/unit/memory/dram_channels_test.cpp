/// Several DRAM channels of a partition: where bytes stand, and what goes on side by side.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/memory/dram/dram_layout.hpp"
#include "tests/unit/memory/partition_bench.hpp"

namespace lockstep::test::dram_channels_test {
namespace {

using namespace literals;

constexpr std::uint32_t counts[] = {1, 2, 4, 8, 16};

DramLayout layout_of(std::uint32_t channels) {
  DramParameters p = defaults<MemoryParameters>().dram;
  p.channels = channels;
  return DramLayout(p);
}

TEST(DramChannels, APlaceIsThatOfOneByte) {
  for (const std::uint32_t channels : counts) {
    const DramLayout layout = layout_of(channels);
    for (std::uint64_t offset = 0; offset < std::uint64_t{1} << 36; offset = offset * 3 + 96) {
      const DramAddress place = layout.locate(PartitionOffset{offset});
      const PartitionOffset first = layout.offset_of(place, 0);
      bool found = false;
      for (std::uint64_t byte = 0; byte < layout.row_bytes() && !found; byte += 32)
        found = layout.offset_of(place, byte).value() == offset / 32 * 32;
      EXPECT_TRUE(found) << channels << " channels, offset " << offset << ", row at "
                         << first.value();
    }
  }
}

TEST(DramChannels, NeighboursAndStridesUseAllChannelsAlike) {
  for (const std::uint32_t channels : counts)
    for (std::uint64_t stride = 256; stride <= 1 << 20; stride *= 2) {
      const DramLayout layout = layout_of(channels);
      std::map<std::uint32_t, int> used;
      for (std::uint64_t i = 0; i < 1024; ++i) ++used[layout.channel(PartitionOffset{i * stride})];
      ASSERT_EQ(used.size(), channels) << "stride " << stride;
      for (const auto& [channel, times] : used)
        EXPECT_NEAR(times, 1024 / channels, 1024 / channels / 2 + 1) << "stride " << stride;
    }
}

TEST(DramChannels, AStripeHasOneRowOfEveryBank) {
  for (const std::uint32_t channels : counts) {
    const DramLayout layout = layout_of(channels);
    std::set<std::tuple<int, int, unsigned>> rows;
    for (std::uint64_t offset = 0; offset < layout.stripe_bytes(); offset += 256) {
      const DramAddress place = layout.locate(PartitionOffset{offset});
      rows.insert({place.channel, place.bank, place.row});
    }
    EXPECT_EQ(rows.size(), channels * layout.banks());
  }
}

MemoryParameters memory_with(std::uint32_t channels) {
  MemoryParameters p = small_memory();
  p.dram.channels = channels;
  p.l2.mshrs = 64;
  p.l2.bank_width = 128;
  p.l2.response_rate = 16;
  p.l2.bank_queue = p.l2.fill_queue = p.l2.response_queue = 64;
  return p;
}
/// Cycles from the first load of `count` lines to the last answer.
std::int64_t cycles_of_loads(std::uint32_t channels, const std::vector<std::uint64_t>& lines) {
  PartitionBench bench(memory_with(channels));
  for (std::uint32_t i = 0; i < lines.size(); ++i) bench.load(0, lines[i], 15, i);
  bench.run();
  std::int64_t last = 0;
  for (std::uint32_t i = 0; i < lines.size(); ++i) last = std::max(last, bench.departure(i));
  return last;
}

TEST(DramChannels, RowsOfTwoChannelsOpenSideBySide) {
  const DramLayout layout = layout_of(2);
  // Two rows of one bank each: one after the other in one channel, at once in two.
  const auto line = [&](std::uint8_t channel, std::uint32_t row) {
    return layout.offset_of({row, 0, channel}, 0).value();
  };
  const std::int64_t same = cycles_of_loads(2, {line(0, 0), line(0, 1)});
  const std::int64_t other = cycles_of_loads(2, {line(0, 0), line(1, 1)});
  EXPECT_GE(same - other, memory_with(2).dram.rc.count() - 8);
}

TEST(DramChannels, TwoMoveNearlyTwiceAsMuchAsOne) {
  std::vector<std::uint64_t> lines;
  for (std::uint64_t i = 0; i < 64; ++i) lines.push_back(i * 128);
  const auto beyond_the_first = [&](std::uint32_t channels) {
    return cycles_of_loads(channels, lines) - cycles_of_loads(channels, {0});
  };
  EXPECT_LT(beyond_the_first(2), beyond_the_first(1) * 0.65);
}

TEST(DramChannels, GoOnFromACheckpointAsWithoutOne) {
  const auto send = [](PartitionBench& bench) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      bench.load(i, (i * 37 % 64) * 1024, 15, i);
      bench.store(i, (i * 29 % 64) * 2048 + 512, i, ~0u, 15, 100 + i, 1);
    }
  };
  PartitionBench whole(memory_with(4)), before(memory_with(4));
  send(whole);
  send(before);
  whole.run();
  before.run_to(90, 10);
  PartitionBench after(memory_with(4));
  after.restore(before.save());
  after.run();
  std::vector<PartitionBench::Answer> all = before.answers();
  all.insert(all.end(), after.answers().begin(), after.answers().end());
  EXPECT_EQ(all, whole.answers());
}

}  // namespace
}  // namespace lockstep::test::dram_channels_test
