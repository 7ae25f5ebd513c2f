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

void insert_file(const std::string& name, std::set<std::string>& files) {
  std::error_code absent;
  if (!name.empty() && std::filesystem::is_regular_file(name, absent)) files.insert(name);
}

/// Finds the files in which `node` was written, with the files that it includes and names.
void find_files(const Node& node, std::set<std::string>& files) {
  insert_file(node.file(), files);
  if (node.is_map()) {
    for (const auto& [key, value] : node.entries()) find_files(value, files);
  } else if (node.is_sequence()) {
    for (const Node& item : node.items()) find_files(item, files);
  } else if (node.is_scalar() && !node.text().empty()) {
    const std::string name = resolve_file_name(node);
    const bool is_new = !files.contains(name);
    insert_file(name, files);
    if (is_new && files.contains(name) && is_file_name(node))
      find_files(load_document(name), files);
  }
}

Facts facts_of(const CommandLine& line, const Node& document, const Node& configuration) {
  Facts facts{{"--threads", std::to_string(line.threads)},
              {"--check", line.check ? "on" : "off"},
              {"--profile", line.profile ? "on" : "off"},
              {"--quiet", line.quiet ? "on" : "off"},
              {"--output", line.output.empty() ? "none" : line.output},
              {"--checkpoint-every", fmt::format("{} s", line.checkpoint_seconds)},
              {"--checkpoint-at-stop", line.checkpoint_at_stop ? "on" : "off"},
              {"the program", digest_of("/proc/self/exe")}};
  add_values(configuration, facts);
  std::set<std::string> files{line.config_of.empty() ? line.scenario : line.config_of};
  if (!line.weights.empty()) files.insert(line.weights);
  if (!line.resume.empty()) {
    facts.push_back({"--resume", fmt::format("a checkpoint with the digest {:016x}",
                                             CheckpointReader(line.resume).digest())});
  }
  find_files(document, files);
  for (const std::string& file : files) facts.push_back({file, digest_of(file)});
  return facts;
}

}  // namespace

void require_same_command(const std::string& command, Communicator& communicator) {
  if (communicator.size() > 1) require_alike({{"the command", command}}, communicator);
}

void require_same_run(const CommandLine& line, const Node& document, const Node& configuration,
                      Communicator& communicator) {
  if (communicator.size() == 1) return;
  Facts facts;
  together(communicator, [&] { facts = facts_of(line, document, configuration); });
  require_alike(facts, communicator);
}

}  // namespace lockstep
