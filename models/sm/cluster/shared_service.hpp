/// Shared memory of the SM's blocks, as seen by other SMs of the GPC.
///
/// The SM reads or writes the bytes when the message comes, in the order of messages.  The answer
/// leaves at once, with the time that the access has waited for the banks.
/// Source: modern-isa.md, section 5.8; architecture.md, section 8, rules 1 and 2.
#pragma once

#include <cstdint>
#include <span>

#include "models/sm/cluster/arrivals.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/parameters/sm_context.hpp"
#include "models/sm/ports/sm_ports.hpp"

namespace lockstep {

/// Reason why an operation on an mbarrier is refused; payload of a ClusterAnswer that is
/// `mistaken`.
struct MbarrierRefusal {
  std::uint32_t lane = 0;  ///< number of the lane in the access
  std::uint32_t offset = 0;
  std::uint64_t word = 0;
  std::uint64_t count = 0;
  std::uint64_t operation = 0;  ///< value of AtomicOperation
};

class SharedService {
 public:
  SharedService(const SmContext& sm, FrontEnd& front_end, ClusterBlocks& members,
                Arrivals& arrivals)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        ports_(sm.ports),
        front_end_(front_end),
        members_(members),
        arrivals_(arrivals) {}

  /// An access of another SM has come.
  void serve(const ClusterAccess& access, std::span<const std::byte> payload, SmCycle now);
  /// Executes an access to shared memory of the block. `answer`: room for the values that it
  /// returns. Returns why an operation on an mbarrier is refused, if one is.
  std::optional<MbarrierRefusal> execute(BlockPlace place, const ClusterAccess& access,
                                         std::span<const std::byte> payload, std::byte* answer,
                                         SmCycle now);

 private:
  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  FrontEnd& front_end_;
  ClusterBlocks& members_;
  Arrivals& arrivals_;
};

/// Returns the cycles that these accesses take the banks: the largest number of different words in
/// one bank.
unsigned bank_cycles(std::span<const std::uint32_t> offsets, unsigned lane_bytes, unsigned banks);
/// Returns how many bytes these accesses move, in whole sectors of 32 bytes.
unsigned sector_bytes_of(std::span<const std::uint32_t> offsets, unsigned lane_bytes);

}  // namespace lockstep
