#include "jobs/run/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error/error.hpp"
#include "core/parameters/units.hpp"
#include "jobs/run/text_columns.hpp"
#include "models/gpu/shared_resources.hpp"

namespace lockstep {

namespace {

struct FieldPlace {
  std::size_t kind = 0;
  std::size_t first = 0;       ///< first word in the component's row
  std::size_t per_tenant = 0;  ///< words of one tenant
};

FieldPlace place_of(const StatisticsLayout& layout, const std::string& kind,
                    const std::string& name) {
  for (std::size_t k = 0; k < layout.kinds().size(); ++k) {
    if (layout.kinds()[k].name != kind) continue;
    FieldPlace place{k, 0, 0};
    for (const StatisticsField& field : layout.kinds()[k].schema->fields()) {
      const std::size_t size = field.size(layout.tenants_of(k));
      place.per_tenant = field.tenants ? size / layout.tenants_of(k) : size;
      if (field.name == name) return place;
      place.first += size;
    }
  }
  throw InternalError("no statistic " + kind + "." + name);
}

}  // namespace

std::uint64_t Totals::sum(const std::string& kind, const std::string& field, std::size_t tenant,
                          std::size_t entry, std::optional<std::size_t> instance) const {
  const FieldPlace place = place_of(layout_, kind, field);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < layout_.kinds()[place.kind].instances; ++i) {
    if (instance && i != *instance) continue;
    total +=
        values_[layout_.offset(place.kind, i) + place.first + tenant * place.per_tenant + entry];
  }
  return total;
}

std::uint64_t Totals::sum_over_tenants(const std::string& kind, const std::string& field) const {
  std::uint64_t total = 0;
  for (std::size_t k = 0; k < layout_.kinds().size(); ++k) {
    const std::string& name = layout_.kinds()[k].name;
    if (name != kind && !name.ends_with("/" + kind)) continue;
    for (std::size_t t = 0; t < layout_.tenants_of(k); ++t) total += sum(name, field, t);
  }
  return total;
}

/// Returns the time for which the tenant was present up to a moment: from each arrival to its end.
static Time time_present(const Tenant& tenant, const TenantRun& run, Time until) {
  if (tenant.arrivals.size() == 1) return std::max(until, tenant.arrival) - tenant.arrival;
  Time sum;
  for (const ArrivalRecord& start : run.arrivals())
    sum += std::min(start.ended, std::max(until, start.arrival)) - start.arrival;
  return sum;
}

