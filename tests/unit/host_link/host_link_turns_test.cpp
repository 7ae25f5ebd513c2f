/// Who has a direction of the host link when, and what that costs the others.
#include <gmock/gmock.h>

#include <sstream>
#include <tuple>

#include "core/checkpoint/archive.hpp"
#include "tests/unit/host_link/host_link_bench.hpp"

namespace lockstep::test::host_link_turns_test {
namespace {

using testing::ElementsAre;

TEST_F(HostLinkBench, DirectionsTakeTurnsAtTheOnlyCopyEngine) {
  constexpr std::int64_t lines = 4096;  // two pieces, 8 ns of set-up
  for (const std::uint32_t engines : {1u, 2u}) {
    HostParameters settings = parameters();
    settings.copy_engines = engines;
    sink_.clear();
    HostLink link = make(settings);
    link.start(transfer(Kind::to_host, lines * 128, 0), 0_ns, sink_.outbox());
    link.start(transfer(Kind::to_gpu, lines * 128, 1), 0_ns, sink_.outbox());
    run(link);
    EXPECT_EQ(departures_ns().back(), engines == 1 ? 2 * (8 + lines) : 8 + lines);
    if (engines == 1) {
      EXPECT_EQ(turns(), "baba");
    }
  }
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
  link.start(of_class(Class::fault, 128, 1), 8'209_ns, sink_.outbox());
  run(link);
  const auto& longest = link.statistics(true).longest_fault_wait;
  EXPECT_EQ(longest[1].value(), 8'199'000'000u);
  EXPECT_EQ(longest[0].value(), 0u) << "the prefetch";
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

TEST_F(HostLinkBench, TenantsGoInOrderOfArrivalOrOfPriority) {
  for (const auto& [order, expected] :
       {std::pair(TenantOrder::fifo, "acbab"), std::pair(TenantOrder::priority, "cba"),
        std::pair(TenantOrder::round_robin, "abcab")}) {
    HostParameters settings = parameters();
    settings.link_order = order;
    HostLink link = make(settings);
    for (const std::uint16_t tenant : {0, 2, 1, 0, 1})
      link.start(of_class(Class::fault, 128, tenant), 0_ns, sink_.outbox());
    run(link);
    EXPECT_EQ(turns(), expected);
    sink_.clear();
  }
}

TEST_F(HostLinkBench, FaultGoesBetweenThePagesOfAPrefetchIfItMay) {
  HostParameters settings = parameters();
  settings.link_preempts_prefetch = true;
  HostLink link = make(settings);
  link.start(of_class(Class::prefetch, 1 << 20, 0), 0_ns, sink_.outbox());  // 8200 ns
  run(link, 1_ns);
  link.start(of_class(Class::fault, 128, 1), 1_ns, sink_.outbox());
  run(link);
  EXPECT_EQ(turns(), "aba");
  const std::uint64_t waited = link.statistics(true).longest_fault_wait[1].value();
  EXPECT_LT(waited, 41'000'000u) << "a page takes 32 ns, and the first 8 ns more";
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
  EXPECT_EQ(link.occupy(true, 20_ns, 256, TenantId{0}), 22_ns);
  EXPECT_EQ(link.occupy(true, 20_ns, 128, TenantId{0}), 23_ns);
  EXPECT_EQ(link.occupy(false, 20_ns, 128, TenantId{0}), 21_ns);
  link.start(transfer(Kind::to_gpu, 512), 20_ns, sink_.outbox());
  EXPECT_EQ(link.next_activity(), 23_ns);
  run(link, 27_ns);  // the first line leaves
  EXPECT_EQ(link.occupy(true, 27_ns, 1280, TenantId{0}), 37_ns);
  run(link);
  EXPECT_THAT(departures_ns(), ElementsAre(26, 39, 42, 45));
}

TEST_F(HostLinkBench, EachDirectionCountsWhoTookItAndWhoWaited) {
  HostLink link = make();
  link.start(of_class(Class::copy, 4096, 1), 0_ns, sink_.outbox());  // 40 ns
  run(link, 5_ns);
  link.start(of_class(Class::fault, 256, 2), 5_ns, sink_.outbox());  // 10 ns
  run(link);
  EXPECT_EQ(link.occupy(true, 60_ns, 128, TenantId{3}), 61_ns);
  EXPECT_EQ(link.occupy(true, 60_ns, 128, TenantId{3}), 62_ns);
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
}  // namespace lockstep::test::host_link_turns_test
