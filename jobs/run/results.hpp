#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/output/hdf5.hpp"
#include "core/output/recorder.hpp"
#include "jobs/run/kernel_table.hpp"
#include "jobs/tables.hpp"
#include "models/gpu/machine.hpp"
#include "models/host/host.hpp"

namespace lockstep {

/// Sums of counters over the whole run, by name.
class Totals {
 public:
  Totals(const StatisticsLayout& layout, std::span<const std::uint64_t> values)
      : layout_(layout), values_(values) {}

  /// Returns the sum over all instances of `kind`: counter `field` of `tenant`, entry `entry` of a
  /// named set. Tenant and entry are 0 where the field has no such axis. `instance`: the only
  /// instance to count.
  std::uint64_t sum(const std::string& kind, const std::string& field, std::size_t tenant = 0,
                    std::size_t entry = 0, std::optional<std::size_t> instance = {}) const;

  /// Returns the sum over all tenants, on all GPUs; `kind`: its name on one GPU.
  std::uint64_t sum_over_tenants(const std::string& kind, const std::string& field) const;

 private:
  const StatisticsLayout& layout_;
  std::span<const std::uint64_t> values_;
};

/// Returns the rows of tenants.  `ended`: end of the run, up to which unfinished tenants are
/// counted.
std::vector<TenantRow> tenant_rows(const Scenario& scenario, const Machine& machine,
                                   const Host& host, const Totals& totals, Time ended);
std::vector<FaultRow> fault_rows(const Machine& machine, const Host& host);
std::vector<ArrivalRow> arrival_rows(const Scenario& scenario, const Host& host);

/// Writes /interference/<resource>: which tenant waited for which, in all components together, over
/// the run; with several GPUs /interference/gpu1/<resource>, for the tenants there.
void write_interference(h5::File& file, const Totals& totals, const Machine& machine);

/// Returns the reasons why tenants were ended, a line each.
std::string failures(const Scenario& scenario, const Host& host);

/// Returns the table at the end of a run: for each tenant cycles, instructions, IPC, page faults,
/// its time by use (over the whole run), and its kernels.  No line has more than 80 columns.
std::string result_table(const Scenario& scenario, const std::vector<TenantRow>& rows,
                         const Machine& machine, const Totals& totals,
                         const std::vector<std::vector<KernelSum>>& kernels);

/// Returns the tenants that had not finished at the end of the run, a line each.
std::string unfinished(const Scenario& scenario, const std::vector<TenantRow>& rows, Time end);

}  // namespace lockstep
