#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/workload/cpu/cpu_program.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// What becomes of a run one of whose tenants does not get on.
enum class NoProgress : std::uint8_t { stop, warn };

/// `simulation:` of a scenario.
struct SimulationParameters {
  Time epoch, stop_at, progress_limit;
  NoProgress on_no_progress;
  std::uint64_t seed;
  bool record_faults, record_blocks;

  static auto schema() {
    using namespace literals;
    using P = SimulationParameters;
    return parameters<P>()
        .field("epoch", &P::epoch, 10_us, at_least(1_ns), "simulated time between two samples")
        .field("seed", &P::seed, 1, at_least(std::uint64_t{0}),
               "of every random choice the models make")
        .field("stop_at", &P::stop_at, 0_fs, at_least(0_fs),
               "end here even if tenants are not done; 0s: run until they are")
        .field("progress_limit", &P::progress_limit, 100_ms, range(0_fs, 100'000_ms),
               "for how long a tenant may wait without anything changing (no word of memory, no "
               "register of its warps; no block and no step of its host program ends); a tenth of "
               "that if its warps poll all the time; 0s: for ever")
        .field("on_no_progress", &P::on_no_progress, NoProgress::stop, choice({"stop", "warn"}),
               "a tenant waits for longer: end the run with an error, or say so and go on")
        .field("record_faults", &P::record_faults, false,
               "whether the output has a row for every fault that was handled (/faults)")
        .field("record_blocks", &P::record_blocks, false,
               "whether the output has a row for every thread block (/thread_blocks)");
  }
};

/// One application, on the GPU or on a CPU core.
struct Tenant {
  std::string name, where;
  Workload workload;                   ///< empty if it runs on a CPU core
  std::optional<CpuProgram> cpu;       ///< there if it does
  Time arrival;                        ///< of the first start
  std::vector<Time> arrivals;          ///< of all starts; one of them unless `arrivals:` says more
  Time deadline = Time::never();       ///< of each, from its arrival on; never: none
  Time latency_bound = Time::never();  ///< until an SM that it takes is free; never: none
  std::uint32_t priority = 0;
  std::uint32_t sms = 0;  ///< for spatial sharing; 0: an equal part of the rest
  bool relaunch = false;  ///< starts over until all others have been measured
  /// Warp instructions, or those of the CPU core, after which it has been measured and only keeps
  /// up contention; 0: its end.
  std::uint64_t instructions = 0;
};

/// A machine, its tenants and its policies (architecture.md, section 4).  The parts whose
/// parameters other models declare stay nodes.
struct Scenario {
  std::string name;  ///< file name without folder and ending
  Node gpu, host, policies;
  SimulationParameters simulation;
  std::vector<Tenant> tenants;
};

/// A scenario file after its `override:` and `settings` (`key=value` strings).
Node load_scenario(const std::string& file, const std::vector<std::string>& settings);
/// Reads a scenario file, applies its `override:` and then `settings` (`key=value` strings).
Scenario read_scenario(const std::string& file, const std::vector<std::string>& settings);
/// Of a document that load_scenario() might have returned.
Scenario read_scenario(const Node& root, const std::string& name);

}  // namespace lockstep
