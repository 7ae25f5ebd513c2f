#include "jobs/run/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/error/error.hpp"
#include "core/parameters/document.hpp"
#include "jobs/run/block_profile.hpp"
#include "models/workload/recording/recording.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

/// Digest of the sources, written by the build.
extern const char* const source_digest;
extern const char* const git_revision;
extern const char* const build_text;

namespace {

/// Content of the plan: its entries of later kernels may change before a run is resumed, and the
/// dispatcher compares the others.
constexpr const char* plan_bytes = "policies.preemption.plan, its content";
/// Facts that decide when a run ends or what comes after a checkpoint, and not what happens until
/// then.
constexpr const char* endings[] = {"simulation.stop_at", "simulation.progress_limit",
                                   "simulation.on_no_progress", plan_bytes};

class Fnv1a {
 public:
  void add(std::span<const char> bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::string hash_of(const std::vector<RankFact>& facts) {
  Fnv1a hash;
  for (const RankFact& fact : facts) hash.add(fact.name + ": " + fact.value + "\n");
  return hash.text();
}

/// The host program and the initial content are in no configuration.
void add_workloads(const Node& root, const Scenario& scenario, std::vector<RankFact>& facts) {
  const std::vector<Node> written = root.at("tenants").items();
  for (std::size_t t = 0; t < scenario.tenants.size(); ++t) {
    if (scenario.tenants[t].cpu) continue;  // the configuration covers tenants on CPU cores
    const auto tenant = std::find_if(written.begin(), written.end(), [&](const Node& node) {
      return node.at("name").text() == scenario.tenants[t].name;
    });
    resolve_include_at(*tenant, "workload");
    const Node workload = tenant->at("workload");
    std::vector<RankFact> values;
    for (const char* part : {"buffers", "program"}) add_values(workload.at(part), values);
    const std::size_t path = workload.path().size();
    for (const RankFact& value : values)
      facts.push_back(
          {fmt::format("tenants.{}.workload{}", t, value.name.substr(path)), value.value});
  }
  std::erase_if(facts, [](const RankFact& fact) {  // the digest of the file's bytes covers the fact
    return fact.name.ends_with(".init.file") || fact.name.ends_with(".init.file.name") ||
           fact.name.ends_with(".program.recording");
  });
}

void add_bytes(const Scenario& scenario, std::vector<RankFact>& facts) {
  if (const std::string profile = profile_of_blocks(scenario); !profile.empty())
    facts.push_back({"policies.preemption.profile", digest_of(profile)});
  if (const std::string plan = plan_of_blocks(scenario); !plan.empty())
    facts.push_back({plan_bytes, digest_of(plan)});
  for (const Tenant& tenant : scenario.tenants) {
    const std::string name = "tenants." + tenant.name;
    if (tenant.cpu) {
      const std::string& trace = tenant.cpu->trace_file;
      if (!trace.empty()) facts.push_back({name + ".cpu.trace", digest_of(trace)});
      continue;
    }
    const std::vector<std::string> modules = tenant.workload.module_files();
    for (std::size_t m = 0; m < modules.size(); ++m) {
      const std::string which = modules.size() == 1 ? "" : "[" + std::to_string(m) + "]";
      facts.push_back({name + ".module" + which, digest_of(modules[m])});
    }
    if (tenant.workload.recording)
      facts.push_back({name + ".program", digest_of(tenant.workload.recording->file())});
    for (const Buffer& buffer : tenant.workload.buffers) {
      if (buffer.initial.kind != Initializer::Kind::file) continue;
      require_file(buffer.initial.file, buffer.where);
      facts.push_back({name + ".buffers." + buffer.name, digest_of(buffer.initial.file)});
    }
  }
}

}  // namespace

std::string digest_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UserError(file, "cannot be read", "check that it is there and may be read");
  Fnv1a hash;
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0)
    hash.add(std::span(piece).first(static_cast<std::size_t>(in.gcount())));
  return "bytes with the digest " + hash.text();
}

void add_values(const Node& node, std::vector<RankFact>& facts) {
  if (node.is_map()) {
    for (const auto& [key, value] : node.entries()) add_values(value, facts);
  } else if (node.is_sequence()) {
    for (const Node& item : node.items()) add_values(item, facts);
  } else {
    facts.push_back({node.path(), node.is_scalar() ? node.text() : node.to_flow()});
  }
}

/// Returns whether the fact is among the endings.
static bool is_of_ending(const RankFact& fact) {
  return std::find(std::begin(endings), std::end(endings), fact.name) != std::end(endings);
}

std::string program_version() {
  return fmt::format("version {} of the sources {}", LOCKSTEP_VERSION, source_digest);
}

std::string program_revision() {
  return git_revision;
}

std::string program_build() {
  return build_text;
}

static std::vector<RankFact> stop_of(const Node& configuration) {
  std::vector<RankFact> facts;
  add_values(configuration, facts);
  std::erase_if(facts, [](const RankFact& fact) { return !is_of_ending(fact); });
  return facts;
}

std::vector<RankFact> stop_in(const std::string& configuration) {
  return stop_of(parse_document(configuration, "the configuration"));
}

Identity::Identity(const CommandLine& line, const Node& document, const Scenario& scenario,
                   const Node& configuration)
    : facts_{{"the program", program_version()}, {"--check", line.check ? "on" : "off"}},
      stop_(stop_of(configuration)) {
  if (!line.bounds) facts_.push_back({"--no-bounds", "on"});
  add_values(configuration, facts_);
  add_workloads(document, scenario, facts_);
  add_bytes(scenario, facts_);
  digest_ = hash_of(facts_);
  std::erase_if(facts_, is_of_ending);
  run_digest_ = hash_of(facts_);
}

std::vector<RankFact> Identity::all_facts() const {
  std::vector<RankFact> all = facts_;
  all.insert(all.end(), stop_.begin(), stop_.end());
  return all;
}

}  // namespace lockstep
