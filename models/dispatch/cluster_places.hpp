/// Places for the blocks of a thread block cluster, which start together in one GPC.
///
/// Two blocks at a time go to a pair of SMs (a TPC) with room for one block in each. The last block
/// of an odd number, and blocks for which no pair has room, go to any SM. Among several pairs the
/// one with the fewest blocks comes first, then the one with the lowest numbers. Among GPCs, the
/// cluster goes where its fullest SM would have the fewest blocks; among equal GPCs, to the next in
/// turn. Source: modern-isa.md, section 5.8.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/dispatch/dispatched_grid.hpp"
#include "models/dispatch/sm_mirrors.hpp"
#include "models/noc/topology.hpp"

namespace lockstep {

class ClusterPlaces {
 public:
  ClusterPlaces(const DispatchedGrids& grids, const SmMirrors& sms, const Topology& topology)
      : grids_(grids), sms_(sms), topology_(topology) {}

  /// Returns the SM of each block of a cluster of the grid, by rank; empty: no GPC has room for all
  /// blocks on SMs with `may_have(sm)`.  `first_sm`: the SM whose turn it is.
  std::vector<std::uint32_t> find(const DispatchedGrid& grid, std::uint32_t first_sm,
                                  const std::function<bool(std::uint32_t)>& may_have) const;

 private:
  struct Place {
    std::uint32_t sm = 0, room = 0, blocks = 0;
  };
  /// Returns the SMs of a GPC with their room; a pair stands side by side.
  std::vector<Place> places_in(std::uint32_t gpc, const DispatchedGrid& grid,
                               const std::function<bool(std::uint32_t)>& may_have) const;

  const DispatchedGrids& grids_;
  const SmMirrors& sms_;
  const Topology& topology_;
};

/// Returns the number of clusters of this size that find room at once on empty SMs with
/// `may_have(sm)`, each with places for `on_one` blocks.
std::uint64_t clusters_that_fit(const Topology& topology, std::uint32_t cluster_blocks,
                                std::uint32_t on_one,
                                const std::function<bool(std::uint32_t)>& may_have);
/// Returns how many blocks find room in the GPC that has most, likewise.
std::uint64_t most_blocks_in_a_gpc(const Topology& topology, std::uint32_t on_one,
                                   const std::function<bool(std::uint32_t)>& may_have);

}  // namespace lockstep
