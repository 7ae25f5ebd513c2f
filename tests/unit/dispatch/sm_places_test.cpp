/// Where blocks stand in an SM, and whose stand in the way of a preempting kernel.
/// Source: 003, sections 3.2 and 3.3, Figures 3.2, 3.8 and 3.9; preemption.md, sections 6 and 7.1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/dispatch/victims/in_place.hpp"
#include "models/dispatch/victims/victim_selection.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using Blocks = std::vector<std::uint64_t>;

constexpr std::uint32_t running = 1, preempting = 2;

BlockResources need(std::uint32_t registers, std::uint32_t shared = 0, std::uint32_t threads = 32) {
  BlockResources block;
  block.threads = threads;
  block.warps = threads / 32;
  block.blocks = 1;
  block.registers = registers;
  block.shared_bytes = shared;
  return block;
}

OccupancyLimits room(std::uint32_t registers, std::uint32_t shared = 49152) {
  OccupancyLimits limits;
  limits.threads = 1536;
  limits.warps = 48;
  limits.blocks = 8;
  limits.registers = registers;
  limits.shared_bytes = shared;
  return limits;
}

/// With so many blocks of the running kernel.
SmPlaces filled(const OccupancyLimits& limits, const BlockResources& block, std::uint64_t count,
                Placement placement = Placement::aligned) {
  SmPlaces places(limits, placement);
  for (std::uint64_t i = 0; i < count; ++i) places.enter(running, i, block);
  return places;
}

std::vector<Blocks> candidates(const SmPlaces& places, const BlockResources& need) {
  std::vector<Blocks> all;
  for (std::uint32_t i = 0; i < places.places_for(need); ++i)
    all.push_back(places.candidate(i, need, running).value());
  return all;
}

TEST(SmPlaces, NaivelyOneBlockFitsAlignedTwo) {
  for (const auto& [placement, expected] :
       {std::pair{Placement::packed, 1}, {Placement::aligned, 2}}) {
    SmPlaces places = filled(room(4), need(1), 4, placement);
    int entered = 0;
    const auto leave = [&](std::uint64_t one, std::uint64_t other) {
      places.leave(running, one);
      places.leave(running, other);
      if (!places.has_place(need(2))) return;
      places.enter(preempting, 0, need(2));
      ++entered;
    };
    leave(1, 2);
    leave(0, 3);
    if (places.has_place(need(2))) {
      places.enter(preempting, 1, need(2));
      ++entered;
    }
    EXPECT_EQ(entered, expected) << "Figure 3.2";
  }
}

TEST(SmPlaces, CandidatesLoseABlockThatLeaves) {
  SmPlaces places = filled(room(80), need(9), 8);
  EXPECT_THAT(candidates(places, need(20)),
              ElementsAre(Blocks{0, 1, 2}, Blocks{2, 3, 4}, Blocks{4, 5, 6}, Blocks{6, 7}))
      << "Figure 3.8";
  for (const std::uint64_t block : {2, 3, 4}) places.leave(running, block);
  EXPECT_THAT(candidates(places, need(20)),
              ElementsAre(Blocks{0, 1}, Blocks{}, Blocks{5, 6}, Blocks{6, 7}))
      << "Figure 3.9";
}

/// Of the urgent task of 003: 4096 registers and 2048 bytes.
std::vector<Blocks> urgent_candidates(const BlockResources& block, std::uint64_t count) {
  return candidates(filled(room(32768), block, count), need(4096, 2048, 256));
}

TEST(SmPlaces, HaveTheCandidatesOfThePaper) {
  EXPECT_THAT(urgent_candidates(need(9216, 3072, 256), 3),
              ElementsAre(Blocks{0}, Blocks{0, 1}, Blocks{0, 1}, Blocks{1, 2}, Blocks{1, 2},
                          Blocks{2}, Blocks{2}, Blocks{}))
      << "hotspot: the last place is free";
  EXPECT_THAT(urgent_candidates(need(8192, 11872, 256), 4),
              ElementsAre(Blocks{0}, Blocks{0}, Blocks{0, 1}, Blocks{0, 1}, Blocks{0, 2},
                          Blocks{0, 1, 2}, Blocks{1, 3}, Blocks{1, 3}))
      << "heartwall";
  EXPECT_THAT(urgent_candidates(need(5120, 6144, 256), 6),
              ElementsAre(Blocks{0}, Blocks{0, 1}, Blocks{0, 1, 2}, Blocks{1, 2, 3}, Blocks{1, 3},
                          Blocks{1, 4}, Blocks{2, 4, 5}, Blocks{2, 5}))
      << "srad";
  EXPECT_THAT(urgent_candidates(need(8192, 0, 512), 3),
              ElementsAre(Blocks{0}, Blocks{0}, Blocks{1}, Blocks{1}, Blocks{2}, Blocks{2},
                          Blocks{}, Blocks{}))
      << "bfs";
}

