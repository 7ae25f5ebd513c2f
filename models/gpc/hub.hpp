/// Hub of a GPC, which passes on the messages of its SMs about thread block clusters.
///
/// All blocks of a cluster are in one GPC.  The hub is told the SM of each block and the end of its
/// threads.  It passes accesses to shared memory on to the SM of the named block, and answers back;
/// it counts the blocks whose threads are all at the cluster's barrier; and it reports when the
/// threads of all blocks have ended, since their shared memory is needed until then.  An access to
/// a block that has ended is refused; an access to a block that has not begun waits. Messages from
/// one SM to another arrive in the order in which they were sent.  A cluster that must make room
/// leaves its SMs when the hub knows that nothing of it is in flight (hub_moves.cpp).
/// Source: modern-isa.md, section 5.8; architecture.md, section 8 "Horizons and ranks" (a hub's
/// real distance).
///
/// Simplified: a message passes at once if the port to the other SM is free. Any number of messages
/// may wait for a port, since an SM's own port limits how much it sends.
///
/// Cost model: two links of `noc.hub.link_latency`, and a port to each SM that a flit occupies for
/// `flit_half_cycles`.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/engine/component.hpp"
#include "core/engine/link.hpp"
#include "core/engine/outbox.hpp"
#include "models/gpc/cluster_residency.hpp"
#include "models/gpc/hub_statistics.hpp"
#include "models/noc/cluster_messages.hpp"
#include "models/noc/cluster_port.hpp"
#include "models/noc/grid_counts.hpp"

namespace lockstep {

class Hub final : public Component, public GridCounter {
 public:
  struct Setup {
    Frequency clock;  ///< clock of the network
    HubParameters parameters;
    std::uint32_t first_sm = 0;
    std::vector<Link> to_sms;  ///< links to the SMs of the GPC
    std::vector<std::string> tenants;
  };
  explicit Hub(Setup setup);

  Time next_activity() const override { return Time::never(); }
  void advance(Time horizon, Inbox inbox, Outbox& outbox) override;
  void serialize(Archive& archive) override;
  StatisticsView statistics(Time now) override;
  void take_grid_counts(Time now, std::vector<GridContribution>& taken) override;
  bool finished() const override { return clusters_.empty(); }
  std::string waiting_for() const override;

 private:
  /// Access to a block that is yet to begin.
  struct Early {
    ClusterAccess access;
    std::vector<std::byte> payload;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(access, payload);
    }
  };
  /// A cluster that is to make room.
  struct Departure {
    enum class State : std::uint8_t { none, stopping, leaving };
    State state = State::none;
    Technique technique = Technique::drain;  ///< save or flush
    /// Technique where the cluster cannot be flushed: save or drain.
    Technique otherwise = Technique::save;
    bool idempotent = true;   ///< true: no block has reported that it cannot be flushed
    std::uint32_t those = 0;  ///< quiet blocks; when leaving, blocks that have left

    template <class Archive>
    void serialize(Archive& archive) {
      archive(state, technique, otherwise, idempotent, those);
    }
  };
  /// Cluster with blocks here.  Bit r of a mask: the block of rank r.
  struct Cluster {
    std::uint64_t number = 0;
    std::uint32_t grid = 0;
    std::uint32_t joined = 0, ended = 0, arrived = 0;
    std::uint16_t tenant = 0;
    std::uint8_t size = 0;
    std::array<std::uint16_t, most_cluster_blocks> sm{};
    std::deque<Early> early;
    Departure departure;

    bool leaves() const { return departure.state == Departure::State::leaving; }
    std::uint32_t all() const { return (1u << size) - 1; }
    template <class Archive>
    void serialize(Archive& archive) {
      archive(number, grid, joined, ended, arrived, tenant, size, sm, early, departure);
    }
  };

  void take(const MessageHeader& message, Outbox& outbox);
  static constexpr std::uint32_t bit_of_rank(unsigned rank) { return 1u << rank; }
  Cluster* find(std::uint32_t grid, std::uint64_t number);
  Cluster& cluster_of(std::uint32_t grid, std::uint64_t number);
  /// Returns the cluster of the block, which may be the cluster's first block.
  Cluster& cluster_with(const ClusterBlock& block, Time now);
  void forget(Cluster& cluster, Time now);
  void pass_early(Cluster& cluster, Time now, Outbox& outbox);
  void join(const ClusterBlock& block, Time now, Outbox& outbox);
  void pass(Cluster& cluster, const ClusterAccess& access, std::span<const std::byte> payload,
            Time now, Outbox& outbox);
  void end(const ClusterBlock& block, Time now, Outbox& outbox);
  void release_if_complete(Cluster& cluster, Time now, Outbox& outbox);
  void move(const ClusterMove& move, Time now, Outbox& outbox);
  /// Lets the blocks of the cluster, all of them quiet, leave or go on.
  void decide(Cluster& cluster, Time now, Outbox& outbox);
  void tell(const Cluster& cluster, unsigned rank, ClusterMoveStep step, Technique technique,
            Time now, Outbox& outbox);
  void tell_all(const Cluster& cluster, ClusterMoveStep step, Technique technique, Time now,
                Outbox& outbox);
  template <class Body>
  void send(std::uint16_t sm, MessageKind kind, const Body& body,
            std::span<const std::byte> payload, std::uint32_t flits, Time now, Outbox& outbox,
            bool multicast = false) {
    const std::uint32_t index = sm - first_sm_;
    const Time at = ports_[index].reserve(flits, now, clock_, multicast);
    outbox.send(to_sms_[index], at, kind_of(kind), body, payload);
  }
  static ClusterBlock block_of(const Cluster& cluster, unsigned rank);
  std::int64_t cycle_at(Time now) const { return clock_.cycle_at_or_before(now).count(); }

  const Clock clock_;
  const std::uint32_t flit_bytes_;
  const std::uint32_t first_sm_;
  const std::vector<std::string> tenants_;
  std::vector<Link> to_sms_;
  std::vector<ClusterPort> ports_;  ///< port to each SM
  std::vector<Cluster> clusters_;   ///< clusters in the order in which they began
  ClusterResidency residency_;
  HubStatistics statistics_;
};

}  // namespace lockstep
