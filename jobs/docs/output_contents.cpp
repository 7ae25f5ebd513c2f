#include "jobs/docs/output_contents.hpp"

#include <algorithm>

#include "core/statistics/statistics.hpp"
#include "jobs/tables.hpp"
#include "models/coordinator/coordinator.hpp"
#include "models/cpu/core_statistics.hpp"
#include "models/dispatch/dispatch_statistics.hpp"
#include "models/driver/host_statistics.hpp"
#include "models/fabric/port_statistics.hpp"
#include "models/gpc/hub_statistics.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/gpu/shared_resources.hpp"
#include "models/host_link/link_statistics.hpp"
#include "models/host_link/uplink.hpp"
#include "models/memory/memory_partition.hpp"
#include "models/sm/parameters/sm_statistics.hpp"
#include "models/vm/gmmu_statistics.hpp"

namespace lockstep {
namespace {

/// Adds a kind of statistics; policies with the same counters share one kind.
void add_kind(std::vector<KindStatistics>& kinds, const std::string& name,
              const StatisticsSchema& (*statistics)(), const std::string& policy) {
  if (statistics == nullptr) return;
  const StatisticsSchema* schema = &statistics();
  const auto known = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const auto& kind) { return kind.schema == schema; });
  if (known == kinds.end()) {
    kinds.push_back({name, schema, 1, "`" + policy + "`"});
  } else {
    known->when += ", `" + policy + "`";
  }
}

/// Adds the statistics of a plug point's policies that have counters of their own.
template <class Factory>
void add_policies(std::vector<KindStatistics>& kinds, const std::string& plug_point,
                  const PolicyRegistry<Factory>& registry) {
  for (const auto& row : registry.rows()) {
    add_kind(kinds, plug_point, row.make.statistics, row.name);
    add_kind(kinds, plug_point + "_in_sms", row.make.sm_side.statistics, row.name);
  }
}

}  // namespace

OutputContents output_contents() {
  OutputContents all;
  all.kinds = {
      {"host", &statistics_schema_of<HostStatistics>(), 1},
      {"dispatcher", &statistics_schema_of<DispatchStatistics>(), 1},
      {"gmmu", &statistics_schema_of<GmmuStatistics>(), 1},
      {"partition", &memory_partition_statistics(), 1},
      {"sm", &statistics_schema_of<SmStatistics>(), 1},
      {"cpu", &statistics_schema_of<CoreStatistics>(), 1, "tenants on CPU cores"},
      {"link", &statistics_schema_of<LinkStatistics>(), 2},
      {"uplink", &statistics_schema_of<UplinkStatistics>(), 2,
       "`host.uplinks`, of all GPUs and tenants together"},
      {"hub", &statistics_schema_of<HubStatistics>(), 1, "clusters of thread blocks"},
      {"<group>/port", &statistics_schema_of<PortStatistics>(), 1, "a `fabric`, of each GPU"},
      {"coordinator", &statistics_schema_of<CoordinatorStatistics>(), 1,
       "a policy that has a controller"}};
  for (const PageManagerRow& row : page_managers().rows())
    add_kind(all.kinds, "page_manager", row.make.statistics, row.name);
  add_policies(all.kinds, "cache_policy", cache_policy_registry());
  add_policies(all.kinds, "replacement", replacement_registry());
  add_policies(all.kinds, "dram_scheduler", dram_schedulers());
  add_policies(all.kinds, "tlb_fill", tlb_fills());
  all.tables = {&table_schema_of<TenantRow>(),        &table_schema_of<KernelRow>(),
                &table_schema_of<FaultRow>(),         &table_schema_of<BlockRow>(),
                &table_schema_of<ArrivalRow>(),       &table_schema_of<PreemptedBlockRow>(),
                &table_schema_of<ComponentCostRow>(), &table_schema_of<WindowCostRow>(),
                &table_schema_of<WindowTimesRow>(),   &table_schema_of<RankRow>(),
                &table_schema_of<SpeedupRow>()};
  for (const SharedResource& resource : shared_resources())
    all.delays.push_back({resource.name, resource.unit, resource.doc});
  for (const SharedResource& resource : port_resources())
    all.delays.push_back({std::string("<group>/") + resource.name, resource.unit, resource.doc});
  all.delays.push_back({shared_uplink().name, shared_uplink().unit, shared_uplink().doc});
  all.texts = {
      {"/run/scenario", "",
       "YAML: the run as a scenario, for `lockstep run --config-of` (not of the runs alone "
       "of `compare`)"},
      {"/run/facts", "",
       "a line for each thing that the result depends on, with digests of modules and data, for "
       "`--config-of` too"}};
  all.finals = {{"end", "fs", "simulated time at which the run ended"}};
  all.run = {
      {"wall_seconds", "s", "real time of the simulation loop"},
      {"warp_instructions", "instructions", "warp instructions of all tenants"},
      {"thread_instructions", "instructions", "thread instructions of all tenants"},
      {"warp_instructions_per_second", "1/s", "warp instructions over wall seconds"},
      {"windows", "windows", "windows of simulated time on rank 0"},
      {"exchanges", "exchanges", "exchanges of messages between ranks"},
      {"synchronisation_share", "ratio", "share of the time in barriers, exchange and copying"},
      {"imbalance_share", "ratio", "share of the time spent waiting for slower threads and ranks"},
      {"peak_memory_bytes", "bytes", "largest memory of the process of rank 0"},
      {"ranks", "ranks", "MPI processes"},
      {"threads", "threads", "threads of each rank"},
      {"host", "name", "computer of rank 0"},
      {"version", "version", "version of Lockstep"},
      {"program", "version",
       "version, and the digest of the sources that the program was built from"},
      {"git_revision", "commit",
       "commit of these sources, with + if they had been changed; unknown: the sources were in no "
       "repository"},
      {"build", "text", "kind of build, and compiler"},
      {"command_line", "text", "command line as it was given"},
      {"segments", "segments",
       "1, and 1 more each time the run was resumed; seconds, windows and exchanges are sums over "
       "the segments"},
      {"ended_by", "signal",
       "only if a signal ended the run, which can go on: tables and totals are those until then, "
       "and there is no /final/end"},
      {"check", "text", "only with --check: passed or failed"},
      {"scenario_digest", "digest",
       "digest of all that the result depends on: program, options, resolved scenario with host "
       "programs, bytes of modules and data"},
      {"run_digest", "digest",
       "digest of all of this but the time to stop, by which a checkpoint knows its output"}};
  return all;
}

}  // namespace lockstep
