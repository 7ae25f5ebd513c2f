/// What a port sends when, and that nobody waits for what waits for him.
#include "tests/unit/fabric/port_bench.hpp"

namespace lockstep::test::port_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(PortBench, RequestLeavesWithItsHeadersLastByte) {
  give(10_ns, MessageKind::memory_request, load_of(1, 4096, 1, 77, 1));
  run(1_us);
  EXPECT_THAT(departures(gpu1), ElementsAre(10 + 32));
  EXPECT_EQ(request(gpu1).line, 4096u) << "as the memory there knows it";
  EXPECT_EQ(request(gpu1).source, SourceKind::peer);
  EXPECT_EQ(request(gpu1).requester, 0) << "the GPU that asks";
  EXPECT_EQ(request(gpu1).tenant, second) << "its number among all";
  EXPECT_THAT(sink_.to(gpu2), IsEmpty());
}

TEST_F(PortBench, AnswerGoesToTheSmThatAskedAsItAsked) {
  give(0_ns, MessageKind::memory_request, load_of(2, 8192, 1, 77, 1));
  run(100_ns);
  answer(300_ns, sent(gpu2), 32);
  run(1_us);
  EXPECT_THAT(departures(sm1), ElementsAre(300));
  EXPECT_EQ(response(sm1).line, peer_address(2, 8192));
  EXPECT_EQ(response(sm1).tag, 77u);
  EXPECT_EQ(response(sm1).tenant, 1);
  EXPECT_EQ(sent(sm1).payload_bytes, 32u);
  EXPECT_TRUE(port_->finished());
}

TEST_F(PortBench, RequestsToAllGpusShareTheWayToASwitch) {
  give(0_ns, MessageKind::memory_request, load_of(1, 0, 0, 1));
  give(0_ns, MessageKind::memory_request, load_of(2, 0, 0, 2));
  run(1_us);
  EXPECT_THAT(departures(gpu1), ElementsAre(32));
  EXPECT_THAT(departures(gpu2), ElementsAre(64));
}

TEST_F(PortBench, DirectLinksAreWaysOfTheirOwn) {
  FabricParameters direct = parameters();
  direct.kind = FabricKind::direct;
  make(direct);
  give(0_ns, MessageKind::memory_request, load_of(1, 0, 0, 1));
  give(0_ns, MessageKind::memory_request, load_of(2, 0, 0, 2));
  give(0_ns, MessageKind::memory_request, foreign_load(0, 1));
  give(0_ns, MessageKind::memory_request, foreign_load(0, 2));
  run(1_us);
  EXPECT_THAT(departures(gpu1), ElementsAre(32));
  EXPECT_THAT(departures(gpu2), ElementsAre(32));
  EXPECT_THAT(departures(partition), ElementsAre(0, 0)) << "their way in was the other's way out";
}

TEST_F(PortBench, WithoutATagARequestWaitsForAnAnswer) {
  FabricParameters one = parameters();
  one.tags = 1;
  make(one);
  give(0_ns, MessageKind::memory_request, load_of(1, 0, 0, 1));
  give(0_ns, MessageKind::memory_request, load_of(1, 128, 0, 2));
  run(200_ns);
  ASSERT_THAT(departures(gpu1), ElementsAre(32));
  answer(200_ns, sent(gpu1), 32);
  run(1_us);
  EXPECT_THAT(departures(gpu1), ElementsAre(32, 232));
  EXPECT_EQ(request(gpu1, 1).line, 128u);
}

TEST_F(PortBench, RequestsOfOthersAreServedWhileOwnOnesWaitForTags) {
  FabricParameters one = parameters();
  one.tags = 1;
  make(one);
  give(0_ns, MessageKind::memory_request, load_of(1, 0, 0, 1));
  give(0_ns, MessageKind::memory_request, load_of(1, 128, 0, 2));
  give(50_ns, MessageKind::memory_request, foreign_load(256, 9));
  run(60_ns);
  ASSERT_THAT(departures(partition), ElementsAre(50));
  answer(100_ns, sent(partition), 32);
  run(1_us);
  EXPECT_THAT(departures(gpu1), ElementsAre(32, 100 + 32 + 32));
  EXPECT_EQ(response(gpu1, 1).tag, 9u);
  EXPECT_FALSE(port_->finished()) << "the own ones wait still";
}

TEST_F(PortBench, ForeignRequestComesToThePartitionAsATenantHere) {
  give(5_ns, MessageKind::memory_request, foreign_load(640, 9, second));
  run(1_us);
  EXPECT_THAT(departures(partition), ElementsAre(5));
  EXPECT_EQ(request(partition).line, 640u);
  EXPECT_EQ(request(partition).tenant, 1);
  EXPECT_EQ(request(partition).source, SourceKind::peer);
  EXPECT_EQ(request(partition).requester, 0);
}

