#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/assignment.hpp"
#include "core/engine/graph.hpp"

namespace lockstep {

struct PartitionOptions {
  int ranks = 1;
  int threads = 1;
  /// Cost by component, as --profile measures it; empty: the weights of the graph.
  std::vector<double> weights = {};
  /// A component that must live on rank 0, because it works with rank 0's files; none: no such.
  ComponentId on_rank_0 = ComponentId::none();
};

/// Components to ranks: where the graph has groups, such as GPUs, whole groups to ranks, or as many
/// ranks to each as its weight says if there are more; then those of a group to its ranks by METIS,
/// so that ranks carry the same weight, of each kind and in all, and
/// little traffic crosses; then to the threads of each rank by longest processing time.  The same
/// on every rank and in every run.  Throws UserError if there are more ranks than components.
Assignment partition(const Graph& graph, const PartitionOptions& options);
inline Assignment partition(const Graph& graph, int ranks, int threads,
                            ComponentId on_rank_0 = ComponentId::none()) {
  return partition(graph, {.ranks = ranks, .threads = threads, .on_rank_0 = on_rank_0});
}

/// Returns the assignment of whole groups to as many ranks; nothing where there are not several.
std::optional<Assignment> partition_by_groups(const Graph& graph,
                                              ComponentId on_rank_0 = ComponentId::none());

/// Returns any assignment that gives each rank at least one component: results must not depend on
/// it.
Assignment random_assignment(const Graph& graph, int ranks, int threads, std::uint64_t seed,
                             ComponentId on_rank_0 = ComponentId::none());

/// Links that are cut between one rank and another.
struct RankCut {
  int from = 0, to = 0;
  std::uint64_t links = 0;
  double weight = 0;  ///< of the cut links
  Time lookahead;     ///< least latency of the cut links
  LinkId shortest;    ///< the first link that has it
};

/// Cuts of every pair of ranks, sorted by (from, to); pairs without a link are left out.
std::vector<RankCut> rank_cuts(const Graph& graph, const Assignment& assignment);

/// Describes who gets what, which links are cut, and how far ahead each rank may run of each
/// other.  `weights`: as in PartitionOptions.
std::string describe_partition(const Graph& graph, const Assignment& assignment,
                               const std::vector<double>& weights = {});

}  // namespace lockstep
