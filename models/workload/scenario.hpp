#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "models/workload/cpu/cpu_program.hpp"
#include "models/workload/tenant_keys.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Treatment of a run with a tenant that makes no progress.
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
               "seed of every random choice the models make")
        .field("stop_at", &P::stop_at, 0_fs, at_least(0_fs),
               "end here even if tenants are not done; 0s: run until they are")
        .field("progress_limit", &P::progress_limit, 100_ms, range(0_fs, 100'000_ms),
               "time for which a tenant may wait without progress (no word of memory and no "
               "register of its warps changes, no block and no step of its host program ends); a "
               "tenth of that if its warps poll all the time; 0s: for ever")
        .field("on_no_progress", &P::on_no_progress, NoProgress::stop, choice({"stop", "warn"}),
               "what happens when a tenant waits for longer: the run ends with an error, or it "
               "warns and goes on")
        .field("record_faults", &P::record_faults, false,
               "whether the output has a row for every fault that was handled (/faults)")
        .field("record_blocks", &P::record_blocks, false,
               "whether the output has a row for every thread block (/thread_blocks)")
        .only_if("on_no_progress", "with progress_limit above 0",
                 [](const P& p) { return p.progress_limit > Time::zero(); });
  }
};

/// An application, on the GPU or on a CPU core.
struct Tenant : TenantKeys {
  std::string where;
  Workload workload;              ///< workload; empty for a tenant on a CPU core
  std::optional<CpuProgram> cpu;  ///< program of a tenant on a CPU core
  std::vector<Time> arrivals;  ///< arrivals of all starts; one start unless `arrivals:` says more
  std::vector<std::uint32_t> gpus = {};  ///< numbers of the GPUs of a tenant on several
  /// Number, among the tenant's GPUs, of the GPU of this part of the scenario (part_of()).
  std::uint32_t member = 0;

  std::size_t members() const { return std::max<std::size_t>(gpus.size(), 1); }
};

/// A machine, its tenants and its policies (architecture.md, section 4).  The parts whose
/// parameters other models declare stay nodes.
struct Scenario {
  std::string name;  ///< file name without folder and ending
  Node document;     ///< whole document
  Node gpu, host, policies, fabric;
  std::vector<Node> gpus;      ///< GPUs by number; `gpu` is the first of them
  std::size_t whole_gpus = 1;  ///< number of GPUs that are no slices (slices.hpp)
  SimulationParameters simulation;
  std::vector<Tenant> tenants;
};

/// Returns a scenario file after its `override:` and `settings` (`key=value` strings).
Node load_scenario(const std::string& file, const std::vector<std::string>& settings);
/// Returns the scenario of one GPU: that GPU, and the tenants with these numbers.
Scenario part_of(const Scenario& scenario, std::uint32_t gpu,
                 const std::vector<std::uint32_t>& tenants);
/// Reads a scenario file, applies its `override:` and then `settings` (`key=value` strings).
Scenario read_scenario(const std::string& file, const std::vector<std::string>& settings);
/// Reads a document that load_scenario() might have returned.
Scenario read_scenario(const Node& root, const std::string& name);

}  // namespace lockstep