TEST_F(PortBench, PacketsComeInOneAfterTheOther) {
  // A header's 32 bytes each, from two GPUs at the same time: as one behind the other.
  give(5_ns, MessageKind::memory_request, foreign_load(0, 1));
  give(5_ns, MessageKind::memory_request, foreign_load(128, 2, second));
  give(20_ns, MessageKind::memory_request, foreign_load(256, 3));
  run(1_us);
  EXPECT_THAT(departures(partition), ElementsAre(5, 37, 69));
  const StatisticsView view = port_->statistics(1_us);
  ASSERT_NE(view.schema, nullptr);
}

TEST_F(PortBench, OneGpusPacketsCanFillTheWayInWithoutAGap) {
  give(32_ns, MessageKind::memory_request, foreign_load(0, 1));
  give(64_ns, MessageKind::memory_request, foreign_load(128, 2));
  run(1_us);
  EXPECT_THAT(departures(partition), ElementsAre(32, 64)) << "they came as fast as they could";
}

class PortCopies : public PortBench {
 protected:
  /// A copy of bytes from `source` here to `target` in GPU 1.
  void copy(Time when, std::uint64_t source, std::uint64_t target, std::uint64_t bytes,
            std::uint64_t id = 1) {
    const std::vector<FrameRun> runs{{source, bytes}, {target, bytes}};
    give(when, MessageKind::peer_copy, PeerCopy{id, bytes, 1, 0, 1},
         std::as_bytes(std::span(runs)));
  }
};

TEST_F(PortCopies, LinesAreReadAsFastAsTheWayTakesThem) {
  copy(100_ns, 0, 65536, 384);
  run(10_us);
  EXPECT_THAT(departures(partition), ElementsAre(100, 260, 420)) << "128 bytes and a header";
  EXPECT_EQ(request(partition).operation, MemoryOperation::load);
  EXPECT_EQ(request(partition).flags, flag_dma);
  EXPECT_EQ(request(partition, 2).line, 256u);
}

TEST_F(PortCopies, WhatWasReadIsStoredThere) {
  copy(0_ns, 0, 65536, 128);
  run(100_ns);
  answer(500_ns, sent(partition), 128);
  run(10_us);
  EXPECT_THAT(departures(gpu1), ElementsAre(660));
  EXPECT_EQ(request(gpu1).operation, MemoryOperation::store);
  EXPECT_EQ(request(gpu1).line, 65536u);
  EXPECT_EQ(request(gpu1).tenant, first);
  ASSERT_EQ(sent(gpu1).payload_bytes, 4 * 36u);
  EXPECT_EQ(sent(gpu1).payload_data()[16], std::byte{7});
  EXPECT_THAT(sink_.to(host), IsEmpty());
  answer(900_ns, sent(gpu1), 0);
  run(20_us);
  EXPECT_THAT(departures(host), ElementsAre(900));
  EXPECT_EQ(sent(host).body<PeerCopy>().id, 1u);
  EXPECT_TRUE(port_->finished());
}

TEST_F(PortCopies, PiecesEndWhereALineOfEitherSideDoes) {
  copy(0_ns, 96, 65536 + 32, 160);
  run(10_us);
  // Source lines end after 32 bytes, the target's after 96: 32, 64, 64.
  std::vector<unsigned> sectors;
  for (std::size_t i = 0; i < sink_.to(partition).size(); ++i)
    sectors.push_back(request(partition, i).sectors);
  EXPECT_THAT(sectors, ElementsAre(0b1000, 0b0011, 0b1100));
}

TEST_F(PortCopies, CopiesToOneGpuTakeTurns) {
  copy(0_ns, 0, 65536, 256, 1);
  copy(0_ns, 4096, 131072, 256, 2);
  run(10_us);
  std::vector<std::uint64_t> lines;
  for (std::size_t i = 0; i < 4; ++i) lines.push_back(request(partition, i).line);
  EXPECT_THAT(lines, ElementsAre(0, 4096, 128, 4096 + 128));
}

TEST_F(PortCopies, NoMoreLinesAreUnderWayThanTheFabricAllows) {
  FabricParameters two = parameters();
  two.lines_in_flight = 2;
  make(two);
  copy(0_ns, 0, 65536, 512);
  run(1_us);
  ASSERT_THAT(departures(partition), ElementsAre(0, 160));
  answer(1000_ns, sent(partition), 128);
  run(2_us);
  ASSERT_EQ(sink_.to(partition).size(), 2u) << "read, but not stored";
  answer(2000_ns, sent(gpu1), 0);
  run(10_us);
  EXPECT_THAT(departures(partition), ElementsAre(0, 160, 2000));
}

}  // namespace
}  // namespace lockstep::test::port_test
