#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/noc/ids.hpp"
#include "models/sm/parameters/sm_cycle.hpp"

namespace lockstep {

struct Warp;

/// Where bytes of a bulk copy for blocks of a cluster come from.
enum class Sender : std::uint8_t {
  sm,  ///< shared memory of a block
  l2,  ///< L2, once for all blocks of the cluster
};

/// Deliverer of the bytes that a bulk copy has brought for blocks of a cluster.
class Deliveries {
 public:
  virtual ~Deliveries() = default;
  /// Throws a Mistake unless the warp's cluster has a block for every rank in `mask`.
  virtual void require_ranks(const Warp& warp, unsigned lane, std::uint32_t mask) const = 0;
  static constexpr std::uint32_t none_yet = ~std::uint32_t{0};
  /// Writes the bytes to `shared` in each block whose rank is in `mask`, and then completes
  /// `completes` transactions of the mbarrier at `barrier` there; none_yet: more bytes of the copy
  /// follow.  `lane` and `pc`: lane and instruction of the copy.
  virtual void deliver(WarpSlot slot, std::uint32_t pc, unsigned lane, std::uint32_t mask,
                       std::uint32_t shared, std::span<const std::byte> bytes,
                       std::uint32_t completes, std::uint32_t barrier, Sender sender,
                       SmCycle now) = 0;
};

}  // namespace lockstep
