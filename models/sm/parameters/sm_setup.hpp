#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/link.hpp"
#include "core/parameters/policy.hpp"
#include "models/coordinator/policy_epochs.hpp"
#include "models/coordinator/sm_side.hpp"
#include "models/isa/program.hpp"
#include "models/noc/address_mapping.hpp"
#include "models/noc/noc_parameters.hpp"
#include "models/sm/parameters/code_region.hpp"
#include "models/sm/parameters/context_area.hpp"
#include "models/sm/parameters/idempotence_check.hpp"
#include "models/sm/parameters/local_memory_layout.hpp"
#include "models/sm/parameters/sm_cycle.hpp"
#include "models/sm/parameters/sm_parameters.hpp"
#include "models/vm/replay_mode.hpp"
#include "models/vm/vm_parameters.hpp"

namespace lockstep {

class ConstantRows;
class IssueTables;

/// Everything from which an SM is made.
struct SmSetup {
  SmParameters parameters;
  NocParameters noc;
  PolicyChoice warp_scheduler;    ///< choice among warp_scheduler_policies()
  PolicyChoice exception_scheme;  ///< choice among exception_scheme_policies()
  PolicyChoice block_switching;   ///< choice among block_switching_policies()
  std::uint32_t index = 0;
  std::vector<std::string> tenants;               ///< names of tenants, for messages
  std::vector<std::vector<std::string>> buffers;  ///< names of buffers, by tenant and BufferId
  std::vector<const isa::Module*> modules;
  /// Issue records of each instruction, made by make_issue_tables and shared by all SMs of a rank;
  /// nullptr: this SM makes its own.
  std::shared_ptr<const IssueTables> issue_tables;
  /// The constants of grids, shared by all SMs of a rank.
  std::shared_ptr<ConstantRows> constant_rows;
  AddressMapping mapping;
  /// Physical address where the local memory of all SMs begins, above the GPU's capacity; SM i
  /// has the homes [i, i + 1) * local_homes(parameters, contexts.warps()).
  std::uint64_t local_memory_base = std::uint64_t{1} << 40;
  ContextArea contexts;  ///< context area of this SM
  std::vector<Link> to_partitions;
  Link to_host, to_dispatcher, to_gmmu;
  std::vector<Link> to_port;     ///< link to memory of other GPUs: one, or none
  std::uint32_t port_links = 1;  ///< NVLinks of that port, each with credits of its own
  std::vector<Link> to_hub;  ///< link to the hub of the GPC, for clusters of blocks: one, or none
  VmParameters vm = defaults<VmParameters>();
  ReplayMode replay = ReplayMode::listed;
  /// Time without progress after which a warp is reported; zero: never.
  Time progress_limit = Time::zero();
  bool record_blocks = false;   ///< the SM records the start and end of each block
  bool preemptible = false;     ///< the exception scheme squashes faulting accesses
  bool follows_blocks = false;  ///< a preemption uses the progress of blocks, and flushes them
  /// Check of idempotence, with follows_blocks.
  IdempotenceCheck idempotence = IdempotenceCheck::marks;
  std::uint32_t log_entries = 0;    ///< entries of the SM's operand log
  std::vector<SmSideChoice> sides;  ///< parts of policies in this SM
  bool marks_priorities = false;    ///< requests say which lines the L2 should keep
  PolicyEpochs epochs;              ///< epochs of these policies
};

/// Constants of an SM; all its parts refer to them.
struct SmConstants {
  explicit SmConstants(SmSetup given)
      : setup(std::move(given)),
        parameters(setup.parameters),
        limits(parameters.occupancy_limits(setup.log_entries)),
        clock(parameters.clock),
        local(PhysicalAddress(setup.local_memory_base), parameters.local_bytes_per_thread.count()),
        code(PhysicalAddress(setup.local_memory_base) +
             parameters.count * local_memory_bytes(parameters, setup.contexts.warps())) {}
  SmConstants(const SmConstants&) = delete;
  SmConstants& operator=(const SmConstants&) = delete;

  Time time_of(SmCycle cycle) const { return clock.edge(Cycles{cycle.value()}); }
  SmCycle cycle_at_or_after(Time t) const { return SmCycle{clock.cycle_at_or_after(t).count()}; }

  /// Returns whether blocks may leave before their end.
  bool blocks_leave() const { return setup.contexts.places > 0 || setup.follows_blocks; }
  /// Returns the number of this SM's places of local memory; first_home() returns the first of
  /// them.
  std::uint32_t local_homes() const {
    return lockstep::local_homes(parameters, setup.contexts.warps());
  }
  LocalHome first_home() const { return LocalHome(setup.index * local_homes()); }

  const SmSetup setup;
  const SmParameters parameters;
  const OccupancyLimits limits;
  const Clock clock;
  const LocalMemoryLayout local;
  const CodeRegion code;
};

}  // namespace lockstep
