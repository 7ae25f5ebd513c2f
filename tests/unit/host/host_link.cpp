#include "models/host/host_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <sstream>
#include <tuple>

#include "tests/harness/message_sink.hpp"

namespace lockstep {
namespace {

using namespace literals;
using testing::ElementsAre;

/// A link of one 128-byte line per nanosecond and 8 ns of set-up, so that a transfer of n lines
/// takes 8 + n ns, and two partitions 500 ns away that take turns every 256 bytes.
class HostLinkBench : public testing::Test {
 protected:
  static constexpr std::size_t partitions = 2, tenants = 6;

  static HostParameters parameters(std::uint32_t lines_in_flight = 100000) {
    HostParameters result;
    result.link_curve = CurveKind::affine;
    result.link_bandwidth = Bandwidth{128e9};
    result.link_latency = 500_ns;
    result.transfer_setup = 8_ns;
    result.lines_in_flight = lines_in_flight;
    return result;
  }

  HostLink make(std::uint32_t lines_in_flight = 100000) {
    std::vector<Link> links;
    for (std::uint32_t p = 0; p < partitions; ++p) {
      links.emplace_back(LinkId{p}, ComponentId{p}, 500_ns);
    }
    return HostLink(
        parameters(lines_in_flight), AddressMapping(AddressMapping::Kind::plain, partitions), links,
        [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
          return std::span(memory_[transfer.buffer]).subspan(offset, bytes);
        },
        tenants);
  }

  void SetUp() override {
    for (auto& buffer : memory_) {
      buffer.resize(2 << 20);
      for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<std::byte>(i * 7 + 1);
    }
  }

  Transfer transfer(Transfer::Kind kind, std::uint64_t bytes, std::uint16_t tenant = 0,
                    std::uint64_t physical = 0, std::uint64_t offset = 0) {
    Transfer result;
    result.kind = kind;
    result.tenant = tenant;
    result.operation = ++operations_;
    result.frames = {{physical, bytes}};
    result.offset = offset;
    result.bytes = bytes;
    return result;
  }

  Transfer of_class(Transfer::Class rank, std::uint64_t bytes, std::uint16_t tenant = 0) {
    Transfer result = transfer(Transfer::Kind::to_gpu, bytes, tenant);
    result.rank = rank;
    return result;
  }

  struct Sent {
    Time departure;
    std::size_t partition;
    const MessageHeader* message;
    const MemoryRequest& request() const { return message->body<MemoryRequest>(); }
  };
  /// All requests in order of departure.
  std::vector<Sent> sent() const {
    std::vector<Sent> all;
    for (std::size_t p = 0; p < partitions; ++p) {
      for (const MessageHeader* message : sink_.to(p)) {
        all.push_back({message->arrival - 500_ns, p, message});
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Sent& a, const Sent& b) { return a.departure < b.departure; });
    return all;
  }
  std::vector<std::int64_t> departures_ns() const {
    std::vector<std::int64_t> times;
    for (const Sent& s : sent()) times.push_back(s.departure.femtoseconds() / 1'000'000);
    return times;
  }

  /// Tenants in the order in which the link served them, a letter for each.
  std::string turns() const {
    std::string text;
    for (const Sent& s : sent()) {
      const char tenant = static_cast<char>('a' + s.request().tenant);
      if (text.empty() || text.back() != tenant) text += tenant;
    }
    return text;
  }

  void run(HostLink& link, Time end = Time::never()) {
    while (link.next_activity() < end) link.act(link.next_activity(), sink_.outbox());
  }

  /// The partition's answer to a request; loads get bytes that count from `first`.
  std::optional<Transfer> answer(HostLink& link, const MemoryRequest& request,
                                 std::uint8_t first = 0, Time arrival = 0_ns) {
    MemoryResponse response;
    response.line = request.line;
    response.tag = request.tag;
    response.operation = request.operation;
    response.sectors = request.sectors;
    std::vector<std::byte> payload;
    if (request.operation != MemoryOperation::store) {
      payload.resize(request.sector_count() * sector_bytes);
      for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = std::byte(first + i);
    }
    const IncomingMessage message(arrival, kind_of(MessageKind::memory_response), response,
                                  payload);
    return link.take(*message.get());
  }

