#include "jobs/run/recipe.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/error/error.hpp"
#include "core/output/hdf5.hpp"
#include "core/parameters/document.hpp"
#include "jobs/observe/observed_run.hpp"
#include "jobs/run/identity.hpp"
#include "models/gpu/configuration.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {
namespace {

constexpr const char* scenario_path = "/run/scenario";
constexpr const char* facts_path = "/run/facts";
constexpr const char* program_fact = "the program";

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string scalar_text(const Node& node) {
  const std::string& text = node.text();
  const bool is_plain = !text.empty() && text == node.to_flow() &&
                        text.find_first_of(",[]{}#&*!|>'\"%@`:\\") == std::string::npos;
  return is_plain ? text : quoted(text);
}

/// Returns whether the key names a file: `module: FILE`, `trace: FILE`, `recording: FILE`, `init:
/// {file: FILE}` and `init: {file: {name: FILE}}`.
bool names_a_file(const std::string& key, const std::string& parent) {
  return key == "module" || key == "trace" || key == "recording" || key == "file" ||
         (key == "name" && parent == "file");
}

/// Returns the node as one line; names of files in it do not depend on the place of the text.
std::string flow_text(const Node& node, const std::string& key, const std::string& parent) {
  std::string text;
  if (node.is_map()) {
    for (const auto& [name, value] : node.entries())
      text += (text.empty() ? "" : ", ") + name + ": " + flow_text(value, name, key);
    return "{" + text + "}";
  }
  if (node.is_sequence()) {
    for (const Node& item : node.items())
      text += (text.empty() ? "" : ", ") + flow_text(item, key, parent);
    return "[" + text + "]";
  }
  if (!node.is_scalar()) return "null";
  if (!names_a_file(key, parent)) return scalar_text(node);
  return quoted(std::filesystem::absolute(resolve_file_name(node)).lexically_normal().string());
}

std::string text_in(const std::string& file, const std::string& path) {
  const h5::File run = h5::File::open_to_read(file);
  if (!run.has(path))
    throw UserError(file, "does not say how to repeat its run",
                    "name the output of `lockstep run` of this version");
  return run.text(path);
}

std::vector<RankFact> facts_in(const std::string& file) {
  constexpr const char* separator = ": ";
  std::vector<RankFact> facts;
  std::istringstream text(text_in(file, facts_path));
  for (std::string line; std::getline(text, line);) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos)
      throw UserError(file, std::string(facts_path) + " is damaged", "name another file");
    facts.push_back({line.substr(0, at), line.substr(at + 2)});
  }
  return facts;
}

/// Removes the program, which is no fact about the run: another program may have the same results.
std::string take_program(std::vector<RankFact>& facts) {
  const auto program = std::find_if(facts.begin(), facts.end(),
                                    [](const RankFact& fact) { return fact.name == program_fact; });
  if (program == facts.end()) return "another program";
  std::string version = program->value;
  facts.erase(program);
  return version;
}

}  // namespace

Node scenario_document(const CommandLine& line) {
  if (line.config_of.empty()) return load_scenario(line.scenario, line.settings);
  return parse_document(text_in(line.config_of, scenario_path), line.config_of + ":/run/scenario");
}

std::string scenario_name(const CommandLine& line) {
  const std::string& file = line.config_of.empty() ? line.scenario : line.config_of;
  return std::filesystem::path(file).stem().string();
}

/// Returns the tenant as text, with its workload by value under its name, without the place where
/// it runs.
static std::string tenant_text(const Node& tenant) {
  resolve_include_at(tenant, "workload");
  std::string text;
  for (const auto& [key, value] : tenant.entries()) {
    if (key == "gpu" || key == "mig") continue;
    text += (text.empty() ? "" : ", ") + key + ": ";
    if (key != "workload") {
      text += flow_text(value, key, "");
      continue;
    }
    const Node name = value.find("name");
    const std::string called =
        name.exists() ? name.text() : std::filesystem::path(value.file()).filename().string();
    text += "{name: " + quoted(called);
    for (const auto& [part, content] : value.entries())
      if (part != "name") text += ", " + part + ": " + flow_text(content, part, key);
    text += "}";
  }
  return text;
}

std::string recipe_text(const Node& scenario, const MachineParameters& machine) {
  std::string text = machine_text(machine) + "tenants:\n";
  std::size_t number = 0;
  for (const Node& tenant : scenario.at("tenants").items()) {
    const bool is_placed = machine.has_several_gpus() && !tenant.has("gpus");
    const std::string place = is_placed ? ", gpu: " + std::to_string(machine.gpu_of(number)) : "";
    text += "  - {" + tenant_text(tenant) + place + "}\n";
    ++number;
  }
  return text;
}

void write_recipe(RunOutput& file, const std::string& recipe) {
  file.file().write_text(scenario_path, recipe);
}

void write_facts(RunOutput& file, const std::vector<RankFact>& facts) {
  std::string text;
  for (const RankFact& fact : facts) text += fact.name + ": " + fact.value + "\n";
  file.file().write_text(facts_path, text);
}

std::vector<RankFact> all_facts_in(const std::string& file) {
  std::vector<RankFact> facts = facts_in(file);
  const std::vector<RankFact> stop = stop_in(text_in(file, "/config"));
  facts.insert(facts.end(), stop.begin(), stop.end());
  return facts;
}

bool was_checked(const std::string& file) {
  const std::vector<RankFact> facts = facts_in(file);
  return std::find(facts.begin(), facts.end(), RankFact{"--check", "on"}) != facts.end();
}

std::string compare_with_recipe(const CommandLine& line, const std::vector<RankFact>& facts) {
  if (line.config_of.empty()) return "";
  std::vector<RankFact> before = facts_in(line.config_of), now = facts;
  const std::string then = take_program(before), here = take_program(now);
  if (const auto difference = first_difference(before, "its run", now, "this one"))
    throw UserError(line.config_of, "cannot be repeated: " + *difference,
                    "bring back what it was, or run the scenario instead");
  if (then == here) return "";
  return "note: " + line.config_of + " is of " + then + ", this is " + here +
         ": results may differ";
}

}  // namespace lockstep
