/// The subcommands that do not simulate.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/output/compare.hpp"
#include "core/output/hdf5.hpp"
#include "core/parameters/differing_values.hpp"
#include "core/parameters/document.hpp"
#include "core/parameters/renamed_keys.hpp"
#include "core/parameters/schema.hpp"
#include "jobs/capture/describe_recording.hpp"
#include "jobs/command_line/describe_output.hpp"
#include "jobs/observe/observed_run.hpp"
#include "jobs/options.hpp"
#include "jobs/run/block_profile.hpp"
#include "jobs/run/check.hpp"
#include "jobs/run/text_columns.hpp"
#include "jobs/run/weights.hpp"
#include "models/gpu/described_keys.hpp"
#include "models/gpu/idle_settings.hpp"
#include "models/gpu/machine.hpp"
#include "models/gpu/oversubscription.hpp"
#include "models/gpu/policy_check.hpp"
#include "models/sm/exception_scheme/operand_log_cost.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep {

/// Returns a text on the memory of the tenants' buffers, and on the memory there is.
static std::string footprint_text(const Scenario& scenario, const MachineParameters& machine) {
  const auto size = [](std::uint64_t bytes) {
    if (bytes == 0) return std::string("-");
    const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
    return fmt::format("{:.4g} {}", value, units[unit]);
  };
  const auto line = [&](const std::string& name, const Footprint& sum) {
    return fmt::format("  {:<24}{:>12}{:>12}{:>12}\n", shortened(name, 23), size(sum.device),
                       size(sum.managed), size(sum.pinned));
  };
  std::string text =
      fmt::format("  {:<24}{:>12}{:>12}{:>12}\n", "memory of", "device", "managed", "pinned");
  Footprint all;
  for (const Tenant& tenant : scenario.tenants) {
    Footprint whole = footprint_of(tenant);
    for (Tenant there = tenant; ++there.member < tenant.members();)
      whole.device += footprint_of(there).device;
    text += line(tenant.name, whole);
    all += whole;
  }
  if (scenario.tenants.size() > 1) text += line("all", all);
  if (!machine.has_several_gpus())
    return text + fmt::format("  GPU memory: {}\n", size(machine.gpu.memory.capacity.count()));
  for (std::uint32_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    std::vector<std::string> names;
    for (const std::uint32_t tenant : machine.tenants_on(gpu))
      names.push_back(scenario.tenants[tenant].name);
    text += fmt::format("  GPU {} ({}): {} of memory, tenants: {}\n", gpu, machine.gpus[gpu].name,
                        size(machine.gpus[gpu].memory.capacity.count()),
                        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  return text;
}

int validate_command(const CommandLine& line) {
  const Scenario scenario = read_scenario(line.scenario, line.settings);
  const MachineParameters parameters = read_machine(scenario);
  const Machine machine(scenario, parameters, {});
  read_block_profile(scenario, parameters);
  const std::string shares = note_of_shares(scenario, parameters);
  if (!shares.empty()) std::fprintf(stderr, "lockstep: %s\n", shares.c_str());
  for (const std::string& note : machine.notes())
    std::fprintf(stderr, "lockstep: %s\n", note.c_str());
  for (const std::string& note : notes_of_idle_settings(scenario))
    std::fprintf(stderr, "lockstep: %s\n", note.c_str());
  for (const std::string& note : take_renamed_keys())
    std::fprintf(stderr, "lockstep: %s\n", note.c_str());
  for (const std::string& warning : find_forgotten_copies(scenario, machine))
    std::fprintf(stderr, "lockstep: %s\n", warning.c_str());
  const std::string bytes = footprint_text(scenario, parameters);
  const std::size_t tenants = scenario.tenants.size();
  const std::string gpus = parameters.has_several_gpus()
                               ? fmt::format("{} GPUs", parameters.gpus.size())
                               : parameters.gpu.name;
  std::printf("%s: %zu tenant%s on %s, %zu components\n", line.scenario.c_str(), tenants,
              tenants == 1 ? "" : "s", gpus.c_str(), machine.graph().nodes().size());
  std::fputs(bytes.c_str(), stdout);
  return exit_done;
}

/// Prints the costs of the operand log, beside its gains.
static void print_operand_log_costs() {
  std::puts("\noperand log of an SM: percent of area and power (paper 000, Table 2)");
  std::puts("   size   SM area  GPU area  SM power  GPU power");
  for (const std::uint64_t kib : {8, 16, 20, 32}) {
    const OperandLogCost cost = *operand_log_cost(Bytes{kib * 1024});
    std::printf("%3u KiB   %7.2f  %8.2f  %8.2f  %9.2f\n", static_cast<unsigned>(kib), cost.sm_area,
                cost.gpu_area, cost.sm_power, cost.gpu_power);
  }
}

int describe_command(const CommandLine& line) {
  if (capture::is_recording(line.key)) {
    std::fputs(printable_lines(capture::describe_recording(line.key)).c_str(), stdout);
    return exit_done;
  }
  const std::string parameters = describe_keys(line.key);
  const bool is_key = parameters.starts_with(line.key);
  const std::string output = is_key ? "" : describe_output(line.key);
  if (parameters.empty() && output.empty()) {
    throw UserError(line.key,
                    "no parameter begins with this, and nothing has it in its name or meaning",
                    "`lockstep describe` without a key lists all parameters, docs/output.md what "
                    "is counted");
  }
  std::fputs(parameters.c_str(), stdout);
  if (!output.empty()) std::printf("%scounted in the output:\n", parameters.empty() ? "" : "\n");
  std::fputs(output.c_str(), stdout);
  if (line.key.starts_with("policies.exception_scheme")) print_operand_log_costs();
  return exit_done;
}

int partition_command(const CommandLine& line) {
  const Scenario scenario = read_scenario(line.scenario, line.settings);
  const Machine machine(scenario, read_machine(scenario), {});
  const PartitionOptions options{.ranks = line.ranks,
                                 .threads = line.threads,
                                 .weights = read_weights(line.weights, machine.graph()),
                                 .on_rank_0 = machine.host()};
  const Assignment assignment = partition(machine.graph(), options);
  std::fputs(describe_partition(machine.graph(), assignment, options.weights).c_str(), stdout);
  return exit_done;
}

/// Returns the keys in which the runs' configurations differ: most often the cause of different
/// counts.
static std::string configuration_text(const std::string& a, const std::string& b) {
  constexpr std::size_t most = 10;
  std::vector<Node> configurations;
  for (const std::string& name : {a, b}) {
    const h5::File file = h5::File::open_to_read(name);
    if (!file.has("/config")) return "";
    const std::vector<std::string> texts = file.texts("/config");
    if (texts.empty()) return "";
    configurations.push_back(parse_document(texts.front(), name + ":/config"));
  }
  const std::vector<DifferingValue> all = differing_values(configurations[0], configurations[1]);
  std::string text = all.empty() ? "" : "configuration:\n";
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    text += "  " + all[i].key + ": " + all[i].a + " against " + all[i].b + "\n";
  if (all.size() > most) text += "  and " + std::to_string(all.size() - most) + " more\n";
  return text;
}

int diff_command(const CommandLine& line) {
  const FileComparison comparison = compare_files(line.first_file, line.second_file);
  std::fputs(printable_lines(comparison.text()).c_str(), stdout);
  if (!comparison.equal)
    std::fputs(printable_lines(configuration_text(line.first_file, line.second_file)).c_str(),
               stdout);
  return comparison.equal ? exit_done : exit_error;
}

}  // namespace lockstep
