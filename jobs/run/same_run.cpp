#include "jobs/run/same_run.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <vector>

#include "core/engine/engine.hpp"
#include "core/exec/rank_facts.hpp"
#include "core/output/checkpoint_file.hpp"
#include "core/parameters/document.hpp"
#include "jobs/run/identity.hpp"
#include "jobs/run/recipe.hpp"
#include "jobs/run/run.hpp"

namespace lockstep {
namespace {

using Facts = std::vector<RankFact>;

void require_alike(const Facts& facts, Communicator& communicator) {
  const std::optional<std::string> difference = first_difference(facts, communicator);
  if (!difference) return;
  if (communicator.rank() != 0) throw StoppedElsewhere();
  throw UserError("", "the ranks do not run the same: " + *difference,
                  "start all with one command, on the same files");
}

/// Of `gpu: v100`; "" of what names no file so.
std::string included_file(const std::string& key, const Node& value) {
  if (key != "gpu" && key != "host" && key != "workload") return "";
  return file_by_word(key, value).value_or("");
}

/// The files that `node` and the documents among them name, whatever for.
void find_files(const Node& node, std::set<std::string>& files) {
  if (node.is_map()) {
    for (const auto& [key, value] : node.entries()) {
      const std::string named = included_file(key, value);
      if (!named.empty() && files.insert(named).second) find_files(load_document(named), files);
      find_files(value, files);
    }
  } else if (node.is_sequence()) {
    for (const Node& item : node.items()) find_files(item, files);
  } else if (node.is_scalar()) {
    const std::string name = resolve_file_name(node);
    std::error_code absent;
    if (node.text().empty() || !std::filesystem::is_regular_file(name, absent)) return;
    if (files.insert(name).second && is_file_name(node)) find_files(load_document(name), files);
  }
}

Node as_written(const CommandLine& line) {
  if (!line.config_of.empty()) return scenario_document(line);
  Node scenario = load_document(line.scenario);
  apply_settings(scenario, line.settings);
  return scenario;
}

Facts facts_of(const CommandLine& line, const std::string& configuration) {
  Facts facts{{"--threads", std::to_string(line.threads)},
              {"--check", line.check ? "on" : "off"},
              {"--profile", line.profile ? "on" : "off"},
              {"--quiet", line.quiet ? "on" : "off"},
              {"--output", line.output.empty() ? "none" : line.output},
              {"--checkpoint-every", fmt::format("{} s", line.checkpoint_seconds)},
              {"the program", digest_of("/proc/self/exe")}};
  add_values(parse_document(configuration, "the configuration"), facts);
  std::set<std::string> files{line.config_of.empty() ? line.scenario : line.config_of};
  if (!line.weights.empty()) files.insert(line.weights);
  if (!line.resume.empty()) {
    facts.push_back({"--resume", fmt::format("a checkpoint with the digest {:016x}",
                                             CheckpointReader(line.resume).digest())});
  }
  find_files(as_written(line), files);
  for (const std::string& file : files) facts.push_back({file, digest_of(file)});
  return facts;
}

}  // namespace

void require_same_command(const std::string& command, Communicator& communicator) {
  if (communicator.size() > 1) require_alike({{"the command", command}}, communicator);
}

void require_same_run(const CommandLine& line, const std::string& configuration,
                      Communicator& communicator) {
  if (communicator.size() == 1) return;
  Facts facts;
  together(communicator, [&] { facts = facts_of(line, configuration); });
  require_alike(facts, communicator);
}

}  // namespace lockstep
