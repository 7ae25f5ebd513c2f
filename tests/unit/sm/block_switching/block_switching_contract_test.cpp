/// What every registered block switching must keep, with other values of each of its parameters:
/// each block does its work once, whatever pages are refused and whenever they come; as many leave
/// as there is room for, and nobody where none is to leave; the end is the same after saving and
/// restoring; a tenant that ends leaves nothing behind.  Registering one enrols it.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "models/sm/block_switching/block_switching.hpp"
#include "models/sm/block_switching/registry.hpp"
#include "models/vm/messages.hpp"
#include "tests/harness/policy_named.hpp"
#include "tests/harness/policy_variants.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"

namespace lockstep::block_switching_contract_test {
namespace {

/// Block i adds the first words of pages i and i + 8 to a word of page i, and counts itself.
constexpr const char* body = R"(
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4096;
  add.u64 %rd3, %rd0, %rd2;
  ld.global.u32 %r2, [%rd3];
  ld.global.u32 %r3, [%rd3+32768];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd3+64], %r2;
  atom.global.add.u32 %r4, [%rd0+128], 1;
)";
constexpr std::uint32_t blocks = 8, pages = 16;

/// An SM with room for two blocks, whose pages all come late, one after the other.
class Switching {
 public:
  explicit Switching(const std::string& policy, unsigned seed)
      : random_(seed), machine_(kernel_of(body), options(policy)) {
    for (std::uint32_t page = 0; page < pages; ++page)
      machine_.put<std::uint32_t>(page * page_bytes, 100 + page);
    for (auto& [page, state] : machine_.pages)
      state = {TranslationStatus::refused, {}, static_cast<std::uint32_t>(random_() % 4)};
    machine_.launch("k", {blocks, 1, 1}, {32, 1, 1}, {machine_.address(0), machine_.address(0), 0});
  }
  /// To the end; `interrupted`: saved and restored when so many pages have come.
  void run(std::uint32_t interrupted = pages) {
    std::uint32_t come = 0;
    for (const auto& [page, state] : machine_.pages) {
      machine_.run_to(machine_.cycle() + 200 + static_cast<std::int64_t>(random_() % 3000));
      if (come++ == interrupted) machine_.save_and_restore();
      machine_.page_comes(page);
    }
    machine_.run();
  }
  void expect_results() {
    for (std::uint32_t i = 0; i < blocks; ++i)
      EXPECT_EQ(machine_.get<std::uint32_t>(i * page_bytes + 64), 208 + 2 * i) << i;
    EXPECT_EQ(machine_.get<std::uint32_t>(128), 32 * blocks);
  }
  /// The most blocks that stood in memory at one time, and how many came back.
  std::pair<std::uint32_t, std::uint32_t> in_memory() const {
    std::uint32_t now = 0, most = 0, restored = 0;
    for (const IdealMachine::Told& told : machine_.told) {
      if (told.text.starts_with("saved")) most = std::max(most, ++now);
      if (told.text.starts_with("restored")) --now, ++restored;
    }
    EXPECT_EQ(now, 0u) << "a block stayed in memory";
    return {most, restored};
  }
  IdealMachine& machine() { return machine_; }

 private:
  static IdealMachine::Options options(const std::string& policy) {
    IdealMachine::Options options;
    options.knows_pages = false;
    options.memory_bytes = pages * page_bytes;
    options.exception_scheme = "replay-queue";
    options.block_switching = policy;
    options.parameters.blocks = 2;
    return options;
  }

  std::mt19937 random_;
  IdealMachine machine_;
};

class BlockSwitchingContract : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<BlockSwitching> policy() {
    return make_block_switching(policy_written<block_switching_policies>(GetParam()));
  }
};

TEST_P(BlockSwitchingContract, EveryBlockDoesItsWorkOnce) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Switching switching(GetParam(), seed);
    switching.run();
    switching.expect_results();
    EXPECT_EQ(switching.machine().sm().waiting_for(), "");
  }
}

TEST_P(BlockSwitchingContract, AsManyBlocksLeaveAsThereIsRoomFor) {
  const std::uint32_t room = policy()->extra_blocks();
  std::uint32_t moved = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    Switching switching(GetParam(), seed);
    switching.run();
    const auto [most, restored] = switching.in_memory();
    EXPECT_LE(most, room);
    moved += restored;
  }
  EXPECT_EQ(moved > 0, room > 0 && policy()->worth_leaving(3)) << moved;
}

TEST_P(BlockSwitchingContract, FarFaultsAreWorthLeavingForIfNearOnesAre) {
  const auto switching = policy();
  bool before = false;
  for (std::uint32_t position = 0; position < 100; ++position) {
    const bool now = switching->worth_leaving(position);
    EXPECT_TRUE(now || !before) << position;
    before = now;
  }
  EXPECT_GT(switching->max_wait(), Time::zero());
}

TEST_P(BlockSwitchingContract, EndsTheSameAfterSavingAndRestoring) {
  Switching whole(GetParam(), 3);
  whole.run();
  for (std::uint32_t come = 0; come < pages; ++come) {
    SCOPED_TRACE(come);
    Switching parts(GetParam(), 3);
    parts.run(come);
    parts.expect_results();
    EXPECT_EQ(parts.machine().cycle(), whole.machine().cycle());
    EXPECT_EQ(parts.in_memory(), whole.in_memory());
  }
}

TEST_P(BlockSwitchingContract, ATenantThatEndsLeavesNothingBehind) {
  for (std::int64_t moment = 300; moment < 12'000; moment += 1171) {
    SCOPED_TRACE(moment);
    Switching switching(GetParam(), 5);
    switching.machine().post(0, moment, MessageKind::abort_tenant, TenantNotice{0, {}});
    switching.run();
    EXPECT_EQ(switching.machine().sm().waiting_for(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Every, BlockSwitchingContract,
                         testing::ValuesIn(policy_variants(block_switching_policies())),
                         [](const auto& test) { return variant_name(test.param); });

}  // namespace
}  // namespace lockstep::block_switching_contract_test
