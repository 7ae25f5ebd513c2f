/// What the host link sends for a transfer, and what it does with the answers.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/unit/host_link/host_link_bench.hpp"

namespace lockstep::test::host_link_test {
namespace {

using testing::ElementsAre;

TEST_F(HostLinkBench, IdleLinkHasNothingToDo) {
  HostLink link = make();
  EXPECT_EQ(link.next_activity(), Time::never());
  EXPECT_TRUE(link.idle());
}

TEST_F(HostLinkBench, LinesLeaveEvenlySpacedOverTheTimeOfTheTransfer) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 512), 5_ns, sink_.outbox());
  EXPECT_EQ(link.next_activity(), 5_ns);
  run(link);
  EXPECT_THAT(departures_ns(), ElementsAre(8, 11, 14, 17));
}

TEST_F(HostLinkBench, ShortLineTakesItsShareOfTheTime) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 256, 0, 64), 0_ns, sink_.outbox());  // 10 ns
  run(link);
  std::vector<std::int64_t> halves;  // in half nanoseconds
  for (const Sent& s : sent()) halves.push_back(s.departure.femtoseconds() / 500'000);
  EXPECT_THAT(halves, ElementsAre(5, 15, 20));
}

TEST_F(HostLinkBench, FramesFollowEachOther) {
  HostLink link = make();
  Transfer scattered = transfer(Kind::to_gpu, 3 * 4096);
  scattered.frames = {{40960, 4096}, {4096, 4096}, {65536, 4096}};
  link.start(scattered, 0_ns, sink_.outbox());
  run(link);
  const std::vector<Sent> lines = sent();
  ASSERT_EQ(lines.size(), 96u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::uint64_t base = scattered.frames[i / 32].physical;
    EXPECT_EQ(lines[i].request().line, base + i % 32 * 128);
    const std::byte* data = lines[i].message->payload_data() + 16;
    EXPECT_TRUE(std::equal(data, data + 128, memory_[0].begin() + static_cast<long>(i) * 128));
  }
}

TEST_F(HostLinkBench, LineGoesToThePartitionOfItsAddress) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 1024), 0_ns, sink_.outbox());
  run(link);
  std::vector<std::size_t> places;
  for (const Sent& s : sent()) places.push_back(s.partition);
  EXPECT_THAT(places, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST_F(HostLinkBench, RequestsCarryTheTenantAndWhoAsks) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 128, 3), 0_ns, sink_.outbox());
  run(link);
  const MemoryRequest& request = sent().front().request();
  EXPECT_EQ(request.tenant, 3);
  EXPECT_EQ(request.source, SourceKind::host);
  EXPECT_EQ(request.flags, flag_dma);
  EXPECT_EQ(request.operation, MemoryOperation::store);
}

TEST_F(HostLinkBench, StoreOfUnalignedBytesHasMasksOfExactlyThose) {
  // 100 bytes from byte 40 of a line: bytes 40..127 of it and 0..11 of the next.
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 100, 0, 1024 + 40, 8), 0_ns, sink_.outbox());
  run(link);
  const std::vector<Sent> lines = sent();
  ASSERT_EQ(lines.size(), 2u);
  std::vector<std::byte> written(256);
  std::vector<int> touched;
  for (const Sent& line : lines) {
    const MemoryRequest& request = line.request();
    const std::byte* payload = line.message->payload_data();
    const unsigned sectors = request.sector_count();
    ASSERT_EQ(line.message->payload_bytes, sectors * 36);
    unsigned position = 0;
    for (unsigned sector = 0; sector < 4; ++sector) {
      if (!(request.sectors >> sector & 1)) continue;
      std::uint32_t mask;
      std::memcpy(&mask, payload + position * 4, 4);
      for (unsigned b = 0; b < 32; ++b) {
        if (!(mask >> b & 1)) continue;
        const auto at = static_cast<std::size_t>(request.line - 1024 + sector * 32 + b);
        written[at] = payload[sectors * 4 + position * 32 + b];
        touched.push_back(static_cast<int>(at));
      }
      ++position;
    }
  }
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 40);
  EXPECT_EQ(touched, expected);
  EXPECT_EQ(lines[0].request().sectors, 0b1110);
  EXPECT_EQ(lines[1].request().sectors, 0b0001);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(written[40 + i], memory_[0][8 + i]) << i;
}

TEST_F(HostLinkBench, LoadPutsUnalignedBytesInTheirPlace) {
  HostLink link = make();
  const std::vector<std::byte> before = memory_[0];
  link.start(transfer(Kind::to_host, 50, 0, 2048 + 40, 5), 0_ns, sink_.outbox());
  run(link);
  const std::vector<Sent> lines = sent();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].request().operation, MemoryOperation::load);
  EXPECT_EQ(lines[0].request().sectors, 0b0110);
  ASSERT_TRUE(answer(link, lines[0].request(), 100));
  // The answer starts with byte 32 of the line; the transfer with byte 40.
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(memory_[0][5 + i], std::byte(100 + 8 + i));
  EXPECT_EQ(memory_[0][4], before[4]);
  EXPECT_EQ(memory_[0][55], before[55]);
}

TEST_F(HostLinkBench, LastAnswerCompletesTheTransfer) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 384), 0_ns, sink_.outbox());
  run(link);
  const std::vector<Sent> lines = sent();
  EXPECT_FALSE(answer(link, lines[2].request()));
  EXPECT_FALSE(answer(link, lines[0].request()));
  EXPECT_FALSE(link.idle());
  const auto done = answer(link, lines[1].request());
  ASSERT_TRUE(done);
  EXPECT_EQ(done->owner, (TransferOwner{TransferPart::program, 1}));
  EXPECT_TRUE(link.idle());
}

TEST_F(HostLinkBench, CompletedTransferTellsHowLongItWaited) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 512), 0_ns, sink_.outbox());  // 12 ns
  link.start(transfer(Kind::to_gpu, 128), 5_ns, sink_.outbox());
  run(link);
  const auto done = answer(link, sent().back().request(), 0, 1'000_ns);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->queue_time(), 7_ns);
  EXPECT_EQ(done->transfer_time(), 988_ns);
}

TEST_F(HostLinkBench, RawRequestsGoToThePartitionOfTheirLineAndAreNotTheLinks) {
  HostLink link = make();
  MemoryRequest request;
  request.line = 256;
  request.tag = RequestOwner{RequestPart::mapping, 5}.bits();
  link.send_request(request, {}, 7_ns, sink_.outbox());
  ASSERT_EQ(sent().size(), 1u);
  EXPECT_EQ(sent()[0].partition, 1u);
  EXPECT_EQ(sent()[0].departure, 7_ns);
  EXPECT_EQ(RequestOwner::of(sent()[0].request().tag), (RequestOwner{RequestPart::mapping, 5}));
  EXPECT_TRUE(link.idle());
}

TEST_F(HostLinkBench, InspectionLeavesAtOnceAndIsNotCounted) {
  HostLink link = make(1);
  link.start(transfer(Kind::inspect, 1024), 7_ns, sink_.outbox());
  for (const auto& message : sent()) {
    EXPECT_EQ(message.departure, 7_ns);
    EXPECT_EQ(message.message->kind, kind_of(MessageKind::inspect_range));
  }
  EXPECT_EQ(link.statistics(false).bytes[0][2].value(), 0u);
  EXPECT_FALSE(link.idle());
}

}  // namespace
}  // namespace lockstep::test::host_link_test
