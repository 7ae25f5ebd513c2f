#include "models/driver/small_buffers.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "core/checkpoint/archive.hpp"

namespace lockstep::small_buffers_test {
namespace {

constexpr VirtualPage first{4 * pages_per_large}, second{8 * pages_per_large};
constexpr std::uint64_t most = SmallBuffers::most_bytes;

std::optional<VirtualAddress> behind(VirtualPage page, std::uint64_t bytes) {
  return address_of(page) + bytes;
}

TEST(SmallBuffers, LieInAPageOneAfterTheOtherFromMultiplesOf512) {
  SmallBuffers buffers;
  EXPECT_EQ(buffers.take(4), std::nullopt) << "there is no page";
  EXPECT_EQ(buffers.add(first, 4), address_of(first));
  EXPECT_EQ(buffers.take(513), behind(first, 512));
  EXPECT_EQ(buffers.take(512), behind(first, 1536));
  EXPECT_EQ(buffers.take(1), behind(first, 2048));
}

TEST(SmallBuffers, FillAPageToItsEnd) {
  SmallBuffers buffers;
  buffers.add(first, most);
  EXPECT_EQ(buffers.take(most), behind(first, most));
  EXPECT_EQ(buffers.take(1), std::nullopt);
  EXPECT_EQ(buffers.add(second, 1), address_of(second));
}

TEST(SmallBuffers, OneThatStillFitsGoesToAnEarlierPage) {
  SmallBuffers buffers;
  buffers.add(first, most);
  buffers.take(most - 512);
  EXPECT_EQ(buffers.take(most), std::nullopt);
  buffers.add(second, most);
  EXPECT_EQ(buffers.take(512), behind(first, 2 * most - 512));
}

TEST(SmallBuffers, APageGoesWithItsLastBuffer) {
  SmallBuffers buffers;
  const VirtualAddress one = buffers.add(first, 4), other = *buffers.take(4);
  const VirtualAddress alone = buffers.add(second, most);
  EXPECT_FALSE(buffers.leave(one));
  EXPECT_EQ(buffers.take(4), behind(first, 1024)) << "not what the freed one had";
  EXPECT_FALSE(buffers.leave(other));
  EXPECT_TRUE(buffers.leave(*behind(first, 1024)));
  EXPECT_EQ(buffers.take(4), behind(second, most)) << "the first page is gone";
  EXPECT_FALSE(buffers.leave(alone));
}

TEST(SmallBuffers, StandInCheckpoints) {
  SmallBuffers saved, restored;
  saved.add(first, 4);
  std::stringstream stream;
  Archive saving = Archive::saving(stream);
  saving(saved);
  Archive restoring = Archive::restoring(stream);
  restoring(restored);
  EXPECT_EQ(restored.take(4), behind(first, 512));
  EXPECT_FALSE(restored.leave(address_of(first)));
}

}  // namespace
}  // namespace lockstep::small_buffers_test
