/// The hub of a GPC alone: what it passes on, when, and what it keeps.
#include "models/gpc/hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <sstream>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/parameters.hpp"
#include "tests/harness/message_sink.hpp"

namespace lockstep::hub_test {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t first_sm = 4, sms = 3;

Time ns(double value) {
  return Time{static_cast<std::int64_t>(value * 1e6)};
}

/// Hub of SMs 4 to 6 at 1 GHz; links take 45 cycles, a flit of 32 bytes a cycle and a half.
class HubOfThreeSms : public ::testing::Test {
 protected:
  HubOfThreeSms() : sink(sms) { hub = make(); }

  static std::unique_ptr<Hub> make() {
    Hub::Setup setup;
    setup.clock = Frequency{1e9};
    setup.parameters = defaults<HubParameters>();
    setup.first_sm = first_sm;
    for (std::uint32_t i = 0; i < sms; ++i)
      setup.to_sms.emplace_back(LinkId{i}, ComponentId{i}, ns(45));
    setup.tenants = {"one", "two"};
    return std::make_unique<Hub>(std::move(setup));
  }
  static ClusterBlock block(unsigned rank, std::uint64_t cluster = 7, unsigned size = 2) {
    ClusterBlock block;
    block.cluster = cluster;
    block.grid = 1;
    block.sm = static_cast<std::uint16_t>(first_sm + rank);
    block.rank = static_cast<std::uint8_t>(rank);
    block.size = static_cast<std::uint8_t>(size);
    return block;
  }
  static ClusterAccess access(unsigned target, std::uint8_t flits = 1) {
    ClusterAccess access;
    access.cluster = 7;
    access.grid = 1;
    access.tag = 100 + target;
    access.sm = first_sm;
    access.target = static_cast<std::uint8_t>(target);
    access.flits = flits;
    return access;
  }
  template <class Body>
  void receive(double at, MessageKind kind, const Body& body) {
    received.emplace_back(ns(at), kind_of(kind), body);
  }
  /// "145 sm5 access 101": arrivals at SMs of what was sent since the last call.
  std::vector<std::string> sent() {
    std::vector<const MessageHeader*> inbox;
    for (const auto& message : received) inbox.push_back(message.get());
    hub->advance(Time::never(), inbox, sink.outbox());
    received.clear();
    std::vector<std::string> lines;
    for (std::uint32_t i = 0; i < sms; ++i)
      for (const MessageHeader* message : sink.to(i)) {
        std::ostringstream line;
        line << static_cast<double>(message->arrival.femtoseconds()) / 1e6 << " sm" << first_sm + i;
        switch (static_cast<MessageKind>(message->kind)) {
          case MessageKind::cluster_access:
            line << " access " << message->body<ClusterAccess>().tag;
            break;
          case MessageKind::cluster_answer:
            line << (message->body<ClusterAnswer>().status == ClusterAnswerStatus::done
                         ? " answer "
                         : " refusal ")
                 << message->body<ClusterAnswer>().tag;
            break;
          case MessageKind::cluster_released:
            line << " released";
            break;
          case MessageKind::cluster_over:
            line << " over";
            break;
          case MessageKind::cluster_moves: {
            const auto& move = message->body<ClusterMove>();
            line << (move.step == ClusterMoveStep::stop ? " stop"
                     : move.step == ClusterMoveStep::go ? " go"
                                                        : " stay")
                 << std::array{"", " save", " flush"}[static_cast<std::size_t>(move.technique)];
            break;
          }
          default:
            line << " unexpected";
        }
        lines.push_back(line.str());
      }
    sink.clear();
    return lines;
  }
  void move(double at, ClusterMoveStep step, unsigned rank, Technique technique,
            bool idempotent = true) {
    ClusterMove move;
    move.block = block(rank);
    move.step = step;
    move.technique = technique;
    move.idempotent = idempotent ? 1 : 0;
    receive(at, MessageKind::cluster_moves, move);
  }
  /// "grid 1: 970 of 2700": what the hub counts of grids since the last call.
  std::string counted(double now) {
    std::vector<GridContribution> taken;
    hub->take_grid_counts(ns(now), taken);
    std::string text;
    for (const GridContribution& one : taken)
      text += "grid " + std::to_string(one.grid) + ": " +
              std::to_string(one.counts.cluster_cycles) + " of " +
              std::to_string(one.counts.cluster_place_cycles);
    return text;
  }
  void join_both() {
    receive(1, MessageKind::cluster_joins, block(0));
    receive(1, MessageKind::cluster_joins, block(1));
  }

