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
  /// Component that must be on rank 0, because it uses rank 0's files; none: there is no such
  /// component.
  ComponentId on_rank_0 = ComponentId::none();
};

/// Assigns components to ranks and threads.  Groups of the graph, such as GPUs, go to ranks as a
/// whole, or get several ranks by their weight if there are more ranks.  METIS then divides a group
/// among its ranks, so that the weights of ranks are equal, for each kind and in total, and little
/// traffic crosses.  Threads of a rank get components by longest processing time.  The result is
/// equal on every rank and in every run.  Throws UserError if there are more ranks than components.
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

/// Links cut between one rank and another.
struct RankCut {
  int from = 0, to = 0;
  std::uint64_t links = 0;
  double weight = 0;  ///< weight of the cut links
  Time lookahead;     ///< least latency of the cut links
  LinkId shortest;    ///< first link with the least latency
};

/// Cuts of every pair of ranks, sorted by (from, to); pairs without a link are left out.
std::vector<RankCut> rank_cuts(const Graph& graph, const Assignment& assignment);

/// Describes the components of each rank, the cut links, and how far each rank may run ahead of the
/// others.  `weights`: as in PartitionOptions.
std::string describe_partition(const Graph& graph, const Assignment& assignment,
                               const std::vector<double>& weights = {});

}  // namespace lockstep
