#pragma once

#include <string>
#include <vector>

#include "core/exec/rank_facts.hpp"
#include "core/parameters/node.hpp"
#include "jobs/options.hpp"
#include "models/workload/scenario.hpp"

namespace lockstep {

/// Identity of a run: everything on which its result depends.  That is the program, options that
/// change state, every value of the resolved scenario with the host programs and initial content of
/// its workloads, and the bytes of modules and data.  Paths, ranks and threads are no part of it.
class Identity {
 public:
  /// Makes the identity.  `document`: the document of the scenario; tenants that the scenario lacks
  /// do not count.
  Identity(const CommandLine& line, const Node& document, const Scenario& scenario,
           const Node& configuration);

  /// Returns a digest that is equal for runs with equal final files.
  const std::string& digest() const { return digest_; }
  /// Returns the digest of facts().
  const std::string& run_digest() const { return run_digest_; }
  /// Returns all facts but when the run is to stop, which a resumed run may change.
  const std::vector<RankFact>& facts() const { return facts_; }
  /// Returns all facts, including when the run is to stop.
  std::vector<RankFact> all_facts() const;

 private:
  std::vector<RankFact> facts_, stop_;
  std::string digest_, run_digest_;
};

/// Returns a text such as "version 0.1.0 of the sources 0123456789abcdef": the digest tells builds
/// apart.
std::string program_version();
/// Returns the commit, with "+" if sources had changed since; "unknown" outside of a repository.
std::string program_revision();
/// Returns a text such as "Release by GNU 12.2.0".
std::string program_build();
/// Returns when a run with this configuration is to stop: a fact, or none.
std::vector<RankFact> stop_in(const std::string& configuration);
/// Adds every value of `node` with its dotted name.
void add_values(const Node& node, std::vector<RankFact>& facts);
/// Returns "bytes with the digest ..." of a file.
std::string digest_of(const std::string& file);

}  // namespace lockstep
