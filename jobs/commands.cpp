/// The subcommands that do not simulate.
#include <cstdio>

#include "core/output/compare.hpp"
#include "core/parameters/schema.hpp"
#include "jobs/options.hpp"
#include "jobs/run/weights.hpp"
#include "models/gpu/machine.hpp"
#include "partitioner/partitioner.hpp"

namespace lockstep {

int validate_command(const CommandLine& line) {
  const Scenario scenario = read_scenario(line.scenario, line.settings);
  const MachineParameters parameters = read_machine(scenario);
  const Machine machine(scenario, parameters, {});
  std::printf("%s: %zu tenants on %s, %zu components\n", line.scenario.c_str(),
              scenario.tenants.size(), parameters.gpu.name.c_str(), machine.graph().nodes().size());
  return exit_done;
}

int describe_command(const CommandLine& line) {
  const std::string text = describe(schema_of<MachineParameters>(), "", line.key);
  if (text.empty()) {
    throw UserError(line.key, "no parameter begins with this",
                    "`lockstep describe` without a key lists all");
  }
  std::fputs(text.c_str(), stdout);
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

int diff_command(const CommandLine& line) {
  const FileComparison comparison = compare_files(line.first_file, line.second_file);
  std::fputs(comparison.text().c_str(), stdout);
  return comparison.equal ? exit_done : exit_error;
}

}  // namespace lockstep