TEST(SmPlaces, ABlockOfTheUrgentKernelIsNobodysCandidate) {
  SmPlaces places = filled(room(32768), need(9216, 3072, 256), 3);
  places.enter(preempting, 0, need(4096, 2048, 256));
  EXPECT_EQ(places.candidate(7, need(4096, 2048, 256), running), std::nullopt);
}

constexpr std::uint8_t all_parts = in_place::registers | in_place::shared;

TEST(InPlace, SpillsWhatFigure4Spills) {
  const OccupancyLimits fermi = room(1024);  // vector registers
  const SmPlaces places = filled(fermi, need(300, 8192), 3, Placement::packed);
  EXPECT_THAT(kept_in_place(places.rooms_of(running), need(256, 10240), 2, fermi),
              ElementsAre(in_place::shared, in_place::shared, all_parts))
      << "002, Figure 4: registers of the first two, no shared memory";
  EXPECT_THAT(kept_in_place(places.rooms_of(running), need(200, 10240), 2, fermi),
              ElementsAre(all_parts, all_parts, in_place::shared))
      << "with the 200 of its text one is enough";
}

TEST(InPlace, TakesTheFewestBlocksThenTheFewestBytesThenTheLowestRange) {
  const std::vector<ResourceRange> ranges{{0, 4}, {4, 2}, {6, 2}, {8, 4}};
  EXPECT_THAT(in_the_way(ranges, 2, 12), ElementsAre(1)) << "two units, not four";
  EXPECT_THAT(in_the_way(ranges, 4, 12), ElementsAre(0)) << "the last would do as well";
  EXPECT_THAT(in_the_way(ranges, 4, 16), ElementsAre()) << "what is free is nobody's";
  EXPECT_THAT(in_the_way(ranges, 0, 12), ElementsAre()) << "it needs none";
}

TEST(InPlace, WhatABlockKeepsIsItsOwnUntilItEntersAgain) {
  SmPlaces places = filled(room(1024), need(300, 8192), 3, Placement::packed);
  for (const std::uint64_t block : {0, 1}) places.leave(running, block, in_place::shared);
  places.leave(running, 2, all_parts);
  EXPECT_EQ(places.keeper(), running);
  EXPECT_EQ(places.kept(running, 2).registers, 300u);
  EXPECT_EQ(places.kept(running, 0).registers, 0u);
  EXPECT_EQ(places.kept(running, 0).shared_bytes, 8192u);
  for (const std::uint64_t block : {0, 1}) places.enter(preempting, block, need(256, 10240));
  const std::vector<BlockRoom> urgent = places.rooms_of(preempting);
  EXPECT_EQ(urgent[0].registers.begin, 0u);
  EXPECT_EQ(urgent[1].registers.begin, 256u) << "002, Figure 4";
  EXPECT_FALSE(places.has_place(need(256, 0))) << "512 to 599, 900 to 1023 are free";
  for (const std::uint64_t block : {0, 1}) places.leave(preempting, block);
  for (const std::uint64_t block : {2, 0, 1}) places.enter(running, block, need(300, 8192));
  EXPECT_EQ(places.keeper(), std::nullopt);
  const std::vector<BlockRoom> back = places.rooms_of(running);
  EXPECT_EQ(back[2].registers.begin, 600u);
  EXPECT_EQ(back[1].shared.begin, 8192u);
}

/// An SM whose blocks cost what is said, in microseconds and instructions.
SmSelection selection(const SmPlaces& places, const OccupancyLimits& limits,
                      const BlockResources& victim, const BlockResources& urgent,
                      const std::vector<std::pair<int, std::uint64_t>>& costs) {
  SmSelection::Setup setup;
  setup.places = &places;
  setup.limits = limits;
  setup.need = urgent;
  setup.victim = victim;
  setup.grid = running;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    setup.used += victim;
    setup.blocks.push_back({{i, Technique::flush, {}},
                            Time{costs[i].first * std::int64_t{1'000'000'000}},
                            costs[i].second,
                            {}});
  }
  return SmSelection(setup);
}

constexpr Time bound{2'000'000'000};

Blocks blocks_of(const SmRelease& release) {
  Blocks blocks;
  for (const SmRelease::Block& block : release.blocks) blocks.push_back(block.command.block);
  return blocks;
}

TEST(VictimSelection, StartsBesideHotspotWithoutAnEviction) {
  const BlockResources hotspot = need(9216, 3072, 256), urgent = need(4096, 2048, 256);
  const SmPlaces places = filled(room(32768), hotspot, 3);
  std::vector<SmSelection> sms{
      selection(places, room(32768), hotspot, urgent, {{1, 10}, {1, 10}, {1, 10}})};
  select_victims(sms, 1, bound);
  EXPECT_EQ(sms[0].release().places, 1u);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre());
  EXPECT_EQ(sms[0].counts().candidates, 8u);
  EXPECT_EQ(sms[0].counts().fragmented_registers, 32768u - 3 * 9216 - 4096);
  EXPECT_EQ(sms[0].counts().chosen, 1u);
  EXPECT_EQ(sms[0].counts().free_before, 1u);
}

TEST(VictimSelection, TakesWhatLosesLeastWithinTheBound) {
  const BlockResources victim = need(2, 0), urgent = need(4, 0);
  const SmPlaces places = filled(room(8), victim, 4);
  std::vector<SmSelection> sms{
      selection(places, room(8), victim, urgent, {{0, 50}, {1, 60}, {3, 1}, {0, 1}})};
  select_victims(sms, 1, bound);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(0, 1)) << "the others take too long";
  EXPECT_EQ(sms[0].release().overhead, 110u);
}

