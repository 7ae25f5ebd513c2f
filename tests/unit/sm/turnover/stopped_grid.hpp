/// A grid on an SM that is taken from it again and again.
#pragma once

#include <algorithm>
#include <optional>

#include "models/noc/grid_messages.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "tests/unit/sm/machine/ideal_machine.hpp"

namespace lockstep {

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
    SmStatistics::OfTenant counts;

    std::uint64_t saved() const { return counts.blocks_saved.value(); }
    std::uint64_t restored() const { return counts.blocks_restored.value(); }
    /// Warps that stopped there.
    std::uint64_t warps(SmStatistics::WarpStop where) const {
      return counts.context_stops[where].value();
    }
  };

  /// Stops the grid at each of the cycles, in ascending order, and resumes it `pause` later.
  Outcome run(const std::vector<std::int64_t>& stops, bool saves, std::int64_t pause = 2000) {
    IdealMachine machine(module_, options);
    for (std::uint32_t i = 0; i < blocks * threads; ++i)
      machine.put<std::uint32_t>(32768 + 4 * i, i * 2654435761u);
    machine.launch("k", {blocks, 1, 1}, {threads, 1, 1},
                   {machine.address(0), machine.address(32768), 0});
    std::size_t told = 0;
    Outcome outcome;
    for (const std::int64_t stop : stops) {
      machine.run_to(stop);
      machine.post(0, stop, MessageKind::stop_grid, GridStop{0, saves});
      machine.run_to(stop + pause);
      for (; told < machine.told.size(); ++told) {
        const std::string& text = machine.told[told].text;
        outcome.stopped += text.starts_with("stopped");
        if (!text.starts_with("returned")) continue;
        const std::uint64_t block = std::stoull(text.substr(9));
        machine.post(0, stop + pause + 1, MessageKind::start_block, BlockReference{0, 0, block});
      }
      machine.post(0, stop + pause, MessageKind::resume_grid, GridReference{0, 0});
    }
    outcome.end = machine.run();
    outcome.memory = machine.memory();
    outcome.counts = machine.statistics().tenant[0];
    return outcome;
  }

  IdealMachine::Options options;

 private:
  const isa::Module module_;
};

}  // namespace lockstep
