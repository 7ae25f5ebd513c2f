/// Blocks that are saved by one SM and return to another, again and again: memory ends as if
/// nothing had happened.
/// Source: preemption.md, errata of section 7.2 (clean lines); architecture.md, section 8, rules 4
/// and 5.
#include <gtest/gtest.h>

#include "tests/harness/policy_variants.hpp"
#include "tests/unit/sm/machine/kernel_text.hpp"
#include "tests/unit/sm/turnover/stopped_grid.hpp"

namespace lockstep::moved_blocks_test {
namespace {

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// A sum in global memory, which both SMs cache, takes the place of the local array.
std::string sums_in_global_memory() {
  std::string text = stopped_grid::rounds;
  text = with(text, "mov.u64 %rd8, own;", "");
  text = with(text, "st.local.u32 [%rd8], %r6;",
              "ld.global.u32 %r11, [%rd4];\n  add.u32 %r11, %r11, %r6;\n"
              "  st.global.u32 [%rd4], %r11;");
  text = with(text, "ld.local.u32 %r6, [%rd8];", "");
  return with(text, "st.global.u32 [%rd4], %r6;\n", "");
}

constexpr const char* shared_alone = ".shared .align 8 .b8 room[256];\n";

/// Two SMs with room for three blocks each; what one saves returns to the other.
class TwoSms : public testing::TestWithParam<ContextTraffic> {
 protected:
  TwoSms() {
    options.exception_scheme = "replay-queue";
    options.block_switching = "{name: on-fault, extra_blocks: 8}";  // for the room; nothing faults
    options.parameters.blocks = 3;
    options.sms = 2;
    options.ends_grids = false;
    options.contexts = ContextKind::live_compressed;
    options.traffic = GetParam();
  }
  static constexpr std::uint32_t blocks = 6, threads = 64;

  void start(const std::string& body, const std::string& declarations) {
    machine.emplace(kernel_of(body, declarations), options);
    for (std::uint32_t i = 0; i < blocks * threads; ++i)
      machine->put<std::uint32_t>(32768 + 4 * i, i * 2654435761u);
    machine->launch("k", {blocks, 1, 1}, {threads, 1, 1},
                    {machine->address(0), machine->address(32768), 0});
  }
  std::size_t count(const std::string& what) const {
    return static_cast<std::size_t>(
        std::count_if(machine->told.begin(), machine->told.end(),
                      [&](const auto& told) { return told.text.starts_with(what); }));
  }
  template <class Body>
  void tell(std::uint32_t sm, MessageKind kind, const Body& body,
            std::span<const std::byte> payload = {}) {
    machine->post(sm, machine->cycle() + 1, kind, body, payload);
  }
  /// What `from` has of the grid goes to `to`; how many blocks that are.
  std::size_t move(std::uint32_t from, std::uint32_t to) {
    tell(from, MessageKind::stop_grid, GridStop{0, Technique::save, {}});
    machine->run_to(machine->cycle() + 2000);
    std::size_t moved = 0;
    for (;; ++moved) {
      tell(from, MessageKind::give_block, GridReference{0, from});
      machine->run_to(machine->cycle() + 2);
      if (machine->given.given == 0) break;
      EXPECT_EQ(machine->given_context.size() == machine->given.homes * sizeof(LocalHome),
                options.traffic == ContextTraffic::real);
      tell(to, MessageKind::block_given, machine->given, machine->given_context);
    }
    tell(from, MessageKind::resume_grid, GridReference{0, from});
    return moved;
  }

  IdealMachine::Options options;
  std::optional<IdealMachine> machine;
};

TEST_P(TwoSms, BlocksGoOnInTheOtherWithAllTheyHad) {
  const std::string body = sums_in_global_memory();
  start(body, shared_alone);
  machine->run();
  const std::vector<std::byte> whole = machine->memory();
  for (std::int64_t stop = 30; stop < 1300; stop += 83) {
    SCOPED_TRACE(stop);
    start(body, shared_alone);
    machine->run_to(stop);
    const std::size_t there = move(0, 1);
    machine->run_to(machine->cycle() + 500);
    const std::size_t back = move(1, 0);
    EXPECT_EQ(there, 3u);
    machine->run();
    ASSERT_EQ(machine->memory(), whole);
    EXPECT_EQ(count("gives ") - count("gives none"), there + back);
  }
}

TEST_P(TwoSms, TheirPlacesAreFreeWhenTheyHaveReturned) {
  start(sums_in_global_memory(), shared_alone);
  machine->run_to(300);
  EXPECT_EQ(move(0, 1), 3u);
  EXPECT_EQ(count("free"), 0u) << "SM 1 has no room for them";
  machine->run();
  EXPECT_EQ(count("free"), 3u);
}

TEST_P(TwoSms, LocalMemoryStaysAtItsHome) {
  start(stopped_grid::rounds, stopped_grid::declarations);
  machine->run();
  const std::vector<std::byte> whole = machine->memory();
  for (std::int64_t stop = 30; stop < 1300; stop += 83) {
    SCOPED_TRACE(stop);
    start(stopped_grid::rounds, stopped_grid::declarations);
    machine->run_to(stop);
    EXPECT_EQ(move(0, 1), 3u);
    machine->run_to(machine->cycle() + 500);
    move(1, 0);
    machine->run();
    ASSERT_EQ(machine->memory(), whole);
  }
}

TEST_P(TwoSms, HomesComeBackWhenTheirBlocksHaveEnded) {
  start(stopped_grid::rounds, stopped_grid::declarations);
  machine->run_to(300);
  EXPECT_EQ(move(0, 1), 3u);
  EXPECT_EQ(count("homes free"), 0u);
  machine->run();
  EXPECT_EQ(count("homes free 2"), 3u) << "of two warps each";
}

/// Its dirty lines are on their way when its context has moved, if that goes another way.
TEST_P(TwoSms, ABlockIsGivenWhenItsLocalMemoryHasArrived) {
  start(stopped_grid::rounds, stopped_grid::declarations);
  machine->run_to(300);
  tell(0, MessageKind::stop_grid, GridStop{0, Technique::save, {}});
  std::int64_t now = 300;
  while (count("saved") == 0 && now < 5000) machine->run_to(++now);
  tell(0, MessageKind::give_block, GridReference{0, 0});
  machine->run_to(now + 1000);
  ASSERT_EQ(count("gives"), 1u);
  EXPECT_EQ(machine->given.given, 1u);
}

INSTANTIATE_TEST_SUITE_P(Moved, TwoSms,
                         testing::Values(ContextTraffic::real, ContextTraffic::share),
                         [](const auto& traffic) {
                           return variant_name(
                               context_traffics().words[static_cast<std::size_t>(traffic.param)]);
                         });

}  // namespace
}  // namespace lockstep::moved_blocks_test