  MessageSink sink;
  std::unique_ptr<Hub> hub;
  std::deque<IncomingMessage> received;
};

TEST_F(HubOfThreeSms, PassesAnAccessOnToTheSmOfTheBlock) {
  join_both();
  receive(100, MessageKind::cluster_access, access(1));
  EXPECT_THAT(sent(), ElementsAre("145 sm5 access 101"));
}

TEST_F(HubOfThreeSms, ThePortToAnSmTakesACycleAndAHalfForEachFlit) {
  join_both();
  for (int i = 0; i < 3; ++i) receive(100, MessageKind::cluster_access, access(1, 4));
  EXPECT_THAT(sent(),
              ElementsAre("145 sm5 access 101", "151 sm5 access 101", "157 sm5 access 101"));
}

TEST_F(HubOfThreeSms, AnAccessToABlockThatIsYetToBeginWaits) {
  receive(1, MessageKind::cluster_joins, block(0));
  receive(100, MessageKind::cluster_access, access(1));
  EXPECT_THAT(sent(), ElementsAre());
  receive(200, MessageKind::cluster_joins, block(1));
  EXPECT_THAT(sent(), ElementsAre("245 sm5 access 101"));
}

TEST_F(HubOfThreeSms, AnAccessToABlockThatHasEndedIsRefused) {
  join_both();
  receive(50, MessageKind::cluster_ends, block(1));
  receive(100, MessageKind::cluster_access, access(1));
  EXPECT_THAT(sent(), ElementsAre("145 sm4 refusal 101"));
}

TEST_F(HubOfThreeSms, ADeliveryGoesToAllBlocksOfItsMask) {
  join_both();
  ClusterAccess delivery = access(0);
  delivery.kind = ClusterAccessKind::deliver;
  delivery.mask = 3;
  receive(100, MessageKind::cluster_access, delivery);
  EXPECT_THAT(sent(), ElementsAre("145 sm4 access 100", "145 sm5 access 100"));
}

TEST_F(HubOfThreeSms, WhatL2SentForSeveralBlocksPassesThePortsAsFastAsAnswersOfL2) {
  join_both();
  ClusterAccess line = access(0, 4);
  line.kind = ClusterAccessKind::deliver;
  line.mask = 3;
  line.multicast = 1;
  for (int i = 0; i < 3; ++i) receive(100, MessageKind::cluster_access, line);
  EXPECT_THAT(sent(),
              ElementsAre("145 sm4 access 100", "147 sm4 access 100", "149 sm4 access 100",
                          "145 sm5 access 100", "147 sm5 access 100", "149 sm5 access 100"));
}

TEST_F(HubOfThreeSms, ReleasesABarrierWhenTheLastBlockHasArrived) {
  join_both();
  receive(100, MessageKind::cluster_arrives, block(0));
  EXPECT_THAT(sent(), ElementsAre());
  EXPECT_EQ(hub->waiting_for(),
            "cluster 7 of grid 1 of tenant one waits at barrier.cluster for threads of rank 1; "
            "those of rank 0 are there");
  receive(200, MessageKind::cluster_arrives, block(1));
  EXPECT_THAT(sent(), ElementsAre("245 sm4 released", "245 sm5 released"));
  EXPECT_EQ(hub->waiting_for(), "");
}

TEST_F(HubOfThreeSms, ABlockThatHasEndedCountsAsArrived) {
  join_both();
  receive(100, MessageKind::cluster_arrives, block(0));
  receive(200, MessageKind::cluster_ends, block(1));
  EXPECT_THAT(sent(), ElementsAre("245 sm4 released"));
}

TEST_F(HubOfThreeSms, BlocksLeaveWhenAllHaveEnded) {
  join_both();
  receive(100, MessageKind::cluster_ends, block(1));
  EXPECT_THAT(sent(), ElementsAre());
  EXPECT_FALSE(hub->finished());
  receive(200, MessageKind::cluster_ends, block(0));
  EXPECT_THAT(sent(), ElementsAre("245 sm4 over", "245 sm5 over"));
  EXPECT_TRUE(hub->finished());
}

TEST_F(HubOfThreeSms, ABlockThatEndsWithoutHavingBegunIsToldNothing) {
  receive(1, MessageKind::cluster_ends, block(1));
  receive(2, MessageKind::cluster_joins, block(0));
  receive(3, MessageKind::cluster_ends, block(0));
  EXPECT_THAT(sent(), ElementsAre("48 sm4 over"));
}

TEST_F(HubOfThreeSms, AClusterLeavesWhenAllOfItsBlocksAreQuiet) {
  join_both();
  move(100, ClusterMoveStep::ask, 1, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("145 sm4 stop save", "145 sm5 stop save"));
  move(200, ClusterMoveStep::quiet, 0, Technique::save);
  EXPECT_THAT(sent(), ElementsAre());
  move(300, ClusterMoveStep::quiet, 1, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("345 sm4 go save", "345 sm5 go save"));
  move(400, ClusterMoveStep::left, 0, Technique::drain);
  EXPECT_FALSE(hub->finished());
  move(500, ClusterMoveStep::left, 1, Technique::drain);
  EXPECT_THAT(sent(), ElementsAre());
  EXPECT_TRUE(hub->finished());
}

TEST_F(HubOfThreeSms, AClusterIsAskedToLeaveOnce) {
  join_both();
  move(100, ClusterMoveStep::ask, 1, Technique::flush);
  move(101, ClusterMoveStep::ask, 0, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("145 sm4 stop flush", "145 sm5 stop flush"));
}

TEST_F(HubOfThreeSms, ABlockThatBeginsWhileItsClusterStopsIsToldSo) {
  receive(1, MessageKind::cluster_joins, block(0));
  move(100, ClusterMoveStep::ask, 0, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("145 sm4 stop save"));
  receive(200, MessageKind::cluster_joins, block(1));
  EXPECT_THAT(sent(), ElementsAre("245 sm5 stop save"));
}

TEST_F(HubOfThreeSms, AClusterIsFlushedOnlyIfAllOfItsBlocksAreRepeatable) {
  for (const bool repeatable : {true, false}) {
    hub = make();
    join_both();
    move(100, ClusterMoveStep::ask, 0, Technique::flush);
    move(200, ClusterMoveStep::quiet, 0, Technique::save, repeatable);
    move(200, ClusterMoveStep::quiet, 1, Technique::save);
    const std::string go = repeatable ? " go flush" : " go save";
    EXPECT_THAT(sent(), ElementsAre("145 sm4 stop flush", "245 sm4" + go, "145 sm5 stop flush",
                                    "245 sm5" + go));
    move(300, ClusterMoveStep::left, 0, Technique::drain);
    move(300, ClusterMoveStep::left, 1, Technique::drain);
    sent();
  }
}

TEST_F(HubOfThreeSms, AClusterThatCanNeitherBeFlushedNorSavedGoesOnAndMayBeAskedAgain) {
  join_both();
  move(100, ClusterMoveStep::ask, 0, Technique::flush);
  move(200, ClusterMoveStep::quiet, 0, Technique::drain);
  move(200, ClusterMoveStep::quiet, 1, Technique::save, false);
  EXPECT_THAT(sent(), ElementsAre("145 sm4 stop flush", "245 sm4 stay", "145 sm5 stop flush",
                                  "245 sm5 stay"));
  move(300, ClusterMoveStep::ask, 1, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("345 sm4 stop save", "345 sm5 stop save"));
}

TEST_F(HubOfThreeSms, ABlockThatEndsAfterItsClusterMayLeaveLeavesWithTheOthers) {
  join_both();
  move(100, ClusterMoveStep::ask, 0, Technique::save);
  move(200, ClusterMoveStep::quiet, 0, Technique::save);
  move(200, ClusterMoveStep::quiet, 1, Technique::save);
  receive(201, MessageKind::cluster_ends, block(0));
  receive(202, MessageKind::cluster_ends, block(1));
  EXPECT_THAT(sent(), ElementsAre("145 sm4 stop save", "245 sm4 go save", "145 sm5 stop save",
                                  "245 sm5 go save"));
  move(300, ClusterMoveStep::left, 0, Technique::drain);
  move(300, ClusterMoveStep::left, 1, Technique::drain);
  EXPECT_THAT(sent(), ElementsAre());
  EXPECT_TRUE(hub->finished());
}

TEST_F(HubOfThreeSms, AClusterThatIsOverIsNotAskedToLeave) {
  join_both();
  receive(100, MessageKind::cluster_ends, block(0));
  receive(100, MessageKind::cluster_ends, block(1));
  move(101, ClusterMoveStep::ask, 0, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("145 sm4 over", "145 sm5 over"));
}

TEST_F(HubOfThreeSms, CountsClustersAndWhatFindsRoomWhileAnyOfTheGridIsThere) {
  const auto with_places = [](unsigned rank, std::uint64_t cluster) {
    ClusterBlock one = block(rank, cluster);
    one.places = 2;  // 6 blocks in the GPC, 3 clusters
    return one;
  };
  receive(100, MessageKind::cluster_joins, with_places(0, 7));
  receive(100, MessageKind::cluster_joins, with_places(1, 7));
  receive(150, MessageKind::cluster_joins, with_places(0, 8));
  receive(155, MessageKind::cluster_joins, with_places(1, 8));
  receive(200, MessageKind::cluster_ends, block(0, 7));
  receive(220, MessageKind::cluster_ends, block(1, 7));
  sent();
  EXPECT_EQ(counted(1000), "grid 1: 970 of 2700");  // 120 of the first, 850 of the second
  receive(1300, MessageKind::cluster_ends, block(0, 8));
  receive(1300, MessageKind::cluster_ends, block(1, 8));
  receive(1500, MessageKind::cluster_joins, with_places(0, 9));
  sent();
  EXPECT_EQ(counted(1600), "grid 1: 400 of 1200");
  EXPECT_EQ(counted(1600), "");
}

TEST_F(HubOfThreeSms, RestoredAmidADepartureItGoesOn) {
  join_both();
  move(100, ClusterMoveStep::ask, 0, Technique::save);
  move(200, ClusterMoveStep::quiet, 0, Technique::save);
  sent();
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  hub->serialize(saving);
  hub = make();
  Archive restoring = Archive::restoring(bytes);
  hub->serialize(restoring);
  move(300, ClusterMoveStep::quiet, 1, Technique::save);
  EXPECT_THAT(sent(), ElementsAre("345 sm4 go save", "345 sm5 go save"));
}

TEST_F(HubOfThreeSms, RestoredItGoesOnAsBefore) {
  receive(1, MessageKind::cluster_joins, block(0));
  receive(90, MessageKind::cluster_access, access(1));
  receive(95, MessageKind::cluster_arrives, block(0));
  EXPECT_THAT(sent(), ElementsAre());
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  hub->serialize(saving);
  hub = make();
  Archive restoring = Archive::restoring(bytes);
  hub->serialize(restoring);
  receive(100, MessageKind::cluster_joins, block(1));
  receive(200, MessageKind::cluster_arrives, block(1));
  EXPECT_THAT(sent(), ElementsAre("245 sm4 released", "145 sm5 access 101", "245 sm5 released"));
}

}  // namespace
}  // namespace lockstep::hub_test