  MessageSink sink_{partitions};
  std::array<std::vector<std::byte>, 2> memory_;
  std::uint64_t operations_ = 0;
};

using Class = Transfer::Class;

using Kind = Transfer::Kind;

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
  EXPECT_EQ(request.requester, host_requester);
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
  EXPECT_EQ(done->operation, 1u);
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

TEST_F(HostLinkBench, TransferHasItsDirectionForItself) {
  HostLink link = make();
  link.start(of_class(Class::prefetch, 1024, 0), 0_ns, sink_.outbox());
  link.start(of_class(Class::fault, 1024, 1), 0_ns, sink_.outbox());
  link.start(of_class(Class::fault, 1024, 2), 1_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(turns(), "bca");
  EXPECT_EQ(sent()[7].departure, 16_ns);
  EXPECT_EQ(sent()[15].departure, 32_ns);
  EXPECT_EQ(sent()[23].departure, 48_ns);
}

TEST_F(HostLinkBench, FaultsGoBeforePrefetchesBeforeCopies) {
  HostLink link = make();
  link.start(of_class(Class::copy, 128, 0), 0_ns, sink_.outbox());
  link.start(of_class(Class::prefetch, 128, 1), 0_ns, sink_.outbox());
  link.start(of_class(Class::fault, 128, 2), 0_ns, sink_.outbox());
  link.start(of_class(Class::prefetch, 128, 3), 0_ns, sink_.outbox());
  link.start(of_class(Class::fault, 128, 4), 0_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(turns(), "cebda");
}

TEST_F(HostLinkBench, FaultWaitsForAWholePrefetch) {
  HostLink link = make();
  link.start(of_class(Class::prefetch, 1 << 20, 0), 0_ns, sink_.outbox());  // 8200 ns
  run(link, 1_ns);
  link.start(of_class(Class::fault, 128, 1), 1_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(turns(), "ab");
  EXPECT_EQ(sent().back().departure, 8'209_ns);
}

TEST_F(HostLinkBench, FaultWaitsForOnePieceOfACopy) {
  HostLink link = make();
  link.start(of_class(Class::copy, 1 << 20, 0), 0_ns, sink_.outbox());  // 4 x 2050 ns
  run(link, 1_ns);
  link.start(of_class(Class::fault, 128, 1), 1_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(turns(), "aba");
  const std::vector<Sent> lines = sent();
  EXPECT_EQ(lines[2047].departure, 2'050_ns);
  EXPECT_EQ(lines[2048].departure, 2'059_ns);
  EXPECT_EQ(lines.back().departure, 8'209_ns);
}

TEST_F(HostLinkBench, TenantsTakeTurns) {
  HostLink link = make();
  link.start(of_class(Class::copy, 3 * 256 * 1024, 0), 0_ns, sink_.outbox());
  link.start(of_class(Class::copy, 2 * 256 * 1024, 1), 0_ns, sink_.outbox());
  link.start(of_class(Class::copy, 256, 2), 0_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(turns(), "abcaba");
}

TEST_F(HostLinkBench, TransfersOfATenantKeepTheirOrder) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 4096 + 256, 0, 0), 0_ns, sink_.outbox());
  link.start(transfer(Kind::to_gpu, 256, 0, 65536), 0_ns, sink_.outbox());
  run(link);
  const std::vector<Sent> lines = sent();
  ASSERT_EQ(lines.size(), 36u);
  for (std::size_t i = 0; i < 34; ++i) EXPECT_LT(lines[i].request().line, 65536u);
  EXPECT_EQ(lines[34].request().line, 65536u);
}

TEST_F(HostLinkBench, DirectionsDoNotShareBandwidth) {
  HostLink link = make();
  link.start(transfer(Kind::to_gpu, 256), 0_ns, sink_.outbox());
  link.start(transfer(Kind::to_host, 256, 0, 65536), 0_ns, sink_.outbox());
  run(link);
  EXPECT_THAT(departures_ns(), ElementsAre(5, 5, 10, 10));
}

TEST_F(HostLinkBench, LinesInFlightAreLimited) {
  HostLink link = make(2);
  link.start(transfer(Kind::to_gpu, 512), 0_ns, sink_.outbox());
  run(link);
  ASSERT_THAT(departures_ns(), ElementsAre(3, 6));
  EXPECT_EQ(link.next_activity(), Time::never());
  EXPECT_FALSE(link.idle());
  answer(link, sent()[0].request());
  EXPECT_EQ(link.next_activity(), 9_ns);
}

TEST_F(HostLinkBench, WaitingForAPlaceMakesTheTransferLonger) {
  HostLink link = make(2);
  link.start(transfer(Kind::to_gpu, 512), 0_ns, sink_.outbox());
  run(link);
  answer(link, sent()[0].request(), 0, 1'011_ns);
  answer(link, sent()[1].request(), 0, 1'011_ns);
  run(link);
  EXPECT_THAT(departures_ns(), ElementsAre(3, 6, 1'011, 1'014));
}

TEST_F(HostLinkBench, RemoteAccessesPushTheLinesOfATransferBack) {
  HostLink link = make();
  EXPECT_EQ(link.occupy(true, 20_ns, 256, 0), 22_ns);
  EXPECT_EQ(link.occupy(true, 20_ns, 128, 0), 23_ns);
  EXPECT_EQ(link.occupy(false, 20_ns, 128, 0), 21_ns);
  link.start(transfer(Kind::to_gpu, 512), 20_ns, sink_.outbox());
  EXPECT_EQ(link.next_activity(), 23_ns);
  run(link, 27_ns);  // the first line leaves
  EXPECT_EQ(link.occupy(true, 27_ns, 1280, 0), 37_ns);
  run(link);
  EXPECT_THAT(departures_ns(), ElementsAre(26, 39, 42, 45));
}

TEST_F(HostLinkBench, EachDirectionCountsWhoTookItAndWhoWaited) {
  HostLink link = make();
  link.start(of_class(Class::copy, 4096, 1), 0_ns, sink_.outbox());  // 40 ns
  run(link, 5_ns);
  link.start(of_class(Class::fault, 256, 2), 5_ns, sink_.outbox());  // 10 ns
  run(link);
  EXPECT_EQ(link.occupy(true, 60_ns, 128, 3), 61_ns);
  EXPECT_EQ(link.occupy(true, 60_ns, 128, 3), 62_ns);
  const LinkStatistics& to_gpu = link.statistics(true);
  const auto of_tenants = [](const auto& counters, std::uint64_t unit) {
    return std::vector{counters[1][2].value() / unit, counters[2][0].value() / unit,
                       counters[3][LinkStatistics::remote].value() / unit};
  };
  constexpr std::uint64_t nanosecond = 1'000'000;
  EXPECT_THAT(of_tenants(to_gpu.bytes, 1), ElementsAre(4096, 256, 256));
  EXPECT_THAT(of_tenants(to_gpu.transfers, 1), ElementsAre(1, 1, 2));
  EXPECT_THAT(of_tenants(to_gpu.busy_time, nanosecond), ElementsAre(40, 10, 2));
  EXPECT_THAT(of_tenants(to_gpu.queue_time, nanosecond), ElementsAre(0, 35, 1));
  EXPECT_EQ(to_gpu.sizes[1].bin(3), 1u);  // 4 to 7 KiB
  EXPECT_THAT(of_tenants(link.statistics(false).bytes, 1), ElementsAre(0, 0, 0));
}

TEST_F(HostLinkBench, RawRequestsGoToThePartitionOfTheirLineAndAreNotTheLinks) {
  HostLink link = make();
  MemoryRequest request;
  request.line = 256;
  request.tag = 1u << 31 | 5;
  link.send_request(request, {}, 7_ns, sink_.outbox());
  ASSERT_EQ(sent().size(), 1u);
  EXPECT_EQ(sent()[0].partition, 1u);
  EXPECT_EQ(sent()[0].departure, 7_ns);
  EXPECT_FALSE(HostLink::owns(sent()[0].request().tag));
  EXPECT_TRUE(HostLink::owns(0));
  EXPECT_TRUE(link.idle());
}

TEST_F(HostLinkBench, InspectionLeavesAtOnceAndIsNotCounted) {
  HostLink link = make(1);
  link.start(transfer(Kind::inspect, 1024), 7_ns, sink_.outbox());
  EXPECT_THAT(departures_ns(), ElementsAre(7, 7, 7, 7, 7, 7, 7, 7));
  EXPECT_EQ(sent()[0].request().operation, MemoryOperation::inspect);
  EXPECT_EQ(link.statistics(false).bytes[0][2].value(), 0u);
  EXPECT_FALSE(link.idle());
}

TEST_F(HostLinkBench, RestoredLinkGoesOnWhereTheSavedOneStood) {
  HostLink link = make(50);
  link.start(transfer(Kind::to_gpu, 8192, 0), 0_ns, sink_.outbox());
  link.start(of_class(Class::prefetch, 8192, 1), 3_ns, sink_.outbox());
  link.start(transfer(Kind::to_host, 640, 1, 65536), 3_ns, sink_.outbox());
  for (int i = 0; i < 45; ++i) link.act(link.next_activity(), sink_.outbox());
  std::vector<std::uint32_t> answered;
  for (const Sent& s : sent()) {
    if (s.departure >= 20_ns) break;
    answer(link, s.request());
  }
  std::stringstream bytes;
  Archive saving = Archive::saving(bytes);
  saving(link);
  HostLink restored = make(50);
  Archive restoring = Archive::restoring(bytes);
  restoring(restored);

  const auto rest = [&](HostLink& which) {
    sink_.clear();
    run(which);
    std::vector<std::tuple<Time, std::uint64_t, std::uint32_t, std::uint32_t>> lines;
    for (const Sent& s : sent()) {
      lines.emplace_back(s.departure, s.request().line, s.request().tag, s.message->sequence);
    }
    return lines;
  };
  const auto expected = rest(link);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(rest(restored), expected);
}

}  // namespace
}  // namespace lockstep
