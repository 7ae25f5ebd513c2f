/// `lockstep compare`: each tenant alone, compared with the run in which all share the GPU.
///
/// Alone means: the same machine, as many SMs as the tenant's blocks may use in the shared run, no
/// other tenant, from time 0, its program once (or up to its `instructions:`).  `--alone-set` gives
/// the runs alone other policies, such as those of a baseline.
/// Source: memory-interference.md, section 1.4 (what 004, sections 6.5 and 7.4, compares with).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "core/parameters/document.hpp"
#include "jobs/observe/written_file.hpp"
#include "jobs/options.hpp"
#include "jobs/run/earlier_output.hpp"
#include "jobs/run/run.hpp"
#include "jobs/run/shared_output.hpp"
#include "models/gpu/machine_parameters.hpp"
#include "models/gpu/metrics.hpp"

namespace lockstep {
namespace {

/// Compared tenants, and their runs that have been simulated before.
struct Plan {
  std::string name;
  std::vector<std::string> tenants;
  std::vector<TenantRow> shared;           ///< empty: to be simulated
  std::map<std::string, TenantRow> alone;  ///< rows by tenant; missing ones are to be simulated
};

std::vector<TenantRow> read_tenants(const std::string& file) {
  return read_table<TenantRow>(h5::File::open_to_read(file));
}

const TenantRow& find_tenant(const std::vector<TenantRow>& rows, const std::string& name,
                             const std::string& where) {
  std::string known;
  for (const TenantRow& row : rows) {
    if (row.tenant == name) return row;
    known += (known.empty() ? "" : ", ") + row.tenant;
  }
  throw UserError(where, "there is no tenant " + name + " in the shared run", "it has " + known);
}

/// Reads `tenant=FILE` of --alone.
void read_alone(const std::string& option, Plan& plan) {
  const std::size_t equals = option.find('=');
  const std::string where = "--alone " + option;
  if (equals == std::string::npos)
    throw UserError(where, "is not of the form tenant=FILE",
                    "name a tenant and the HDF5 file of its run alone");
  const std::string name = option.substr(0, equals), file = option.substr(equals + 1);
  if (std::find(plan.tenants.begin(), plan.tenants.end(), name) == plan.tenants.end()) {
    throw UserError(where, "there is no tenant " + name + " in the shared run",
                    fmt::format("it has {}", fmt::join(plan.tenants, ", ")));
  }
  const std::vector<TenantRow> rows = read_tenants(file);
  if (rows.size() != 1 || rows[0].tenant != name) {
    throw UserError(file, "is not a run of tenant " + name + " alone",
                    "name the file that `lockstep compare` wrote for it");
  }
  plan.alone[name] = rows[0];
}

Plan read_plan(const CommandLine& line) {
  Plan plan;
  if (!line.shared_file.empty()) {
    plan.name = std::filesystem::path(line.shared_file).stem().string();
    plan.shared = read_tenants(line.shared_file);
    for (const TenantRow& row : plan.shared) plan.tenants.push_back(row.tenant);
  }
  if (!line.scenario.empty()) {
    const Scenario scenario = read_scenario(line.scenario, line.settings);
    plan.name = scenario.name;
    plan.tenants.clear();
    for (const Tenant& tenant : scenario.tenants) plan.tenants.push_back(tenant.name);
    if (!plan.shared.empty()) {
      for (const std::string& name : plan.tenants) {
        find_tenant(plan.shared, name, line.shared_file);
      }
    }
  }
  for (const std::string& option : line.alone_files) read_alone(option, plan);
  if (!line.scenario.empty()) return plan;
  if (plan.shared.empty()) {
    throw UserError("compare", "there is nothing to compare", "name a scenario, or --shared FILE");
  }
  for (const std::string& name : plan.tenants) {
    if (plan.alone.contains(name)) continue;
    throw UserError("compare", "there is no run of tenant " + name + " alone",
                    "add --alone " + name + "=FILE, or name the scenario");
  }
  return plan;
}

/// Makes the folder for the files, if it does not exist.
void make_folder(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw UserError(path, error.message(), "choose another --output");
}

/// Keeps the memory of the shared run for the run alone, although it may depend on all tenants'
/// buffers.
void keep_capacity(const Node& gpu, const MachineParameters& machine) {
  const Node memory = gpu.find("memory");
  if (!memory.exists() || !memory.has("oversubscription")) return;
  const std::string bytes = fmt::format("{}B", machine.gpu.memory.capacity.count());
  override_value(gpu, "memory.capacity", parse_document(bytes, "the capacity"));
  override_value(gpu, "memory.oversubscription", parse_document("0", "the capacity"));
}

/// Returns the scenario with only one tenant left.
Scenario leave_alone(const Scenario& all, const std::string& name) {
  const auto found = std::find_if(all.tenants.begin(), all.tenants.end(),
                                  [&](const Tenant& tenant) { return tenant.name == name; });
  const MachineParameters whole = read_machine(all);
  const std::uint32_t gpu = whole.gpu_of(static_cast<std::size_t>(found - all.tenants.begin()));
  const bool several = whole.has_several_gpus();
  const Scenario scenario = several ? part_of(all, gpu, whole.tenants_on(gpu)) : all;
  const MachineParameters machine = several ? whole.on(gpu) : whole;
  const PolicyChoice& policy = machine.policies.sharing;
  SharingSetup setup{machine.gpu.sm.count, {}};
  std::uint16_t index = 0;
  for (const Tenant& tenant : scenario.tenants) {
    if (tenant.name == name) index = static_cast<std::uint16_t>(setup.sms_per_tenant.size());
    setup.sms_per_tenant.push_back(tenant.cpu ? SharingSetup::no_sms : tenant.sms);
  }
  Scenario alone = all;
  keep_capacity(scenario.gpu, machine);
  alone.tenants = {scenario.tenants[index]};
  Tenant& tenant = alone.tenants.front();
  if (several) tenant.gpu = gpu;
  if (!tenant.cpu) tenant.sms = make_sharing(policy, setup)->sms_of(TenantId{index});
  tenant.arrival = Time::zero();
  tenant.arrivals = {tenant.arrival};
  tenant.relaunch = tenant.relaunch && tenant.cpu;
  return alone;
}

CommandLine with_alone_settings(CommandLine line) {
  line.settings.insert(line.settings.end(), line.alone_settings.begin(), line.alone_settings.end());
  return line;
}

/// A run that is to be simulated.
struct PlannedRun {
  std::string title;
  CommandLine line;
  ScenarioChange change;
};

PlannedRun run_alone(const CommandLine& line, const Plan& plan, const std::string& name) {
  PlannedRun run{name + " alone", with_alone_settings(line),
                 [name](const Scenario& scenario) { return leave_alone(scenario, name); }};
  const std::filesystem::path folder = line.alone_folder.empty() ? line.output : line.alone_folder;
  const std::string file = line.alone_folder.empty()
                               ? plan.name + "-alone-" + name
                               : name + "-" + identity_of(run.line, run.change).digest();
  run.line.output = (folder / (file + ".h5")).string();
  return run;
}

PlannedRun run_shared(const CommandLine& line, const Plan& plan) {
  PlannedRun run{"shared", line, [](Scenario scenario) { return scenario; }};
  run.line.output = (std::filesystem::path(line.output) / (plan.name + ".h5")).string();
  return run;
}

/// Returns the runs of `plan` that have not been simulated before.
std::vector<PlannedRun> missing_runs(const CommandLine& line, const Plan& plan) {
  std::vector<PlannedRun> runs;
  for (const std::string& name : plan.tenants)
    if (!plan.alone.contains(name)) runs.push_back(run_alone(line, plan, name));
  if (line.shared_file.empty()) runs.push_back(run_shared(line, plan));
  return runs;
}

/// Checks all outputs before the first run, so that a mistake in the last one is found early.
void check_outputs(const std::vector<PlannedRun>& runs) {
  for (const PlannedRun& run : runs)
    if (!run.line.overwrite)
      require_own_output(run.line.output, "", identity_of(run.line, run.change));
}

/// Simulates the run. Returns rank 0's rows, and the status that all ranks agree on.
RunOutcome simulate(const PlannedRun& run, Communicator& communicator) {
  if (!run.line.quiet && communicator.rank() == 0) std::printf("\n%s\n", run.title.c_str());
  RunOutcome outcome = simulate(run.line, run.change, communicator);
  std::int64_t status[1] = {-outcome.status};
  communicator.minimum(status);
  outcome.status = static_cast<int>(-status[0]);
  return outcome;
}

/// Simulates the run, unless another comparison has simulated it or is simulating it now.
RunOutcome simulate_once(const PlannedRun& run, Communicator& communicator) {
  std::optional<SharedOutput> shared;
  std::int64_t is_there[1] = {0};
  if (communicator.rank() == 0) shared.emplace(run.line.output);
  if (shared) is_there[0] = -std::int64_t{shared->is_whole()};
  communicator.minimum(is_there);
  if (is_there[0] == 0) return simulate(run, communicator);
  if (communicator.rank() != 0) return {};
  return {exit_done, read_tenants(run.line.output)};
}

/// Returns whether a run has ended. report() advises on a tenant that had not finished.
bool has_ended(const RunOutcome& outcome) {
  return outcome.status == exit_done || outcome.status == exit_unfinished;
}

double speed(const TenantRow& row, const std::string& run) {
  if (row.end == Time::never()) {
    throw UserError(run, "tenant " + row.tenant + " had not finished when the run ended",
                    "give it more time (simulation.stop_at) or set its instructions");
  }
  if (row.instructions_per_cycle > 0) return row.instructions_per_cycle;
  throw UserError(run, "tenant " + row.tenant + " executed nothing, so it has no slowdown",
                  "give it a kernel or leave it out");
}

/// Slowdown of the tenants on CPU cores, if any, and speedup of all tenants.
/// Source: memory-interference.md, section 1.4 (004, Equations 5.1 and 5.2).
struct CoreMeasures {
  std::vector<TenantSpeed> cores, gpu;
  std::vector<std::pair<double, double>> weighted;  ///< weight of the GPU, and CPU+GPU speedup

