/// Links of two GPUs behind an uplink that they share.
#include "models/host_link/uplink.hpp"

#include <gmock/gmock.h>

#include "core/parameters/document.hpp"
#include "tests/unit/host_link/host_link_bench.hpp"

namespace lockstep::test::uplink_test {
namespace {

/// Links of a line each nanosecond, without a set-up; tenants 0 and 1 of each are 0, 1 and 2, 3 at
/// the uplink.
class Uplinks : public HostLinkBench {
 protected:
  static constexpr std::size_t lines = 64;

  HostLink link_behind(Uplink* uplink, std::uint32_t first_tenant) {
    HostParameters settings = parameters();
    settings.transfer_setup = 0_ns;
    std::vector<Link> links;
    for (std::uint32_t p = 0; p < partitions; ++p)
      links.emplace_back(LinkId{p}, ComponentId{p}, 500_ns);
    UplinkPort port;
    if (uplink != nullptr) port = {uplink, {first_tenant, first_tenant + 1}};
    return HostLink(
        settings, AddressMapping(AddressMapping::Kind::plain, partitions), links,
        [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
          return std::span(memory_[transfer.buffer]).subspan(offset, bytes);
        },
        {0, 1}, port);
  }
  /// Lets all links act in the order of time until nothing is left; returns when each sent its
  /// last line.
  std::vector<Time> run_all(std::vector<HostLink*> links) {
    std::vector<Time> last(links.size());
    for (;;) {
      const auto next = std::min_element(links.begin(), links.end(), [](auto* a, auto* b) {
        return a->next_activity() < b->next_activity();
      });
      const Time now = (*next)->next_activity();
      if (now == Time::never()) return last;
      (*next)->act(now, sink_.outbox());
      last[static_cast<std::size_t>(next - links.begin())] = now;
    }
  }
};

TEST_F(Uplinks, AFastOneSlowsNobodyDown) {
  Uplink uplink(Bandwidth{256e9}, 4);
  HostLink one = link_behind(&uplink, 0), other = link_behind(&uplink, 2);
  one.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  other.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  EXPECT_THAT(run_all({&one, &other}), testing::ElementsAre(64_ns, 64_ns));
}

TEST_F(Uplinks, LinksOfItsOwnRateTakeTurns) {
  Uplink uplink(Bandwidth{128e9}, 4);
  HostLink one = link_behind(&uplink, 0), other = link_behind(&uplink, 2);
  one.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  other.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  EXPECT_THAT(run_all({&one, &other}), testing::ElementsAre(127_ns, 128_ns));
}

TEST_F(Uplinks, ASlowOneIsTheRateOfASingleLink) {
  Uplink uplink(Bandwidth{64e9}, 4);
  HostLink one = link_behind(&uplink, 0);
  one.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  EXPECT_THAT(run_all({&one}), testing::ElementsAre(128_ns));
}

TEST_F(Uplinks, DirectionsAreApart) {
  Uplink uplink(Bandwidth{128e9}, 4);
  HostLink one = link_behind(&uplink, 0), other = link_behind(&uplink, 2);
  one.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  other.start(transfer(Kind::to_host, lines * 128), 0_ns, sink_.outbox());
  EXPECT_THAT(run_all({&one, &other}), testing::ElementsAre(64_ns, 64_ns));
}

TEST_F(Uplinks, WhoComesLaterSharesFromThenOn) {
  Uplink uplink(Bandwidth{128e9}, 4);
  HostLink one = link_behind(&uplink, 0), other = link_behind(&uplink, 2);
  one.start(transfer(Kind::to_gpu, lines * 128), 0_ns, sink_.outbox());
  while (one.next_activity() < 33_ns) one.act(one.next_activity(), sink_.outbox());
  other.start(transfer(Kind::to_gpu, lines * 128), 32_ns, sink_.outbox());
  // Half of the first is through; the other half takes twice as long, and the rest of the second
  // goes alone.
  const std::vector<Time> ends = run_all({&one, &other});
  EXPECT_GE(ends[0], 95_ns);
  EXPECT_LE(ends[0], 97_ns);
  EXPECT_EQ(ends[1], 128_ns);
}

TEST_F(Uplinks, RemoteAccessesWaitForTransfersOfTheOtherGpu) {
  Uplink uplink(Bandwidth{128e9}, 4);
  HostLink one = link_behind(&uplink, 0), other = link_behind(&uplink, 2);
  EXPECT_EQ(other.occupy(true, 0_ns, 128, TenantId{0}), 1_ns);
  one.start(transfer(Kind::to_gpu, lines * 128), 1_ns, sink_.outbox());
  one.act(one.next_activity(), sink_.outbox());  // begins, and takes the next line's turn
  EXPECT_EQ(other.occupy(true, 1_ns, 128, TenantId{1}), 3_ns);
  EXPECT_EQ(uplink.statistics(true).wait_behind.at(3, 0).value(), 1'000'000u);
  EXPECT_EQ(uplink.statistics(true).queue_time[3].value(), 1'000'000u);
}

TEST_F(Uplinks, CountsWhoWaitedBehindWhom) {
  Uplink uplink(Bandwidth{128e9}, 4);
  HostLink one = link_behind(&uplink, 0), other = link_behind(&uplink, 2);
  one.start(transfer(Kind::to_gpu, lines * 128, 1), 0_ns, sink_.outbox());
  other.start(transfer(Kind::to_gpu, lines * 128, 0), 0_ns, sink_.outbox());
  run_all({&one, &other});
  const UplinkStatistics& counted = uplink.statistics(true);
  EXPECT_EQ(counted.bytes[1].value(), lines * 128);
  EXPECT_EQ(counted.bytes[2].value(), lines * 128);
  EXPECT_EQ(counted.busy_time[1].value(), lines * 1'000'000u);
  // Each line but the first waits for one of the other's.
  EXPECT_EQ(counted.wait_behind.at(1, 2).value(), (lines - 1) * 1'000'000u);
  EXPECT_EQ(counted.wait_behind.at(2, 1).value(), lines * 1'000'000u);
  EXPECT_EQ(counted.bytes[0].value(), 0u);
}

TEST(ReadUplinks, RefusesGpusThatAreNotThereOrTwice) {
  const auto read = [](const std::string& text, std::size_t gpus) {
    HostParameters host;
    host.uplinks = parse_document(text, "host.yaml");
    return read_uplinks(host, gpus).size();
  };
  EXPECT_EQ(read("[{gpus: [0, 1], bandwidth: 8GB/s}, {gpus: [2], bandwidth: 8GB/s}]", 3), 2u);
  EXPECT_THROW(read("[{gpus: [0, 1], bandwidth: 8GB/s}]", 1), UserError);
  EXPECT_THROW(read("[{gpus: [0, 0], bandwidth: 8GB/s}]", 2), UserError);
  EXPECT_THROW(read("[{gpus: [], bandwidth: 8GB/s}]", 2), UserError);
  EXPECT_THROW(read("[{gpus: [0]}]", 2), UserError);
  EXPECT_EQ(read_uplinks(HostParameters{}, 2).size(), 0u);
}

}  // namespace
}  // namespace lockstep::test::uplink_test
