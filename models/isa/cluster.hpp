/// Thread block clusters: shapes, ranks, and addresses of their shared memory.
///
/// The blocks of a cluster are neighbours in the grid; a block's rank counts them, x fastest. An
/// address of shared memory of a cluster has 32 bits, or the base of the shared window in front as
/// a generic one: `(code << 18) | offset`.  Code 0 is the block that uses the address, code r + 1
/// the block of rank r; the offset counts from the first byte of that block's shared memory.  So an
/// address of the block's own shared memory is also an address of the cluster, and all codes lie in
/// the window.
/// Source: PTX ISA 8.x, "Clusters", "mapa", "getctarank", "Performance-Tuning Directives:
/// Cluster"; modern-isa.md, section 3.7.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/isa/types.hpp"

namespace lockstep::isa {

/// Blocks along x, y and z of a cluster.
using ClusterShape = std::array<std::uint32_t, 3>;
inline constexpr ClusterShape no_cluster{1, 1, 1};

constexpr std::uint64_t blocks_of(const ClusterShape& shape) {
  return std::uint64_t{shape[0]} * shape[1] * shape[2];
}
/// Returns the rank in its cluster of the block with these coordinates in the grid.
constexpr std::uint32_t cluster_rank(const std::array<std::uint32_t, 3>& block,
                                     const ClusterShape& shape) {
  return block[0] % shape[0] + shape[0] * (block[1] % shape[1] + shape[1] * (block[2] % shape[2]));
}
/// Returns the coordinates in the grid of the block of that rank, in the cluster of `block`.
constexpr std::array<std::uint32_t, 3> block_of_rank(const std::array<std::uint32_t, 3>& block,
                                                     const ClusterShape& shape,
                                                     std::uint32_t rank) {
  return {block[0] - block[0] % shape[0] + rank % shape[0],
          block[1] - block[1] % shape[1] + rank / shape[0] % shape[1],
          block[2] - block[2] % shape[2] + rank / shape[0] / shape[1]};
}

/// Place in shared memory of a block of the cluster.
struct ClusterAddress {
  static constexpr unsigned offset_bits = 18;
  static constexpr std::uint32_t block_bytes = 1u << offset_bits;
  static constexpr std::uint32_t own = 0;  ///< code of the block that uses the address
  /// Code beyond all ranks, for a block that no cluster has.
  static constexpr std::uint32_t last_code =
      static_cast<std::uint32_t>(shared_window_bytes >> offset_bits) - 1;
  static constexpr std::uint32_t most_blocks = 16, most_portable_blocks = 8;

  std::uint32_t code = own, offset = 0;

  constexpr std::uint32_t packed() const { return code << offset_bits | offset; }
  /// Precondition: the address lies in the shared window, less its base.
  static constexpr ClusterAddress unpack(std::uint32_t address) {
    return {address >> offset_bits, address & (block_bytes - 1)};
  }
  /// Returns the same place in the block of a rank (mapa).
  static constexpr std::uint32_t in_block(std::uint32_t address, std::uint32_t rank) {
    return ClusterAddress{std::min(rank, last_code - 1) + 1, address & (block_bytes - 1)}.packed();
  }
  /// Returns the rank of the block that the address is in, for the block of rank `own_rank`.
  constexpr std::uint32_t rank(std::uint32_t own_rank) const {
    return code == own ? own_rank : code - 1;
  }
};
static_assert(ClusterAddress::most_blocks < ClusterAddress::last_code);

}  // namespace lockstep::isa
