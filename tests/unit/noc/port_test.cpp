#include "models/noc/port.hpp"

#include <gtest/gtest.h>

namespace lockstep::port_test {
namespace {

constexpr std::int64_t never = 1 << 30;

/// Packets that leave the port in each cycle.
struct PortBench {
  ReceivePort port;
  std::vector<std::pair<std::int64_t, std::uint32_t>> left;
  bool open = true;

  std::int64_t run(std::int64_t from, std::int64_t to) {
    std::int64_t next = never;
    for (std::int64_t cycle = from; cycle < to; ++cycle) {
      next = port.step(
                     cycle, never,
                     [&](std::uint32_t packet, std::uint32_t) {
                       if (open) left.push_back({cycle, packet});
                       return open;
                     },
                     [](std::uint32_t) {})
                 .next;
    }
    return next;
  }
};

using Left = std::vector<std::pair<std::int64_t, std::uint32_t>>;

TEST(ReceivePort, APacketOfOneFlitPassesInItsCycle) {
  PortBench bench{ReceivePort(4, 1), {}};
  bench.port.arrive(2, 7, 1, 0);
  bench.run(5, 6);
  EXPECT_EQ(bench.left, (Left{{5, 7}}));
  EXPECT_TRUE(bench.port.empty());
}

TEST(ReceivePort, APacketOccupiesItsRegisterForItsFlits) {
  PortBench bench{ReceivePort(4, 1), {}};
  bench.port.arrive(0, 1, 4, 0);
  bench.port.arrive(1, 2, 1, 0);
  bench.run(0, 10);
  EXPECT_EQ(bench.left, (Left{{3, 1}, {4, 2}}));
}

TEST(ReceivePort, TwoRegistersReceiveAtOnce) {
  PortBench bench{ReceivePort(4, 2), {}};
  bench.port.arrive(0, 1, 4, 0);
  bench.port.arrive(1, 2, 1, 0);
  bench.port.arrive(2, 3, 1, 0);
  bench.run(0, 10);
  EXPECT_EQ(bench.left, (Left{{0, 2}, {1, 3}, {3, 1}}));
}

TEST(ReceivePort, SendersTakeTurns) {
  PortBench bench{ReceivePort(3, 1), {}};
  for (std::uint32_t i = 0; i < 2; ++i)
    for (std::uint32_t sender = 0; sender < 3; ++sender)
      bench.port.arrive(sender, 10 * sender + i, 1, 0);
  bench.run(0, 6);
  EXPECT_EQ(bench.left, (Left{{0, 0}, {1, 10}, {2, 20}, {3, 1}, {4, 11}, {5, 21}}));
}

TEST(ReceivePort, PacketsOfASenderStayInOrder) {
  PortBench bench{ReceivePort(3, 1), {}};
  for (std::uint32_t i = 0; i < 5; ++i) bench.port.arrive(1, i, 1, 0);
  bench.run(0, 5);
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(bench.left[i].second, i);
}

TEST(ReceivePort, ARefusedPacketBlocksItsRegister) {
  PortBench bench{ReceivePort(3, 1), {}};
  bench.open = false;
  bench.port.arrive(0, 1, 1, 0);
  bench.port.arrive(1, 2, 1, 0);
  EXPECT_EQ(bench.run(0, 10), never);
  bench.open = true;
  bench.run(10, 12);
  EXPECT_EQ(bench.left, (Left{{10, 1}, {11, 2}}));
}

TEST(ReceivePort, SaysWhenItHasSomethingToDo) {
  PortBench bench{ReceivePort(3, 1), {}};
  bench.port.arrive(0, 1, 4, 0);
  EXPECT_EQ(bench.run(0, 1), 3);
  EXPECT_EQ(bench.run(3, 4), never);
}

TEST(SendPort, PacketsFollowEachOtherByTheirFlits) {
  SendPort port(1);
  EXPECT_EQ(port.reserve(10, 4), 10);
  EXPECT_EQ(port.reserve(10, 1), 14);
  EXPECT_EQ(port.reserve(20, 1), 20);
}

TEST(SendPort, TwoFlitsPerCycleLeaveTogether) {
  SendPort port(2);
  EXPECT_EQ(port.reserve(10, 1), 10);
  EXPECT_EQ(port.reserve(10, 1), 10);
  EXPECT_EQ(port.reserve(10, 4), 11);
  EXPECT_EQ(port.reserve(10, 1), 13);
}

}  // namespace
}  // namespace lockstep::port_test
