/// Stretches have the lines that the link sends one by one otherwise.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <tuple>

#include "models/noc/store_payload.hpp"
#include "tests/unit/host_link/host_link_bench.hpp"

namespace lockstep::test::copy_stretches_test {
namespace {

/// Partition, arrival, address of the line, sectors, whether it is a store, and its payload.
using Line = std::tuple<std::size_t, Time, std::uint64_t, unsigned, bool, std::vector<std::byte>>;

class CopyStretchesOfTheLink : public HostLinkBench {
 protected:
  /// Lines of all transfers in order of partition and arrival.
  std::vector<Line> lines_of(HostLink& link) {
    std::vector<Line> all;
    run(link);
    for (std::size_t p = 0; p < partitions; ++p)
      for (const MessageHeader* message : sink_.to(p))
        message->kind == kind_of(MessageKind::copy_stretch) ? expand(p, *message, all)
                                                            : add(p, *message, all);
    std::sort(all.begin(), all.end());
    return all;
  }

  std::size_t messages() const { return sink_.all().size(); }

  /// Tells the link that the partitions have taken all stretches. Returns the transfers that ended.
  std::vector<Transfer> acknowledge(HostLink& link, Time arrival) {
    std::vector<Transfer> ended;
    for (const MessageHeader* message : sink_.all()) {
      if (message->kind != kind_of(MessageKind::copy_stretch)) continue;
      const auto& stretch = message->body<CopyStretch>();
      StretchDone done{stretch.number, stretch.lines, 0};
      for (const CopiedLine& line : records(*message)) done.bytes += line.bytes;
      const IncomingMessage answer(arrival, kind_of(MessageKind::stretch_done), done);
      if (auto transfer = link.take(*answer.get())) ended.push_back(*transfer);
    }
    return ended;
  }

 private:
  static void add(std::size_t p, const MessageHeader& message, std::vector<Line>& all) {
    const auto& request = message.body<MemoryRequest>();
    const auto payload = message.payload();
    all.emplace_back(p, message.arrival, request.line, request.sectors,
                     request.operation == MemoryOperation::store,
                     std::vector<std::byte>(payload.begin(), payload.end()));
  }
  static std::vector<CopiedLine> records(const MessageHeader& message) {
    std::vector<CopiedLine> lines(message.body<CopyStretch>().lines);
    std::memcpy(lines.data(), message.payload_data(), lines.size() * sizeof(CopiedLine));
    return lines;
  }
  static void expand(std::size_t p, const MessageHeader& message, std::vector<Line>& all) {
    const std::vector<CopiedLine> lines = records(message);
    EXPECT_EQ(message.arrival, lines.front().arrival);
    const bool to_gpu = message.body<CopyStretch>().to_gpu != 0;
    const std::byte* bytes = message.payload_data() + lines.size() * sizeof(CopiedLine);
    for (const CopiedLine& line : lines) {
      const std::uint64_t begin = line.address % line_bytes, end = begin + line.bytes;
      const unsigned sectors = sectors_of(begin, end);
      std::vector<std::byte> payload;
      if (to_gpu) {
        payload.resize(static_cast<std::size_t>(std::popcount(sectors)) * (4 + sector_bytes));
        fill_store(payload.data(), begin, end, bytes);
        bytes += line_bytes;
      }
      all.emplace_back(p, line.arrival, line.address - begin, sectors, to_gpu, std::move(payload));
    }
  }
};

TEST_F(CopyStretchesOfTheLink, HaveTheLinesThatAreSentOneByOneOtherwise) {
  std::vector<Line> expected;
  std::size_t sent = 0;
  for (const bool stretches : {false, true}) {
    sink_.clear();
    HostLink link = make(parameters(), stretches);
    for (const auto& [kind, bytes, tenant, offset] : {std::tuple{Kind::to_gpu, 300'001u, 0, 0u},
                                                      {Kind::to_host, 70'003u, 1, 17u},
                                                      {Kind::to_gpu, 4u, 2, 3u},
                                                      {Kind::to_gpu, 140'000u, 1, 250u}}) {
      MessageSink none(partitions);
      Transfer one = transfer(kind, bytes, static_cast<std::uint16_t>(tenant), 4096u + offset, 8);
      one.frames = {{4096u + offset, bytes / 3}, {(1u << 20) + 40, bytes - bytes / 3}};
      link.start(std::move(one), 5_ns, none.outbox());
    }
    const std::vector<Line> lines = lines_of(link);
    if (!stretches) {
      expected = lines;
      sent = messages();
    } else {
      EXPECT_TRUE(lines == expected);
      EXPECT_LT(10 * messages(), sent);
    }
  }
}

TEST_F(CopyStretchesOfTheLink, AreCountedLineByLine) {
  HostLink lines = make(parameters()), stretches = make(parameters(), true);
  for (HostLink* link : {&lines, &stretches})
    link->start(transfer(Kind::to_gpu, 200'000, 0, 64), 0_ns, sink_.outbox());
  for (Time until = 100_ns; lines.next_activity() != Time::never(); until = until + 97_ns) {
    EXPECT_EQ(stretches.next_activity(), lines.next_activity());
    for (HostLink* link : {&lines, &stretches}) link->run({}, until, sink_.outbox());
    EXPECT_EQ(stretches.bytes_of(0, true), lines.bytes_of(0, true));
    EXPECT_EQ(stretches.statistics(true).busy_time[0][2].value(),
              lines.statistics(true).busy_time[0][2].value());
  }
}

TEST_F(CopyStretchesOfTheLink, AreInFlightUntilTheirPartitionsHaveTakenThem) {
  HostLink link = make(parameters(), true);
  link.start(transfer(Kind::to_gpu, 200'000), 0_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(link.next_activity(), Time::never());
  EXPECT_FALSE(link.idle());
  const std::vector<Transfer> ended = acknowledge(link, 9000_ns);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended.front().done, 9000_ns);
  EXPECT_TRUE(link.idle());
}

TEST_F(CopyStretchesOfTheLink, AreNotSentWhereLinesMayHaveToWait) {
  HostLink few = make(parameters(4095), true);
  few.start(transfer(Kind::to_gpu, 1000), 0_ns, sink_.outbox());
  run(few);
  EXPECT_EQ(messages(), 8u);

  sink_.clear();
  HostLink full = make(parameters(4096), true);
  full.start(transfer(Kind::to_gpu, 12 * 64 * 1024), 0_ns, sink_.outbox());
  run(full);
  std::size_t stretches = 0, lines = 0;
  for (const MessageHeader* message : sink_.all())
    ++(message->kind == kind_of(MessageKind::copy_stretch) ? stretches : lines);
  EXPECT_EQ(stretches, 2 * 7u);       // of two partitions: 7 stretches of 512 lines
  EXPECT_EQ(lines, 4096 - 7 * 512u);  // then line by line, until as many are in flight as may be
}

}  // namespace
}  // namespace lockstep::test::copy_stretches_test
