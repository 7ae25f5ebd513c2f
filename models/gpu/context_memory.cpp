#include "models/gpu/context_memory.hpp"

#include <algorithm>
#include <set>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/gpu/launch_check.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/block_switching/block_switching.hpp"

namespace lockstep {

namespace {

/// Returns the bytes of a block's context: registers and predicates with their compression
/// patterns, shared memory, control state, and its share of the operand log.
std::uint64_t context_bytes(const BlockResources& block, const IssueTable& kernel,
                            const OccupancyLimits& limits, ContextKind kind) {
  constexpr std::uint64_t control_of_warp = 1024, control_of_block = 512, log_entry = 512;
  constexpr std::uint64_t pattern_bytes = 128;  // bytes for 256 registers with four bits each
  const std::uint64_t patterns = kind == ContextKind::occupied ? 0 : block.warps * pattern_bytes;
  const std::uint64_t rows = std::uint64_t{block.warps} * (kernel.rows + 2) * line_bytes;
  const std::uint64_t log = limits.log_entries / std::max(blocks_per_sm(block, limits), 1u);
  return std::max<std::uint64_t>(rows, block.registers * std::uint64_t{4}) + block.shared_bytes +
         patterns + block.warps * control_of_warp + control_of_block + log * log_entry;
}

/// Returns the kind of contexts: an SM saves all its blocks in one way.
ContextKind kind_of(const Scenario& scenario, const PolicyParameters& policies,
                    const BlockSwitching& switching) {
  const auto save = steps_of(policies.preemption).save;
  if (!save) return switching.context();
  const ContextKind preempted = save->context;
  if (switching.extra_blocks() > 0 && switching.context() != preempted)
    throw UserError(scenario.policies.find("preemption").where(),
                    "policies.preemption and policies.block_switching save blocks with different "
                    "contexts",
                    "give both the same context");
  return preempted;
}

/// Refuses in_place together with block switching: the state that stays on chip is chosen for the
/// arriving blocks, which only a preemption knows.
void refuse_in_place(const Scenario& scenario, const PolicyParameters& policies) {
  if (steps_of(policies.preemption).leaves_in_place() &&
      extra_blocks_of(policies.block_switching) > 0)
    throw UserError(scenario.policies.find("preemption").where(),
                    "policies.preemption in_place leaves parts of blocks on chip, beside which "
                    "policies.block_switching puts others",
                    "choose in_place: false, or block_switching: none");
}

/// Returns how an SM moves contexts: it moves all of them in one way.
ContextTraffic traffic_of(const Scenario& scenario, const PolicyParameters& policies,
                          const BlockSwitching& switching) {
  const auto save = steps_of(policies.preemption).save;
  const ContextTraffic preempted = save ? save->traffic : ContextTraffic::real;
  if (preempted != ContextTraffic::real && switching.extra_blocks() > 0)
    throw UserError(scenario.policies.find("preemption").where(),
                    "policies.preemption moves contexts with traffic: share, and "
                    "policies.block_switching in its own way",
                    "choose traffic: real, or block_switching: none");
  return switching.ideal() ? ContextTraffic::ideal : preempted;
}

/// Returns the number of grids that may be saved on one SM: all but the most urgent, and that one
/// too with turns or signals.
std::uint32_t depth_of(const Scenario& scenario, const PolicyParameters& policies) {
  const auto tenants = static_cast<std::uint32_t>(scenario.tenants.size());
  if (is_time_sliced(policies.sharing) || is_in_parts(policies.sharing)) return tenants;
  std::set<std::uint32_t> priorities;
  for (const Tenant& tenant : scenario.tenants) priorities.insert(tenant.priority);
  const auto take = steps_of(policies.preemption).take;
  const bool signals = take && take->signal > Cycles{0};
  return std::max(1u, static_cast<std::uint32_t>(priorities.size()) - (signals ? 0 : 1));
}

}  // namespace

ContextMemory::ContextMemory(const Scenario& scenario, const MachineParameters& parameters,
                             const std::vector<const isa::Module*>& modules,
                             const std::vector<std::uint16_t>& module_of_tenant,
                             const IssueTables& tables) {
  const std::unique_ptr<BlockSwitching> policy =
      make_block_switching(parameters.policies.block_switching);
  const SmParameters& sm = parameters.gpu.sm;
  const OccupancyLimits limits =
      sm.occupancy_limits(log_entries_of(parameters.policies.exception_scheme));
  const auto save = steps_of(parameters.policies.preemption).save;
  const bool preempts = save.has_value();
  refuse_in_place(scenario, parameters.policies);
  first_.kind = kind_of(scenario, parameters.policies, *policy);
  first_.traffic = traffic_of(scenario, parameters.policies, *policy);
  first_.share = parameters.gpu.bandwidth_of_an_sm();
  if (save) first_.stops = save->stops;
  first_.tells_stays = is_time_sliced(parameters.policies.sharing);
  std::uint32_t most_resident = 0;
  first_.block_warps = limits.threads_per_block / isa::warp_size;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const std::uint16_t module = module_of_tenant[t];
    for_each_launch(
        scenario.tenants[t].workload, *modules[module], limits,
        [&](const Step&, std::size_t kernel, const LaunchShape&, const BlockResources& block) {
          most_resident = std::max(most_resident, blocks_per_sm(block, limits));
          const IssueTable& table = tables.of(module, static_cast<std::uint32_t>(kernel));
          first_.place_bytes =
              std::max(first_.place_bytes, context_bytes(block, table, limits, first_.kind));
        });
  }
  first_.places = policy->extra_blocks() + 1 +
                  (preempts ? most_resident * depth_of(scenario, parameters.policies) : 0);
  first_.place_bytes = policy->ideal() ? 0 : round_up(first_.place_bytes, line_bytes);
  const std::uint64_t page =
      make_page_manager(parameters.policies.page_manager, {})->capacity_unit() * page_bytes;
  bytes_ = round_up(first_.bytes() * sm.count, page);
  const std::uint64_t capacity = parameters.gpu.memory.capacity.count();
  if (bytes_ + page > capacity)
    throw UserError(scenario.policies.find(preempts ? "preemption" : "block_switching").where(),
                    "contexts of " + std::to_string(first_.places) + " blocks of " +
                        std::to_string(first_.place_bytes) + " bytes for each of " +
                        std::to_string(sm.count) + " SMs leave nothing of gpu.memory.capacity, " +
                        std::to_string(capacity) + " bytes",
                    "lower extra_blocks, choose another preemption or raise gpu.memory.capacity");
  first_.base = PhysicalAddress(capacity - bytes_);
}

ContextArea ContextMemory::area_of(std::uint32_t sm) const {
  ContextArea area = first_;
  area.first_place = sm * first_.places;
  return area;
}

}  // namespace lockstep
