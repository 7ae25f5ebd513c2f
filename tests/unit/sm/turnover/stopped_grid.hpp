/// A grid on an SM that is taken from it again and again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"

namespace lockstep {

namespace stopped_grid {

/// Neighbours exchange values through shared memory in every round; a local array counts rounds.
inline constexpr const char* rounds = R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  add.u64 %rd4, %rd0, %rd2;
  mul.wide.u32 %rd5, %r1, 4;
  mov.u64 %rd6, room;
  add.u64 %rd6, %rd6, %rd5;
  xor.b32 %r5, %r1, 33;
  mul.wide.u32 %rd5, %r5, 4;
  mov.u64 %rd7, room;
  add.u64 %rd7, %rd7, %rd5;
  mov.u64 %rd8, own;
  ld.global.u32 %r6, [%rd3];
  mov.u32 %r7, 0;
again:
  st.shared.u32 [%rd6], %r6;
  bar.sync 0;
  ld.shared.u32 %r8, [%rd7];
  bar.sync 0;
  mad.lo.u32 %r6, %r6, 3, %r8;
  st.local.u32 [%rd8], %r6;
  and.b32 %r9, %r6, 64;
  setp.eq.u32 %p1, %r9, 0;
  @%p1 bra skip;
  nanosleep.u32 20;
  atom.global.add.u32 %r10, [%rd0+16384], 1;
skip:
  ld.local.u32 %r6, [%rd8];
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p2, %r7, 6;
  @%p2 bra again;
  st.global.u32 [%rd4], %r6;
)";
inline constexpr const char* declarations =
    ".shared .align 8 .b8 room[256];\n"
    ".local .align 8 .b8 own[16];\n";

}  // namespace stopped_grid

class GridThatIsStopped {
 public:
  static constexpr std::uint32_t blocks = 6, threads = 64;

  explicit GridThatIsStopped(isa::Module kernel) : module_(std::move(kernel)) {
    options.exception_scheme = "replay-queue";
    options.block_switching = "{name: on-fault, extra_blocks: 8}";  // for the room; nothing faults
    options.parameters.blocks = 3;
    options.ends_grids = false;
  }

  struct Outcome {
    std::vector<std::byte> memory;
    std::int64_t end = 0;
    std::size_t stopped = 0;
    std::size_t context_requests = 0;
    SmStatistics::OfTenant counts;

    std::uint64_t saved() const { return counts.blocks_saved.value(); }
    std::uint64_t flushed() const { return counts.blocks_flushed.value(); }
    /// By blocks that were not flushed.
    std::uint64_t executed() const {
      return counts.warp_instructions.value() - counts.flushed_instructions.value();
    }
    std::uint64_t restored() const { return counts.blocks_restored.value(); }
    /// Warps that stopped there.
    std::uint64_t warps(SmStatistics::WarpStop where) const {
      return counts.context_stops[where].value();
    }
  };

  /// Stops the grid at each of the cycles, in ascending order, and resumes it `pause` later.
  Outcome run(const std::vector<std::int64_t>& stops, Technique technique,
              std::int64_t pause = 2000) {
    options.follows_blocks = technique == Technique::flush;
    IdealMachine machine(module_, options);
    machine.record = options.traffic == ContextTraffic::share;
    for (std::uint32_t i = 0; i < blocks * threads; ++i)
      machine.put<std::uint32_t>(32768 + 4 * i, i * 2654435761u);
    machine.launch("k", {blocks, 1, 1}, {threads, 1, 1},
                   {machine.address(0), machine.address(32768), 0});
    std::size_t told = 0;
    Outcome outcome;
    const auto send_again = [&](std::int64_t cycle) {
      for (; told < machine.told.size(); ++told) {
        const std::string& text = machine.told[told].text;
        outcome.stopped += text.starts_with("stopped");
        if (!text.starts_with("returned") && !text.starts_with("flushed")) continue;
        const std::uint64_t block = std::stoull(text.substr(text.find(' ')));
        machine.post(0, cycle, MessageKind::start_block, BlockReference{0, 0, block});
      }
    };
    for (const std::int64_t stop : stops) {
      machine.run_to(stop);
      machine.post(0, stop, MessageKind::stop_grid, GridStop{0, technique, {}},
                   std::as_bytes(std::span(commands())));
      machine.run_to(stop + pause);
      send_again(stop + pause + 1);
      machine.post(0, stop + pause, MessageKind::resume_grid, GridReference{0, 0});
    }
    if (!stops.empty()) {  // what is told after the last pause
      const std::int64_t last = stops.back() + pause + 600;
      machine.run_to(last);
      send_again(last);
    }
    outcome.end = machine.run();
    expect_in_turn(machine.told);
    outcome.memory = machine.memory();
    outcome.context_requests = static_cast<std::size_t>(
        std::count_if(machine.seen.begin(), machine.seen.end(),
                      [](const auto& seen) { return (seen.request.flags & flag_context) != 0; }));
    outcome.counts = machine.statistics().tenant[0];
    EXPECT_EQ(outcome.counts.blocks.value(), blocks);
    return outcome;
  }

  IdealMachine::Options options;
  /// Of each block that is saved: InPlace bits, by its number.
  std::vector<std::uint8_t> keeps;

 private:
  /// Tests that a block is told to leave, then to return, in turn.
  template <class Told>
  static void expect_in_turn(const Told& all) {
    std::set<std::string> away;
    for (const auto& told : all) {
      const std::string block = told.text.substr(told.text.find(' ') + 1);
      if (told.text.starts_with("saved")) {
        EXPECT_TRUE(away.insert(block).second) << told.text << " once more";
      } else if (told.text.starts_with("restored")) {
        EXPECT_EQ(away.erase(block), 1u) << told.text << " before it was saved";
      }
    }
  }
  const std::vector<BlockCommand>& commands() {
    commands_.clear();
    for (std::uint64_t block = 0; block < keeps.size(); ++block)
      commands_.push_back({block, Technique::save, keeps[block], {}});
    return commands_;
  }

  std::vector<BlockCommand> commands_;
  const isa::Module module_;
};

}  // namespace lockstep
