#pragma once

#include <string>
#include <vector>

#include "core/exec/rank_facts.hpp"
#include "core/output/run_output.hpp"
#include "core/parameters/node.hpp"
#include "jobs/options.hpp"
#include "models/gpu/machine_parameters.hpp"

namespace lockstep {

/// The parts of an output that `lockstep run --config-of FILE` needs to repeat a run to the bit:
/// /run/scenario, a scenario with the machine and the host programs by value, and files of modules
/// and data by name; and /run/facts, all that the result depends on, the digests of those files
/// included.

/// Returns the scenario that the command line names, or the one in the file of --config-of.
Node scenario_document(const CommandLine& line);
/// Returns the name of the scenario: that of its file, without folder and ending.
std::string scenario_name(const CommandLine& line);

/// Returns a scenario to be run again, as YAML.  `machine`: its resolved part, which names the GPUs
/// of tenants if there are several.
std::string recipe_text(const Node& scenario, const MachineParameters& machine);

void write_recipe(RunOutput& file, const std::string& recipe);
void write_facts(RunOutput& file, const std::vector<RankFact>& facts);

/// Returns Identity::all_facts() of the run in `file`. Throws UserError if the file lacks them.
std::vector<RankFact> all_facts_in(const std::string& file);

/// Returns whether the run in `file` had --check.
bool was_checked(const std::string& file);

/// Compares facts, with --config-of. Throws UserError that names the first fact that differed when
/// the file was written. Returns a note for standard error if the program was another one.
std::string compare_with_recipe(const CommandLine& line, const std::vector<RankFact>& facts);

}  // namespace lockstep
