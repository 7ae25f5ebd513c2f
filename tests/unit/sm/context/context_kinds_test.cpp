/// What a block's context holds by its kind.
/// Source: 002, sections II, III and IV; preemption.md, sections 3, 5 and 17.
#include <gtest/gtest.h>

#include "models/sm/context/needed_rows.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/front_end/issue_path.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/unit/sm/machine/turnover_world.hpp"

namespace lockstep::context_kinds_test {
namespace {

constexpr std::uint32_t garbage = 0xdeadbea7;

template <ContextKind kind>
void with_kind(SmSetup& setup) {
  setup.exception_scheme = policy_named(exception_scheme_policies(), "replay-queue");
  setup.preemptible = true;
  setup.parameters.register_unit = 32;
  setup.parameters.shared.unit = Bytes(8);
  setup.contexts.kind = kind;
}

/// Each arm of a branch stores a value of its own, then all lanes a third; a barrier before.
constexpr const char* arms = R"(
  setp.eq.u32 %p1, %r0, 0;
  add.u32 %r1, %r0, 11;
  add.u32 %r2, %r0, 22;
  add.u32 %r3, %r0, 33;
  bar.sync 0;
  @%p1 bra OTHER;
  st.global.u32 [%rd0], %r1;
  bra.uni END;
OTHER:
  st.global.u32 [%rd0+4], %r2;
END:
  st.global.u32 [%rd1], %r3;
)";

/// A block of 16 x 16 threads with 13 registers each and 1128 bytes of shared memory: BP_1 of 002.
class BranchingBlock : protected TurnoverWorld {
 public:
  explicit BranchingBlock(void (*change)(SmSetup&), std::uint16_t registers = 13)
      : TurnoverWorld(change, "", arms) {
    GridLaunch launch;
    launch.blocks = {64, 1, 1};
    launch.threads = {16, 16, 1};
    launch.parameter_bytes = 24;
    launch.registers = registers;
    launch.dynamic_shared_bytes = 1128;
    turnover.start_grid(launch, std::vector<std::byte>(24));
    turnover.stage({0, 0, 0}, {}, SmCycle(10));
    front_end.begin_cycle(SmCycle(11));
    front_end.begin_cycle(SmCycle(12));
    for (unsigned w = 0; w < 8; ++w)
      for (unsigned row = 0; row < kernel().rows; ++row)
        for (unsigned lane = 0; lane < 32; ++lane)
          this->lane(w, row, lane) = value_of(32 * w + lane, row);
  }

  const IssueTable& kernel() { return *world.blocks.grid(0).issue; }
  std::uint32_t& lane(unsigned warp, unsigned row, unsigned lane) {
    return warp_of(warp).registers[row * isa::warp_size + lane];
  }
  /// Strided through the block in some rows, the same for all in others.
  static std::uint32_t value_of(unsigned thread, unsigned row) {
    return row % 2 == 0 ? 1000 + 4 * thread : 7 * row;
  }
  Warp& warp_of(unsigned number) { return world.blocks.warp(WarpSlot(number)); }
  std::uint32_t pc_of(isa::Category category, unsigned n = 0) {
    for (std::uint32_t pc = 0;; ++pc)
      if (world.instruction(pc).category == category && n-- == 0) return pc;
  }
  /// The row that a store writes to memory.
  unsigned data_of(unsigned store) {
    return world.instruction(pc_of(isa::Category::store, store)).source[1].row();
  }
  /// All warps stand there, their lanes together.
  void stand(std::uint32_t pc) {
    for (unsigned w = 0; w < 8; ++w) warp_of(w).paths.start(~0u, pc);
  }
  BlockContext leave_and_return() {
    contexts.freeze(place);
    EXPECT_TRUE(contexts.is_quiet(place));
    BlockContext context = contexts.take_out(place, SmCycle(20));
    contexts.put_in(place, context.bytes, SmCycle(40));
    return context;
  }
  bool came_back(unsigned row) {
    bool all = true, none = true;
    for (unsigned w = 0; w < 8; ++w)
      for (unsigned lane = 0; lane < 32; ++lane) {
        all &= this->lane(w, row, lane) == value_of(32 * w + lane, row);
        none &= this->lane(w, row, lane) == garbage;
      }
    EXPECT_NE(all, none) << row;
    return all;
  }
  std::uint64_t part(SmStatistics::ContextPart part) {
    return world.statistics.tenant[0].context_parts[part].value();
  }
  unsigned predicates() { return world.blocks.grid(0).program->predicates; }
  std::uint64_t registers(RegisterClass kind) {
    return world.statistics.tenant[0].context_registers[static_cast<std::size_t>(kind)].value();
  }