TEST(VictimSelection, TakesTheFastestIfNothingIsWithinTheBound) {
  const BlockResources victim = need(2, 0), urgent = need(4, 0);
  const SmPlaces places = filled(room(8), victim, 4);
  std::vector<SmSelection> sms{
      selection(places, room(8), victim, urgent, {{9, 0}, {1, 0}, {3, 90}, {0, 90}})};
  select_victims(sms, 1, bound);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(2, 3));
}

TEST(VictimSelection, CountsABlockThatLeavesAnywayOnce) {
  const BlockResources victim = need(9, 0), urgent = need(20, 0);
  const SmPlaces places = filled(room(80), victim, 8);
  std::vector<SmSelection> sms{
      selection(places, room(80), victim, urgent,
                {{0, 9}, {0, 9}, {0, 1}, {0, 1}, {0, 1}, {0, 9}, {0, 9}, {0, 90}})};
  select_victims(sms, 2, bound);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(0, 1, 2, 3, 4))
      << "then 0 and 1, or 5 and 6: 18 each, the lower place first";
  EXPECT_EQ(sms[0].release().places, 2u);
}

TEST(VictimSelection, GoesOverAllSmsBeforeItTakesASecondPlace) {
  const BlockResources victim = need(4, 0), urgent = need(4, 0);
  const SmPlaces places = filled(room(8), victim, 2);
  std::vector<SmSelection> sms{selection(places, room(8), victim, urgent, {{0, 1}, {0, 2}}),
                               selection(places, room(8), victim, urgent, {{0, 8}, {0, 9}})};
  select_victims(sms, 3, bound);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(0, 1));
  EXPECT_THAT(blocks_of(sms[1].release()), ElementsAre(0));
}

TEST(VictimSelection, BySerialRoundsTakesOnePlaceOfEachSm) {
  const BlockResources victim = need(4, 0), urgent = need(4, 0);
  const SmPlaces places = filled(room(8), victim, 2);
  std::vector<SmSelection> sms{selection(places, room(8), victim, urgent, {{0, 1}, {0, 2}}),
                               selection(places, room(8), victim, urgent, {{0, 8}, {0, 9}})};
  select_victims(sms, 3, bound, SelectionRounds::serial);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(0));
  EXPECT_THAT(blocks_of(sms[1].release()), ElementsAre(0));
}

TEST(VictimSelection, MakesRoomForThreadsWhereAPlaceIsFree) {
  const BlockResources bfs = need(8192, 0, 512), urgent = need(4096, 2048, 256);
  const SmPlaces places = filled(room(32768), bfs, 3);
  std::vector<SmSelection> sms{
      selection(places, room(32768), bfs, urgent, {{0, 30}, {0, 20}, {0, 10}})};
  select_victims(sms, 1, bound);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(2)) << "1536 threads are there";
  EXPECT_EQ(sms[0].counts().free_before, 0u);
}

TEST(VictimSelection, TellsForWhichPlacesOthersLeftForTheirThreads) {
  const BlockResources bfs = need(8192, 0, 512), urgent = need(4096, 2048, 1024);
  const SmPlaces places = filled(room(32768), bfs, 3);
  std::vector<SmSelection> sms{
      selection(places, room(32768), bfs, urgent, {{0, 30}, {0, 20}, {0, 10}})};
  select_victims(sms, 1, bound);
  EXPECT_THAT(blocks_of(sms[0].release()), ElementsAre(1, 2)) << "512 threads must be left";
  EXPECT_EQ(sms[0].counts().widened, 1u);
}

}  // namespace
}  // namespace lockstep