std::vector<TenantRow> tenant_rows(const Scenario& scenario, const Machine& machine,
                                   const Host& host, const Totals& totals, Time ended) {
  std::vector<TenantRow> rows;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const Tenant& tenant = scenario.tenants[t];
    const GpuSite* const site = machine.place_of(t).site;
    const GpuParameters& gpu = site->parameters().gpu;
    const std::string& prefix = site->place().prefix;
    TenantRow row;
    row.tenant = tenant.name;
    row.priority = tenant.priority;
    row.gpu = site->place().gpu;
    row.arrival = tenant.arrival;
    const TenantRun& run = host.tenant(t);
    row.end = run.end();
    row.rounds = run.rounds();
    if (tenant.cpu) row.runs_on = "cpu";
    if (const auto& measure = run.measure()) {
      row.warp_instructions = measure->executed.warp;
      row.thread_instructions = measure->executed.thread;
      row.far_faults = measure->far_faults;
    } else if (const auto core = machine.core_of_tenant(t)) {
      row.warp_instructions = row.thread_instructions =
          totals.sum(prefix + "cpu", "instructions", 0, 0, *core);
    } else {
      for (const auto& [there, at] : machine.all_places_of(t)) {
        const std::string& of = there->place().prefix;
        row.warp_instructions += totals.sum(of + "sm", "warp_instructions", at);
        row.thread_instructions += totals.sum(of + "sm", "thread_instructions", at);
        row.far_faults += totals.sum(of + "host", "far_faults", at);
      }
    }
    const Clock clock(tenant.cpu ? gpu.cpu.clock : gpu.sm.clock);
    const Time present = time_present(tenant, run, std::min(row.end, ended));
    row.cycles = static_cast<std::uint64_t>(clock.cycle_at_or_before(present).count());
    if (row.cycles > 0) {
      row.instructions_per_cycle =
          static_cast<double>(row.warp_instructions) / static_cast<double>(row.cycles);
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<FaultRow> fault_rows(const Machine& machine, const Host& host) {
  std::vector<FaultRow> rows;
  for (std::size_t part = 0; part < host.part_count(); ++part) {
    const GpuSite::Place& place = machine.sites()[part]->place();
    for (const FaultRecord& fault : host.part(part).faults())
      rows.push_back({place.tenants[fault.tenant.value()], place.gpu, fault.pages,
                      address_of(fault.page).value(), fault.position,
                      fault.migrated ? "migrate" : "allocate", fault.local ? "local" : "host",
                      fault.found, fault.arrived, fault.served, fault.mapped});
  }
  return rows;
}

std::vector<ArrivalRow> arrival_rows(const Scenario& scenario, const Host& host) {
  std::vector<ArrivalRow> rows;
  for (std::uint32_t t = 0; t < scenario.tenants.size(); ++t) {
    const Time span = scenario.tenants[t].deadline;
    for (const ArrivalRecord& start : host.tenant(t).arrivals()) {
      const Time deadline = start.arrival + span;
      const char* met = span == Time::never() ? "-" : start.ended <= deadline ? "yes" : "no";
      rows.push_back({t, start.arrival, start.began, start.ended, deadline, met});
    }
  }
  return rows;
}

/// Writes delays.  `prefix`: prefix of the GPU whose `tenants` share the resource.
static void write_delays(h5::File& file, const Totals& totals, const SharedResource& resource,
                         const GpuParameters& gpu, const std::string& prefix, std::size_t tenants) {
  const double unit = resource.scale(gpu);
  std::optional<std::size_t> instance;
  if (resource.instance >= 0) instance = static_cast<std::size_t>(resource.instance);
  std::vector<double> delays;
  for (std::size_t victim = 0; victim < tenants; ++victim)
    for (std::size_t culprit = 0; culprit < tenants; ++culprit)
      delays.push_back(static_cast<double>(totals.sum(prefix + resource.kind, resource.field,
                                                      victim, culprit, instance)) *
                       unit);
  const std::string path = "/interference/" + prefix + resource.name;
  file.write_array(path, h5::Scalar::f64, {tenants, tenants}, delays.data());
  file.set_attribute(path, "unit", resource.unit);
  file.set_attribute(path, "description", resource.doc);
  file.set_attribute(path, "axes", "victim, culprit");
}

void write_interference(h5::File& file, const Totals& totals, const Machine& machine) {
  for (const auto& site : machine.sites())
    for (const SharedResource& resource : shared_resources())
      write_delays(file, totals, resource, site->parameters().gpu, site->place().prefix,
                   site->place().tenants.size());
  for (const auto& site : machine.sites())
    if (machine.has_ports())
      for (const SharedResource& resource : port_resources())
        write_delays(file, totals, resource, site->parameters().gpu, site->place().prefix,
                     site->place().tenants.size());
  if (machine.has_uplinks())
    write_delays(file, totals, shared_uplink(), machine.parameters().gpu, "",
                 machine.tenant_names().size());
}

std::string failures(const Scenario& scenario, const Host& host) {
  std::string text;
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    const auto& failure = host.tenant(t).failure();
    if (failure) text += "lockstep: " + *failure + "\n";
  }
  return text;
}

/// Returns how a tenant on a CPU core used memory.
static std::string core_text(const Totals& totals, const std::string& prefix, std::size_t core) {
  const auto count = [&](const char* field) {
    return static_cast<double>(totals.sum(prefix + "cpu", field, 0, 0, core));
  };
  const auto ratio = [](double a, double b) { return b > 0 ? a / b : 0; };
  return fmt::format(
      "  CPU core: {:.2f} lines read in 1000 instructions, {:.1f} banks busy,\n"
      "            {:.0f} cycles a read\n",
      1000 * ratio(count("reads"), count("instructions")),
      ratio(count("bank_cycles"), count("outstanding_cycles")),
      ratio(count("read_cycles"), count("reads")));
}

/// Returns the shares of all slots in which the tenant's schedulers might have issued.
static std::string shares_text(const Totals& totals, const std::string& sm, std::size_t tenant) {
  const std::uint64_t issued = totals.sum(sm, "issue_slots", tenant);
  std::array<std::uint64_t, stall_causes> stalls{};
  std::uint64_t slots = issued;
  for (std::size_t c = 0; c < stall_causes; ++c)
    slots += stalls[c] = totals.sum(sm, "stalls", tenant, c);
  if (slots == 0) return "";
  const auto percent = [&](std::uint64_t part) {
    return 100 * static_cast<double>(part) / static_cast<double>(slots);
  };
  std::vector<std::string> parts{fmt::format("{:.0f}% issued", percent(issued))};
  for (std::size_t c = 0; c < stall_causes; ++c)
    if (percent(stalls[c]) >= 0.5)
      parts.push_back(fmt::format("{:.0f}% {}", percent(stalls[c]), stall_cause_names[c]));
  return in_lines("  issue slots: ", parts);
}

/// Returns whether the tenant had not finished. A profile without `instructions:` has no end.
static bool is_unfinished(const Tenant& tenant, const TenantRow& row) {
  const bool has_end = !tenant.cpu || tenant.cpu->trace || tenant.instructions > 0;
  return has_end && row.end == Time::never();
}

std::string result_table(const Scenario& scenario, const std::vector<TenantRow>& rows,
                         const Machine& machine, const Totals& totals,
                         const std::vector<std::vector<KernelSum>>& kernels) {
  constexpr std::size_t least_width = 16, most_width = 30, line = 79;
  std::size_t width = least_width;
  for (const TenantRow& row : rows) width = std::clamp(row.tenant.size() + 1, width, most_width);
  std::string text = fmt::format("{:<{}}{:>12}{:>19}{:>7}{:>12}\n", "tenant", width, "cycles",
                                 "warp_instructions", "IPC", "far_faults");
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const TenantRow& row = rows[t];
    // A long name stands alone in its line.
    const bool is_long = row.tenant.size() + 1 > most_width;
    if (is_long) text += shortened(row.tenant, line) + "\n";
    text +=
        fmt::format("{:<{}}{:>12}{:>19}{:>7}{:>12}\n", is_long ? "" : row.tenant, width, row.cycles,
                    row.warp_instructions, rate_text(row.instructions_per_cycle), row.far_faults);
    const std::vector<Machine::TenantPlace> places = machine.all_places_of(t);
    const bool is_on_several = places.size() > 1;
    if (machine.parameters().has_several_gpus() && !is_on_several)
      text += fmt::format("  on GPU {}\n", row.gpu);
    if (is_unfinished(scenario.tenants[t], row)) text += "  NOT FINISHED when the run ended\n";
    if (const auto core = machine.core_of_tenant(t)) {
      text += core_text(totals, places.front().site->place().prefix, *core);
      continue;
    }
    for (const auto& [site, number] : places) {
      if (is_on_several) text += fmt::format("  on GPU {}\n", site->place().gpu);
      text += shares_text(totals, site->place().prefix + "sm", number);
    }
    text += kernel_table(kernels[t]);
  }
  return text;
}

std::string unfinished(const Scenario& scenario, const std::vector<TenantRow>& rows, Time end) {
  std::string text;
  for (std::size_t t = 0; t < rows.size(); ++t)
    if (is_unfinished(scenario.tenants[t], rows[t]))
      text += fmt::format(
          "lockstep: tenant {} had not finished at {}, when the run ended - give it "
          "more time (simulation.stop_at)\n",
          rows[t].tenant, format_scalar(end.femtoseconds(), ParameterType::time));
  return text;
}

}  // namespace lockstep
