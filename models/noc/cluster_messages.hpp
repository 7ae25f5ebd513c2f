/// Messages of the SMs of a GPC about thread block clusters, which all go through the GPC's hub
/// (models/gpc/hub.hpp).
///
/// The hub knows the SMs of a cluster's blocks: an access names the block by its rank in the
/// cluster, and the answer names the SM.  Messages from one SM to another arrive in order.
/// Source: modern-isa.md, section 5.8.
#pragma once

#include <array>
#include <cstdint>

#include "models/noc/grid_messages.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// Number of blocks that a cluster has at most.
inline constexpr std::uint32_t most_cluster_blocks = 16;

/// Place of a block of a grid among clusters.
struct ClusterRank {
  std::uint64_t cluster = 0;  ///< number of the cluster in the grid, x fastest
  std::uint32_t rank = 0;
};
/// Returns the linear index of the block of that rank in a cluster.
constexpr std::uint64_t block_in_cluster(const GridLaunch& launch, const ClusterRank& place) {
  const auto& [nx, ny, nz] = launch.cluster;
  const std::uint64_t across = launch.blocks[0] / nx, down = launch.blocks[1] / ny;
  const std::uint64_t x = place.cluster % across * nx + place.rank % nx;
  const std::uint64_t y = place.cluster / across % down * ny + place.rank / nx % ny;
  const std::uint64_t z = place.cluster / across / down * nz + place.rank / nx / ny;
  return x + launch.blocks[0] * (y + launch.blocks[1] * z);
}
/// Returns the place of the block with that linear index.
constexpr ClusterRank place_in_cluster(const GridLaunch& launch, std::uint64_t block) {
  const auto& [nx, ny, nz] = launch.cluster;
  const std::uint64_t x = block % launch.blocks[0];
  const std::uint64_t y = block / launch.blocks[0] % launch.blocks[1];
  const std::uint64_t z = block / launch.blocks[0] / launch.blocks[1];
  const std::uint64_t across = launch.blocks[0] / nx, down = launch.blocks[1] / ny;
  return {x / nx + across * (y / ny + down * (z / nz)),
          static_cast<std::uint32_t>(x % nx + nx * (y % ny + ny * (z % nz)))};
}

/// cluster_joins, cluster_arrives, cluster_released, cluster_ends, cluster_over.
struct ClusterBlock {
  std::uint64_t cluster = 0;  ///< number of the cluster in the grid, x fastest
  std::uint32_t grid = 0;
  std::uint16_t sm = 0;  ///< SM of the block
  std::uint8_t rank = 0;
  std::uint8_t size = 0;  ///< number of blocks
  std::uint16_t tenant = 0;
  std::uint16_t places = 0;  ///< cluster_joins: blocks of the grid that an empty SM has room for
  std::array<std::uint16_t, 2> reserved{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(cluster, grid, sm, rank, size, tenant, places);
  }
};
static_assert(sizeof(ClusterBlock) == 24);

/// Steps by which a cluster leaves its SMs as a whole: its blocks stop, and when nothing of any
/// block is in flight, all of them leave.
enum class ClusterMoveStep : std::uint8_t {
  ask,   ///< SM -> hub: a more urgent grid wants the SM; `technique`: save or flush
  stop,  ///< hub -> SM: the block must issue nothing more
  /// SM -> hub: nothing of the block is in flight.  `technique`: what the block can do if it or
  /// another block cannot be flushed; drain: it must stay.
  quiet,
  go,    ///< hub -> SM: nothing of the cluster is in flight; the block leaves by `technique`
  stay,  ///< hub -> SM: the cluster cannot leave; the block goes on
  left,  ///< SM -> hub: the block has left
};

/// cluster_moves.
struct ClusterMove {
  ClusterBlock block;
  ClusterMoveStep step = ClusterMoveStep::ask;
  Technique technique = Technique::drain;
  std::uint8_t idempotent = 0;  ///< quiet: 1: the block may be flushed
  std::array<std::uint8_t, 5> reserved{};
};
static_assert(sizeof(ClusterMove) == 32);

/// Access to shared memory of another block.
enum class ClusterAccessKind : std::uint8_t {
  load,
  store,
  atomic,   ///< atomic, on an mbarrier too
  deliver,  ///< bytes of a bulk copy, side by side; completes `bytes` transactions
};

/// cluster_access.  Payload: for each lane, in order, the 32-bit place in the block's shared memory
/// (an even number of words in all), and if the access `completes`, as many places of mbarriers;
/// then for each lane `lane_bytes` bytes: the data that it stores, or its AtomicWords.  A delivery:
/// the place of the bytes, the place of the mbarrier, then the bytes.
struct ClusterAccess {
  std::uint64_t cluster = 0;
  std::uint32_t grid = 0;
  std::uint32_t tag = 0;    ///< tag of the requester; comes back
  std::uint16_t sm = 0;     ///< SM of the requester
  std::uint8_t target = 0;  ///< rank of the target block
  ClusterAccessKind kind = ClusterAccessKind::load;
  std::uint8_t lanes = 0;
  std::uint8_t lane_bytes = 0;
  std::uint8_t returns = 0;    ///< 1: an atomic that returns old values
  std::uint8_t completes = 0;  ///< 1: each lane completes as many transactions as it writes bytes
  isa::AtomicOperation atomic = isa::AtomicOperation::none;
  isa::Type type = isa::Type::none;
  std::uint8_t elements = 1;
  std::uint8_t flits = 1;   ///< flits of this message
  std::uint32_t bytes = 0;  ///< delivery: transactions completed behind the bytes
  std::uint16_t tenant = 0;
  std::uint16_t mask = 0;      ///< delivery: bit r: to the block of rank r; `target` is unused then
  std::uint8_t multicast = 0;  ///< 1: a delivery that L2 has sent once for all blocks of the mask
  std::array<std::uint8_t, 3> reserved{};

  isa::AtomicShape shape() const { return {atomic, type, elements}; }
  /// Returns where the lanes' bytes begin in the payload.
  std::size_t data_offset() const { return std::size_t{8} * ((lanes * (1u + completes) + 1) / 2); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cluster, grid, tag, sm, target, kind, lanes, lane_bytes, returns, completes, atomic,
            type, elements, flits, bytes, tenant, mask, multicast);
  }
};
static_assert(sizeof(ClusterAccess) == 40);

/// End of an access.
enum class ClusterAnswerStatus : std::uint8_t {
  done,
  block_has_ended,  ///< the hub reports that the block has ended
  /// Mistake on an mbarrier; payload: lane (32 bits) among those of the access, zero, and the word
  /// of the barrier.
  mistaken,
};

/// cluster_answer.  Payload: for a load, the bytes of each lane; for an atomic that returns values,
/// 8 bytes for each AtomicWord.
struct ClusterAnswer {
  std::uint32_t tag = 0;
  std::uint16_t sm = 0;     ///< SM that gets the answer
  std::uint16_t delay = 0;  ///< cycles for which the access waited for shared memory banks
  ClusterAnswerStatus status = ClusterAnswerStatus::done;
  std::uint8_t flits = 1;
  std::uint16_t tenant = 0;
  std::array<std::uint8_t, 4> reserved{};
};
static_assert(sizeof(ClusterAnswer) == 16);

}  // namespace lockstep