  static constexpr BlockPlace place{0};
};

TEST(ContextKinds, OccupiedAContextOfBackpropagationHas13RegistersOfEachThreadAndSharedMemory) {
  BranchingBlock block(with_kind<ContextKind::occupied>);
  const BlockContext context = block.leave_and_return();
  EXPECT_EQ(context.parts.register_bytes, 8 * 1664u);
  EXPECT_EQ(block.part(SmStatistics::registers_saved) + block.part(SmStatistics::shared_saved),
            14440u);
  for (unsigned row = 0; row < block.kernel().rows; ++row) EXPECT_TRUE(block.came_back(row));
}

/// The rows of the program are more than its registers: pairs and single values do not share any,
/// and predicates have two.
TEST(ContextKinds, OccupiedAContextIsNoLargerThanWhatTheBlockHasInTheRegisterFile) {
  const auto rows =
      static_cast<std::uint16_t>(BranchingBlock(with_kind<ContextKind::occupied>).kernel().rows);
  for (std::uint16_t registers = rows; registers <= rows + 3; ++registers) {
    BranchingBlock block(with_kind<ContextKind::occupied>, registers);
    block.stand(block.pc_of(isa::Category::store, 1));
    const BlockContext context = block.leave_and_return();
    EXPECT_EQ(context.parts.register_bytes, 8u * 128 * registers);
    EXPECT_EQ(block.part(SmStatistics::registers_occupied), 8u * 128 * registers);
    EXPECT_TRUE(block.came_back(block.data_of(1)));
    EXPECT_TRUE(block.came_back(block.data_of(2)));
    unsigned saved = 0;
    for (unsigned row = 0; row < rows; ++row) saved += block.came_back(row);
    EXPECT_EQ(saved, std::min<unsigned>(rows, registers - 1)) << "predicates and what is no row";
  }
}

TEST(ContextKinds, OccupiedWhatWarpsNeedIsSavedThoughTheLaunchStatesFewerRegisters) {
  BranchingBlock block(with_kind<ContextKind::occupied>, 1);
  block.stand(block.pc_of(isa::Category::store, 1));
  const BlockContext context = block.leave_and_return();
  constexpr unsigned needed = 2 + 2 * 2;  // two values and their addresses
  EXPECT_EQ(context.parts.register_bytes, 8 + 8 * (needed * 128 + 4 * block.predicates()));
  EXPECT_EQ(block.part(SmStatistics::registers_occupied), 8u * 128);
  EXPECT_TRUE(block.came_back(block.data_of(1)));
  EXPECT_TRUE(block.came_back(block.data_of(2)));
}

TEST(ContextKinds, LiveARegisterThatNoPathReadsAnyMoreIsNotSaved) {
  BranchingBlock block(with_kind<ContextKind::live>);
  block.stand(block.pc_of(isa::Category::store, 0));
  block.leave_and_return();
  EXPECT_TRUE(block.came_back(block.data_of(0)));
  EXPECT_FALSE(block.came_back(block.data_of(1))) << "the other arm's, where no lane is";
  EXPECT_TRUE(block.came_back(block.data_of(2)));
}

TEST(ContextKinds, LiveARegisterThatOnlyTheOtherArmReadsIsSavedWhileLanesWaitForIt) {
  BranchingBlock block(with_kind<ContextKind::live>);
  const std::uint32_t branch = block.pc_of(isa::Category::branch);
  block.stand(branch);
  const std::uint32_t meet = block.pc_of(isa::Category::store, 2);
  for (unsigned w = 0; w < 8; ++w)
    block.warp_of(w).paths.branch(0xff00, block.pc_of(isa::Category::store, 1), meet);
  block.leave_and_return();
  for (unsigned store = 0; store < 3; ++store) EXPECT_TRUE(block.came_back(block.data_of(store)));
}

TEST(ContextKinds, LiveARegisterIsSavedForLanesThatWaitToMeetTheOthers) {
  BranchingBlock block(with_kind<ContextKind::live>);
  block.stand(block.pc_of(isa::Category::branch));
  const std::uint32_t meet = block.pc_of(isa::Category::store, 2);
  for (unsigned w = 0; w < 8; ++w) {
    block.warp_of(w).paths.branch(0xff00, block.pc_of(isa::Category::store, 1), meet);
    block.warp_of(w).paths.jump(meet);
  }
  block.leave_and_return();
  EXPECT_FALSE(block.came_back(block.data_of(0)));
  EXPECT_TRUE(block.came_back(block.data_of(1)));
  EXPECT_TRUE(block.came_back(block.data_of(2)));
}

TEST(ContextKinds, OperandsOfASquashedAccessAreSavedUnlessTheyStandInTheLog) {
  BranchingBlock block(with_kind<ContextKind::live>);
  const std::uint32_t store = block.pc_of(isa::Category::store, 0);
  isa::WarpPaths paths;
  paths.start(~0u, block.pc_of(isa::Category::store, 2));
  std::vector<SavedAccess> accesses(1);
  accesses[0].pc = store;
  const auto needs = [&](unsigned row) {
    return (needed_rows(block.kernel(), paths, accesses)[row / 64] >> row % 64 & 1) != 0;
  };
  const unsigned address = block.kernel().instructions[store].source[0].row();
  EXPECT_TRUE(needs(block.data_of(0)));
  EXPECT_TRUE(needs(address));
  EXPECT_TRUE(needs(address + 1)) << "64 bits";
  accesses[0].operands.emplace();
  EXPECT_FALSE(needs(block.data_of(0)));
  EXPECT_FALSE(needs(address));
}

TEST(ContextKinds, CompressedItIsSmallerAndComesBackAsItWas) {
  BranchingBlock live(with_kind<ContextKind::live>),
      compressed(with_kind<ContextKind::live_compressed>);
  for (BranchingBlock* block : {&live, &compressed})
    block->stand(block->pc_of(isa::Category::branch));
  const BlockContext plain = live.leave_and_return();
  const BlockContext context = compressed.leave_and_return();
  EXPECT_EQ(plain.parts.compressed, 0u);
  EXPECT_LT(context.parts.register_bytes * 4, plain.parts.register_bytes);
  for (unsigned store = 0; store < 3; ++store)
    EXPECT_TRUE(compressed.came_back(compressed.data_of(store)));
  const std::uint64_t uniform = compressed.registers(RegisterClass::uniform),
                      strided = compressed.registers(RegisterClass::strided);
  EXPECT_EQ(compressed.registers(RegisterClass::random), 0u);
  EXPECT_EQ(uniform + strided, context.parts.compressed);
  EXPECT_EQ(uniform + strided + compressed.registers(RegisterClass::dead),
            8u * compressed.kernel().rows);
  EXPECT_EQ(compressed.part(SmStatistics::registers_live),
            128 * (uniform + strided) + 8 * 4 * compressed.predicates());
}

TEST(ContextKinds, OverTheBlockItIsCompressedWhereAllWarpsStandAtOneBarrier) {
  BranchingBlock by_warp(with_kind<ContextKind::live_compressed>),
      by_block(with_kind<ContextKind::live_compressed_block>),
      elsewhere(with_kind<ContextKind::live_compressed_block>);
  by_warp.stand(by_warp.pc_of(isa::Category::barrier));
  by_block.stand(by_block.pc_of(isa::Category::barrier));
  elsewhere.stand(elsewhere.pc_of(isa::Category::barrier));
  elsewhere.warp_of(3).paths.start(~0u, elsewhere.pc_of(isa::Category::barrier) + 1);
  const std::uint32_t bytes = by_warp.leave_and_return().parts.register_bytes;
  EXPECT_LT(by_block.leave_and_return().parts.register_bytes * 3, bytes * 2);
  EXPECT_EQ(elsewhere.leave_and_return().parts.register_bytes, bytes);
  for (BranchingBlock* block : {&by_warp, &by_block, &elsewhere})
    for (unsigned store = 0; store < 3; ++store)
      EXPECT_TRUE(block->came_back(block->data_of(store)));
}

}  // namespace
}  // namespace lockstep::context_kinds_test
