/// Bytes of a bulk copy to several blocks on their way on.
#include "models/sm/bulk/delivery_rooms.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace lockstep::delivery_rooms_test {
namespace {

using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Runs plain(const std::vector<DeliveryRooms::Run>& runs) {
  Runs result;
  for (const DeliveryRooms::Run& run : runs) result.emplace_back(run.begin, run.end);
  return result;
}

/// A line of which each lane takes 16 bytes to the next place.
CopyTarget line_to(std::vector<std::uint32_t> places) {
  CopyTarget target;
  for (std::size_t lane = 0; lane < places.size(); ++lane) {
    target.to[lane] = places[lane];
    target.bytes[lane] = 16;
  }
  return target;
}

TEST(DeliveryRooms, ALineGoesOnWhenTheNextOneHasCome) {
  DeliveryRooms rooms;
  rooms.open(3, 128);
  EXPECT_EQ(plain(rooms.came(3, line_to({32, 48}), 3)), Runs{});
  EXPECT_EQ(plain(rooms.came(3, line_to({64, 80}), 3)), (Runs{{32, 64}}));
  EXPECT_EQ(plain(rooms.rest(3, 32, 96)), (Runs{{64, 96}}));
}

TEST(DeliveryRooms, PlacesInAnyOrderAreJoined) {
  DeliveryRooms rooms;
  rooms.open(0, 128);
  rooms.came(0, line_to({48, 0, 16, 96}), 0b1111);
  EXPECT_EQ(plain(rooms.came(0, line_to({112}), 1)), (Runs{{0, 32}, {48, 64}, {96, 112}}));
}

TEST(DeliveryRooms, OfALineLanesThatHaveNotComeDoNotCount) {
  DeliveryRooms rooms;
  rooms.open(0, 64);
  rooms.came(0, line_to({0, 16, 32}), 0b101);
  EXPECT_EQ(plain(rooms.rest(0, 0, 64)), (Runs{{0, 16}, {32, 48}, {16, 32}, {48, 64}}));
}

TEST(DeliveryRooms, BytesWithoutALineGoLast) {
  DeliveryRooms rooms;
  rooms.open(0, 64);
  EXPECT_EQ(plain(rooms.rest(0, 16, 64)), (Runs{{16, 64}}));
  rooms.close(0);
  EXPECT_EQ(plain(rooms.rest(0, 16, 64)), Runs{});
}

}  // namespace
}  // namespace lockstep::delivery_rooms_test
