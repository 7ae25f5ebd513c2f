#include "jobs/run/block_profile.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/exec/rank_facts.hpp"
#include "core/parameters/document.hpp"
#include "jobs/observe/observed_run.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/tables.hpp"
#include "models/dispatch/preemption/preemption.hpp"
#include "models/gpu/configuration.hpp"

namespace lockstep {

namespace {

constexpr const char* advice =
    "record one of this scenario with `--set policies.preemption=none --set "
    "simulation.record_blocks=true`";
constexpr const char* technique = "policies.preemption";
constexpr const char* block_path = "/thread_blocks";

/// Returns the facts that must be the same in both runs.
std::vector<RankFact> comparable(const std::string& configuration) {
  std::vector<RankFact> facts;
  add_values(parse_document(configuration, "the configuration"), facts);
  std::erase_if(facts, [](const RankFact& fact) {
    return fact.name.starts_with(technique) ||
           (fact.name.starts_with("simulation.") && fact.name != "simulation.seed") ||
           fact.name.ends_with(".latency_bound") || fact.name.ends_with(".deadline");
  });
  return facts;
}

void require_undisturbed(const ObservedRun& run, const std::string& file) {
  const Node preemption = run.configuration().at("policies").at("preemption");
  const std::string name = preemption.is_map() ? preemption.at("name").text() : preemption.text();
  if (name != "none")
    throw UserError(file, "is of a run whose blocks were preempted, with " + name, advice);
}

/// Returns the rows of /kernels that belong to the first round of a tenant's program, in the order
/// of launching.
std::vector<std::size_t> first_round(const std::vector<KernelRow>& kernels, std::uint32_t tenant,
                                     Time end) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < kernels.size(); ++row)
    if (kernels[row].tenant == tenant && kernels[row].done <= end &&
        kernels[row].done < Time::never())
      rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return kernels[a].launched < kernels[b].launched;
  });
  return rows;
}

/// Returns durations of blocks by row of /kernels; shorter than the kernel if it was cut off, as
/// with a tenant that is launched again until the others have ended.
std::vector<BlockProfile::Durations> durations(const std::vector<KernelRow>& kernels,
                                               const std::vector<BlockRow>& blocks,
                                               const h5::File& file) {
  std::vector<std::uint64_t> counts(kernels.size());
  for (const BlockRow& block : blocks) {
    if (block.grid >= counts.size()) file.refuse(block_path, "names a kernel that is not there");
    ++counts[block.grid];
  }
  std::vector<BlockProfile::Durations> all;
  for (std::size_t row = 0; row < kernels.size(); ++row)
    all.emplace_back(kernels[row].done < Time::never() ? counts[row] : 0, Time::never());
  for (const BlockRow& block : blocks)
    if (block.done < Time::never() && block.block < all[block.grid].size())
      all[block.grid][block.block] = block.done - block.started;
  return all;
}

/// Returns the file that a key of the preemption names; "": none.
std::string file_of_preemption(const Scenario& scenario, const char* key) {
  if (!scenario.policies.exists()) return "";
  const Node preemption = scenario.policies.find("preemption");
  if (!preemption.is_map() || !preemption.has(key)) return "";
  return resolve_file_name(preemption.find(key));
}

PreemptionPlan plan_in(const Scenario& scenario, const MachineParameters& parameters) {
  const std::string file = plan_of_blocks(scenario);
  const std::string where = scenario.policies.find("preemption").where();
  if (file.empty())
    throw UserError(where, "policies.preemption planned must know the techniques of blocks",
                    "name the file that says them as its plan");
  if (parameters.has_several_gpus())
    throw UserError(where, "policies.preemption planned is for one GPU",
                    "choose another preemption, or leave one GPU");
  return read_preemption_plan(load_document(file));
}

bool has_all_blocks(const KernelRow& kernel, const BlockProfile::Durations& durations) {
  const std::uint64_t area = std::uint64_t{kernel.blocks_x} * kernel.blocks_y;
  return area == 0 || kernel.blocks_z <= durations.size() / area;
}

}  // namespace

std::string profile_of_blocks(const Scenario& scenario) {
  return file_of_preemption(scenario, "profile");
}

std::string plan_of_blocks(const Scenario& scenario) {
  return file_of_preemption(scenario, "plan");
}

BlockProfile read_block_profile(const Scenario& scenario, const MachineParameters& parameters) {
  const auto ask = steps_of(parameters.policies.preemption).ask;
  if (ask && ask->by_plan) return BlockProfile({}, plan_in(scenario, parameters));
  if (!ask || !ask->by_profile) return {};
  const std::string file = profile_of_blocks(scenario);
  if (file.empty())
    throw UserError(scenario.policies.find("preemption").where(),
                    "policies.preemption oracle must know how long blocks run undisturbed",
                    std::string("name the output of an earlier run as its profile: ") + advice);
  const ObservedRun run(file);
  const auto difference =
      first_difference(comparable(run.configuration_text()), "it",
                       comparable(configuration_text(scenario, parameters)), "this scenario");
  if (difference) throw UserError(file, "is a profile of another scenario: " + *difference, advice);
  require_undisturbed(run, file);
  if (!run.file().has(table_schema_of<BlockRow>().path))
    throw UserError(file, "does not say how long blocks ran", advice);
  const auto kernels = read_table<KernelRow>(run.file());
  const auto tenants = read_table<TenantRow>(run.file());
  const auto all = durations(kernels, read_table<BlockRow>(run.file()), run.file());
  std::vector<std::vector<BlockProfile::Durations>> grids;
  for (std::uint32_t t = 0; t < tenants.size(); ++t) {
    std::vector<BlockProfile::Durations>& round = grids.emplace_back();
    for (const std::size_t row : first_round(kernels, t, tenants[t].end)) {
      if (tenants[t].end < Time::never() && !has_all_blocks(kernels[row], all[row]))
        run.file().refuse(block_path, "has not all blocks of /kernels");
      round.push_back(all[row]);
    }
  }
  return BlockProfile(std::move(grids));
}

}  // namespace lockstep
