/// Staged blocks start when a place of their own is free, not just enough registers.
/// Source: 003, section 3.2, Figure 3.2; 002, section III.A.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/sm/front_end/issue_path.hpp"
#include "tests/unit/sm/machine/turnover_world.hpp"

namespace lockstep::placed_blocks_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <Placement placement>
void placed(SmSetup& setup) {
  setup.parameters.registers = 2048;
  setup.parameters.placement = placement;
}

/// 2048 registers, of which four blocks of grid 5 have 512 each; a block of grid 6 needs 1024.
class World : private TurnoverWorld {
 public:
  explicit World(void (*change)(SmSetup&)) : TurnoverWorld(change) {
    start_grid(5, 16);
    start_grid(6, 32);
    for (std::uint64_t block = 0; block < 4; ++block)
      stage(5, block, {{static_cast<std::uint32_t>(block) * 512, 0}});
    EXPECT_EQ(resident(), 4);
  }
  void stage(std::uint32_t grid, std::uint64_t block, const std::optional<BlockPosition>& at = {}) {
    turnover.stage({grid, 0, block},
                   at ? std::as_bytes(std::span(&*at, 1)) : std::span<const std::byte>{},
                   SmCycle(10));
  }
  /// Block `slot` of the first four ends.
  void end(unsigned slot, std::int64_t now) {
    const WarpSlot warp(static_cast<std::uint16_t>(slot));
    front_end.call_off(bit_of(warp));
    world.blocks.warp(warp).paths.exit(~0u);
    front_end.evaluate(warp, world.blocks.warp(warp), SmCycle(now));
  }
  int resident() const { return std::popcount(world.blocks.resident()); }
  /// Where blocks have started that were staged, as the dispatcher was told.
  std::vector<std::uint32_t> told() {
    std::vector<std::uint32_t> positions;
    for (const MessageHeader* message : world.sent(SmWorld::dispatcher)) {
      if (message->kind != kind_of(MessageKind::start_block)) continue;
      BlockPosition at;
      std::memcpy(&at, message->payload().data(), sizeof at);
      positions.push_back(at.registers);
    }
    return positions;
  }

 private:
  void start_grid(std::uint32_t number, std::uint32_t registers) {
    GridLaunch launch;
    launch.grid = number;
    launch.blocks = {64, 1, 1};
    launch.threads = {32, 1, 1};
    launch.parameter_bytes = 24;
    launch.registers = registers;
    turnover.start_grid(launch, std::vector<std::byte>(24));
  }
};

TEST(PlacedBlocks, PackedAStagedBlockTakesTheFirstGap) {
  World world(placed<Placement::packed>);
  world.stage(6, 0);
  world.end(1, 20);
  EXPECT_EQ(world.resident(), 3);
  world.end(2, 30);
  EXPECT_EQ(world.resident(), 3);
  EXPECT_THAT(world.told(), ElementsAre(512));
}

TEST(PlacedBlocks, AlignedItWaitsForAPlaceAtAMultipleOfWhatItNeeds) {
  World world(placed<Placement::aligned>);
  world.stage(6, 0);
  world.end(1, 20);
  world.end(2, 30);
  EXPECT_EQ(world.resident(), 2) << "half of the registers are free";
  EXPECT_THAT(world.told(), IsEmpty());
  world.end(3, 40);
  EXPECT_EQ(world.resident(), 2);
  EXPECT_THAT(world.told(), ElementsAre(1024));
}

TEST(PlacedBlocks, OneThatIsSentToAPlaceWaitsForThatOne) {
  World world(placed<Placement::packed>);
  world.stage(6, 0, {{1024, 0}});
  world.end(1, 20);
  world.end(2, 30);
  EXPECT_EQ(world.resident(), 2) << "there is another one";
  world.end(3, 40);
  EXPECT_EQ(world.resident(), 2);
  EXPECT_THAT(world.told(), IsEmpty()) << "the dispatcher knows";
}

TEST(PlacedBlocks, OfSumsAnyWillDo) {
  World world(placed<Placement::summed>);
  world.stage(6, 0);
  world.end(0, 20);
  world.end(2, 30);
  EXPECT_EQ(world.resident(), 3);
  EXPECT_THAT(world.told(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::placed_blocks_test
