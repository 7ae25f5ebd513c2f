/// Accesses of the SM's warps to shared memory of other blocks of their clusters.
///
/// The lanes of an instruction that name one block go to the hub in one message, in the order of
/// issue, and each message gets an answer.  A load, or an atomic that returns a value, is a flight
/// until the answer comes.  Stores and other atomics count as unacknowledged stores: a release
/// waits for them, and so does the end of their block.
/// Source: modern-isa.md, sections 3.7 and 5.8; architecture.md, section 8, rules 2, 4 and 5.
///
/// Simplified: the next release also waits for stores of st.async.
///
/// Cost model: a message occupies the port to the hub for its flits of data, and the path from the
/// SM's warps to shared memory for as long.  Its answer can be used `noc.hub.service_latency` after
/// it has come, and later by the time that the access has waited for banks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/memory/slot_pool.hpp"
#include "models/isa/cluster.hpp"
#include "models/sm/access/coalescer.hpp"
#include "models/sm/blocks/mistakes.hpp"
#include "models/sm/bulk/deliveries.hpp"
#include "models/sm/cluster/cluster_blocks.hpp"
#include "models/sm/cluster/shared_service.hpp"
#include "models/sm/load_store/flights.hpp"
#include "models/sm/parameters/sm_context.hpp"

namespace lockstep {

class RemoteAccesses final : public Deliveries {
 public:
  RemoteAccesses(const SmContext& sm, FrontEnd& front_end, Flights& flights, ClusterBlocks& members,
                 SharedService& service)
      : constants_(sm.constants),
        blocks_(sm.blocks),
        ports_(sm.ports),
        mistakes_(sm.mistakes),
        front_end_(front_end),
        flights_(flights),
        members_(members),
        service_(service) {}

  /// Addresses in shared memory of the cluster, by lane.
  using Addresses = std::array<std::uint32_t, isa::warp_size>;

  /// Returns the lanes whose addresses lie in blocks other than the warp's.
  std::uint32_t lanes_elsewhere(const Warp& warp, std::uint32_t lanes,
                                const Addresses& address) const;
  /// Throws a Mistake if a lane names a block outside of the cluster, or a place that the block
  /// does not have.
  void require_right(const Warp& warp, std::uint32_t lanes, const Addresses& address,
                     unsigned bytes) const;
  /// Sends the lanes' accesses to other blocks. `flight`: the load or atomic that waits for the
  /// answers, if there is one.
  void issue(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t lanes,
             const Addresses& address, std::uint16_t flight, SmCycle now);
  /// Issues st.async or red.async.
  void issue_async(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t lanes,
                   SmCycle now);
  /// Issues a bulk copy from the block's shared memory to that of another block of its cluster.
  void issue_copies(WarpSlot slot, const isa::Instruction& instruction, std::uint32_t lanes,
                    SmCycle now);
  void require_ranks(const Warp& warp, unsigned lane, std::uint32_t mask) const override;
  void deliver(WarpSlot slot, std::uint32_t pc, unsigned lane, std::uint32_t mask,
               std::uint32_t shared, std::span<const std::byte> bytes, std::uint32_t completes,
               std::uint32_t barrier, Sender sender, SmCycle now) override;
  void answered(const ClusterAnswer& answer, std::span<const std::byte> payload, SmCycle now);

  std::string waiting_for() const;
  void serialize(Archive& archive) {
    archive.section("sm/remote_accesses", 1);
    archive(pending_);
  }

 private:
  struct Pending {
    std::uint32_t pc = 0, lanes = 0;
    std::uint32_t phase = 0;  ///< phase of the block when the access was issued
    std::uint16_t flight = Flights::none;
    std::uint8_t warp = 0;
    std::uint8_t target = 0;    ///< rank of the target block
    std::uint8_t is_store = 0;  ///< true: counted as a store
    std::uint8_t answers = 1;   ///< answers still to come

    template <class A>
    void serialize(A& archive) {
      archive(pc, lanes, phase, flight, warp, target, is_store, answers);
    }
  };

  struct Parts {
    const Addresses* address = nullptr;
    /// Addresses of barriers, for accesses that complete transactions.
    const Addresses* barrier = nullptr;
    const std::byte* data = nullptr;  ///< data by lane
  };
  /// Returns the access for all lanes of the instruction, without the parts that a target adds.
  ClusterAccess access_of(const Warp& warp, const isa::Instruction& instruction) const;
  void send(WarpSlot slot, ClusterAccess access, std::uint32_t lanes, const Parts& parts,
            std::uint16_t flight, SmCycle now);
  /// Executes an access to the warp's own block.
  void execute_here(const Warp& warp, const ClusterAccess& access,
                    std::span<const std::byte> payload, std::uint32_t lanes, SmCycle now);
  std::size_t fill(std::byte* payload, const ClusterAccess& access, std::uint32_t lanes,
                   const Parts& parts) const;
  /// Notes an access that is answered `answers` times. Returns its tag.
  std::uint16_t begin(WarpSlot slot, std::uint32_t pc, std::uint32_t lanes, bool is_store,
                      unsigned answers);
  void count(const Warp& warp, std::uint64_t bytes);
  void report(const Warp& warp, std::uint32_t pc, std::uint32_t lanes,
              const MbarrierRefusal& refusal, SmCycle now);

  const SmConstants& constants_;
  ResidentBlocks& blocks_;
  SmPorts& ports_;
  Mistakes& mistakes_;
  FrontEnd& front_end_;
  Flights& flights_;
  ClusterBlocks& members_;
  SharedService& service_;
  SlotPool<Pending> pending_;
};

}  // namespace lockstep
