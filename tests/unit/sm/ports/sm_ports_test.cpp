#include "models/sm/ports/sm_ports.hpp"

#include <gtest/gtest.h>

#include "models/sm/ports/request_tag.hpp"
#include "tests/unit/sm/machine/sm_world.hpp"

namespace lockstep::sm_ports_test {
namespace {

Destination partition(std::uint16_t number) {
  return Destination::partition(PartitionId{number});
}

void few_credits(SmSetup& setup) {
  setup.noc.credits = 2;
  setup.parameters.port.queue = 1;
}

TEST(SmPorts, ARequestLeavesAfterTheInjectionLatency) {
  SmWorld world;
  world.ports.send(partition(2), 0, SmCycle(100)).request.line = 128;
  ASSERT_EQ(world.sent(2).size(), 1u);
  const std::int64_t latency = world.constants.parameters.port.injection_latency.count();
  // Arrival is a link's latency after the departure.
  EXPECT_EQ(world.sent(2).front()->arrival,
            world.constants.time_of(SmCycle(100 + latency)) + Time{1'000'000});
}

TEST(SmPorts, WithoutCreditsRequestsWaitForAnAnswer) {
  SmWorld world("", few_credits);
  world.ports.send(partition(1), 0, SmCycle(10));
  world.ports.send(partition(1), 0, SmCycle(11));
  ASSERT_TRUE(world.ports.accepts(partition(1)));  // a place in the queue
  world.ports.send(partition(1), 0, SmCycle(12)).request.tag = 77;
  EXPECT_FALSE(world.ports.accepts(partition(1)));
  EXPECT_TRUE(world.ports.accepts(partition(0)));
  EXPECT_EQ(world.sent(1).size(), 2u);
  EXPECT_NE(world.ports.waiting_for(), "");
  world.ports.receive(partition(1), world.constants.time_of(SmCycle(500)), 32, SmCycle(500));
  ASSERT_EQ(world.sent(1).size(), 3u);
  EXPECT_EQ(world.sent(1).back()->body<MemoryRequest>().tag, 77u);
  EXPECT_EQ(world.ports.waiting_for(), "");
}

TEST(SmPorts, EachLinkOfAPortHasCreditsOfItsOwn) {
  SmWorld world("", [](SmSetup& setup) {
    few_credits(setup);
    setup.to_port = {setup.to_host};
    setup.port_links = 3;
  });
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(world.ports.waiting_for(), "");
    world.ports.send(Destination::port(), 0, SmCycle(10 + i));
  }
  EXPECT_EQ(world.ports.waiting_for(), "");
  world.ports.send(Destination::port(), 0, SmCycle(16));
  EXPECT_NE(world.ports.waiting_for(), "") << "three links of two credits each";
}

TEST(SmPorts, AStoreCarriesMasksThenBytesOfItsSectors) {
  SmWorld world;
  std::array<std::byte, line_bytes> line{};
  line[64] = std::byte{7};
  LineBytes mask{};
  mask[2] = 1;
  world.ports.send_store(partition(0), 0b0100, mask, line.data(), SmCycle(10)).sectors = 0b0100;
  const MessageHeader& message = *world.sent(0).front();
  ASSERT_EQ(message.payload_bytes, 4u + sector_bytes);
  std::uint32_t sent;
  std::memcpy(&sent, message.payload_data(), 4);
  EXPECT_EQ(sent, 1u);
  EXPECT_EQ(message.payload_data()[4], std::byte{7});
}

TEST(SmPorts, AnswersComeInOneAfterTheOther) {
  SmWorld world;
  world.ports.send(partition(0), 0, SmCycle(1));
  world.ports.send(partition(0), 0, SmCycle(2));
  const Time arrival = world.constants.time_of(SmCycle(300));
  const Time first = world.ports.receive(partition(0), arrival, 128, SmCycle(300));
  const Time second = world.ports.receive(partition(0), arrival, 128, SmCycle(300));
  EXPECT_GT(first, arrival);
  EXPECT_EQ(second - first, first - arrival);
}

TEST(SmPorts, RestoredTheyHaveTheSameCreditsAndQueue) {
  SmWorld world("", few_credits), other("", few_credits);
  for (int i = 0; i < 3; ++i)
    world.ports.send(partition(1), 0, SmCycle(10 + i)).request.tag = 70u + unsigned(i);
  save_and_restore(world.ports, other.ports);
  EXPECT_FALSE(other.ports.accepts(partition(1)));
  other.ports.receive(partition(1), other.constants.time_of(SmCycle(500)), 32, SmCycle(500));
  ASSERT_EQ(other.sent(1).size(), 1u);
  EXPECT_EQ(other.sent(1).front()->body<MemoryRequest>().tag, 72u);
}

TEST(RequestTag, TellsKindPlaceAndIndex) {
  const std::uint32_t tag = RequestTag::make(RequestTag::atomic, 4711, true);
  EXPECT_EQ(RequestTag::kind(tag), RequestTag::atomic);
  EXPECT_TRUE(RequestTag::host(tag));
  EXPECT_EQ(RequestTag::index(tag), 4711);
}

}  // namespace
}  // namespace lockstep::sm_ports_test