  CoreMeasures(const std::vector<TenantSpeed>& speeds, const std::vector<double>& gpu_weights) {
    for (const TenantSpeed& speed : speeds) (speed.on_cpu ? cores : gpu).push_back(speed);
    for (const double weight : gpu_weights)
      weighted.emplace_back(weight, weighted_speedup(speeds, weight));
  }
};

std::string table(const Plan& plan, const std::vector<TenantSpeed>& speeds,
                  const CoreMeasures& measures) {
  std::string text =
      fmt::format("\n{:<32}{:>12}{:>12}{:>12}\n", "tenant", "IPC alone", "IPC shared", "slowdown");
  for (std::size_t t = 0; t < speeds.size(); ++t) {
    text += fmt::format("{:<32}{:>12.4f}{:>12.4f}{:>12.4f}\n", plan.tenants[t], speeds[t].alone,
                        speeds[t].shared, speeds[t].slowdown());
  }
  const auto line = [&](const char* name, double value) {
    text += fmt::format("{:<32}{:>12.4f}\n", name, value);
  };
  line("weighted speedup (STP)", weighted_speedup(speeds));
  line("harmonic speedup", harmonic_speedup(speeds));
  line("mean slowdown (ANTT)", 1 / harmonic_speedup(speeds));
  line("maximum slowdown (unfairness)", maximum_slowdown(speeds));
  line("IPC throughput", ipc_throughput(speeds));
  if (measures.cores.empty()) return text;
  line("CPU weighted speedup", weighted_speedup(measures.cores));
  line("CPU unfairness", maximum_slowdown(measures.cores));
  if (measures.gpu.empty()) return text;
  line("GPU speedup", weighted_speedup(measures.gpu));
  for (const auto& [weight, speedup] : measures.weighted)
    line(fmt::format("CPU+GPU, weight {:g}", weight).c_str(), speedup);
  return text;
}

std::string yaml(const Plan& plan, const std::vector<TenantSpeed>& speeds,
                 const CoreMeasures& measures) {
  std::string text = "tenants:\n";
  for (std::size_t t = 0; t < speeds.size(); ++t) {
    text += fmt::format("  {}: {{ipc_alone: {}, ipc_shared: {}, slowdown: {}}}\n", plan.tenants[t],
                        speeds[t].alone, speeds[t].shared, speeds[t].slowdown());
  }
  text += fmt::format(
      "weighted_speedup: {}\nharmonic_speedup: {}\nmean_slowdown: {}\nmaximum_slowdown: {}\n"
      "ipc_throughput: {}\n",
      weighted_speedup(speeds), harmonic_speedup(speeds), 1 / harmonic_speedup(speeds),
      maximum_slowdown(speeds), ipc_throughput(speeds));
  if (measures.cores.empty()) return text;
  text += fmt::format("cpu_weighted_speedup: {}\ncpu_maximum_slowdown: {}\n",
                      weighted_speedup(measures.cores), maximum_slowdown(measures.cores));
  if (measures.gpu.empty()) return text;
  text +=
      fmt::format("gpu_speedup: {}\ncpu_gpu_weighted_speedup: {{", weighted_speedup(measures.gpu));
  const char* separator = "";
  for (const auto& [weight, speedup] : measures.weighted) {
    text += fmt::format("{}{}: {}", separator, weight, speedup);
    separator = ", ";
  }
  return text + "}\n";
}

void report(const CommandLine& line, const Plan& plan) {
  std::vector<TenantSpeed> speeds;
  for (const std::string& name : plan.tenants) {
    const TenantRow& shared = find_tenant(plan.shared, name, line.shared_file);
    speeds.push_back({speed(plan.alone.at(name), "alone run of " + name),
                      speed(shared, "shared run of " + plan.name), shared.runs_on == "cpu"});
  }
  const auto path = std::filesystem::path(line.output) / (plan.name + ".compare.yaml");
  WrittenFile file(path.string());
  const CoreMeasures measures(speeds, line.gpu_weights);
  file.write(yaml(plan, speeds, measures));
  file.finish();
  std::fputs(printable_lines(table(plan, speeds, measures)).c_str(), stdout);
}

}  // namespace

int compare_command(const CommandLine& line, Communicator& communicator) {
  Plan plan;
  together(communicator, [&] {
    plan = read_plan(line);
    if (communicator.rank() == 0) make_folder(line.output);
    if (communicator.rank() == 0) make_folder(line.alone_folder);
    if (communicator.rank() == 0) check_outputs(missing_runs(line, plan));
  });
  for (const std::string& name : plan.tenants) {
    if (plan.alone.contains(name)) continue;
    const PlannedRun alone = run_alone(line, plan, name);
    const RunOutcome outcome = line.alone_folder.empty() ? simulate(alone, communicator)
                                                         : simulate_once(alone, communicator);
    if (!has_ended(outcome)) return outcome.status;
    if (communicator.rank() == 0) plan.alone[name] = outcome.tenants.front();
  }
  if (line.shared_file.empty()) {
    const RunOutcome outcome = simulate(run_shared(line, plan), communicator);
    if (!has_ended(outcome)) return outcome.status;
    plan.shared = outcome.tenants;
  }
  if (communicator.rank() == 0) report(line, plan);
  return exit_done;
}

}  // namespace lockstep
