#include "models/isa/interpreter/flat_memory.hpp"

#include <gtest/gtest.h>

#include <array>

namespace lockstep::isa::flat_memory_test {
namespace {

constexpr std::uint64_t base = 0x1000, nowhere = ~std::uint64_t{0};

class Slack : public testing::Test {
 protected:
  Slack() {
    memory_.note_strays(lowest_);
    memory_.map(base, std::span(bytes_).first(40), 24);
  }

  std::array<std::byte, 64> bytes_{};
  std::atomic<std::uint64_t> lowest_{nowhere};
  FlatMemory memory_;
};

TEST_F(Slack, AnAccessWithinTheAllocationIsNoStray) {
  EXPECT_EQ(memory_.find(base + 36, 4), bytes_.data() + 36);
  EXPECT_EQ(lowest_, nowhere);
}

TEST_F(Slack, AccessesBehindItAreLetPassAndTheLowestIsNotedWhoeverMakesThem) {
  FlatMemory view = memory_.view();
  EXPECT_EQ(view.find(base + 48, 8), bytes_.data() + 48);
  EXPECT_EQ(lowest_, base + 48);
  EXPECT_EQ(memory_.find(base + 38, 4), bytes_.data() + 38);
  EXPECT_EQ(memory_.find(base + 60, 4), bytes_.data() + 60);
  EXPECT_EQ(lowest_, base + 38);
}

TEST_F(Slack, ItEndsAfterTheSlack) {
  EXPECT_EQ(memory_.find(base + 60, 8), nullptr);
  EXPECT_EQ(memory_.find(base + 64, 1), nullptr);
  EXPECT_EQ(lowest_, nowhere);
}

TEST_F(Slack, ARangeIsTheAllocationWithoutIt) {
  EXPECT_EQ(memory_.range(base).bytes, 40u);
  EXPECT_EQ(memory_.range(base + 50).bytes, 0u);
}

}  // namespace
}  // namespace lockstep::isa::flat_memory_test
