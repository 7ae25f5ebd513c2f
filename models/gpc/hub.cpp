#include "models/gpc/hub.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"

namespace lockstep {

Hub::Hub(Setup setup)
    : clock_(setup.clock),
      flit_bytes_(setup.parameters.flit_bytes),
      first_sm_(setup.first_sm),
      tenants_(std::move(setup.tenants)),
      to_sms_(std::move(setup.to_sms)),
      ports_(to_sms_.size(), ClusterPort(setup.parameters)),
      residency_(static_cast<std::uint32_t>(to_sms_.size())) {
  set_tenants(statistics_, tenants_.size());
}

void Hub::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  for (const MessageHeader* message : inbox) {
    LOCKSTEP_CHECK(message->arrival < horizon, "a hub got a message of a later window");
    take(*message, outbox);
  }
}

void Hub::take(const MessageHeader& message, Outbox& outbox) {
  const Time now = message.arrival;
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::cluster_joins:
      return join(message.body<ClusterBlock>(), now, outbox);
    case MessageKind::cluster_access: {
      const auto& access = message.body<ClusterAccess>();
      HubStatistics::OfTenant& counts = statistics_.tenant[access.tenant];
      ++counts.accesses;
      counts.bytes += std::uint64_t{access.flits} * flit_bytes_;
      Cluster& cluster = cluster_of(access.grid, access.cluster);
      if (access.mask == 0) return pass(cluster, access, message.payload(), now, outbox);
      for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
        ClusterAccess one = access;
        one.target = static_cast<std::uint8_t>(std::countr_zero(left));
        pass(cluster, one, message.payload(), now, outbox);
      }
      return;
    }
    case MessageKind::cluster_answer: {
      const auto& answer = message.body<ClusterAnswer>();
      statistics_.tenant[answer.tenant].bytes += std::uint64_t{answer.flits} * flit_bytes_;
      return send(answer.sm, MessageKind::cluster_answer, answer, message.payload(), answer.flits,
                  now, outbox);
    }
    case MessageKind::cluster_arrives: {
      const auto& block = message.body<ClusterBlock>();
      Cluster& cluster = cluster_of(block.grid, block.cluster);
      cluster.arrived |= bit_of_rank(block.rank);
      return release_if_complete(cluster, now, outbox);
    }
    case MessageKind::cluster_moves:
      return move(message.body<ClusterMove>(), now, outbox);
    case MessageKind::cluster_ends:
      return end(message.body<ClusterBlock>(), now, outbox);
    default:
      internal_error(__FILE__, __LINE__, "message", "a hub got a message it does not know");
  }
}

Hub::Cluster* Hub::find(std::uint32_t grid, std::uint64_t number) {
  const auto found = std::ranges::find_if(clusters_, [&](const Cluster& cluster) {
    return cluster.grid == grid && cluster.number == number;
  });
  return found == clusters_.end() ? nullptr : &*found;
}

Hub::Cluster& Hub::cluster_of(std::uint32_t grid, std::uint64_t number) {
  Cluster* const cluster = find(grid, number);
  LOCKSTEP_CHECK(cluster != nullptr, "a message names an unknown cluster");
  return *cluster;
}

ClusterBlock Hub::block_of(const Cluster& cluster, unsigned rank) {
  ClusterBlock block;
  block.cluster = cluster.number;
  block.grid = cluster.grid;
  block.sm = cluster.sm[rank];
  block.rank = static_cast<std::uint8_t>(rank);
  block.size = cluster.size;
  block.tenant = cluster.tenant;
  return block;
}

Hub::Cluster& Hub::cluster_with(const ClusterBlock& block, Time now) {
  if (Cluster* const known = find(block.grid, block.cluster)) return *known;
  Cluster& cluster = clusters_.emplace_back();
  cluster.number = block.cluster;
  cluster.grid = block.grid;
  cluster.tenant = block.tenant;
  cluster.size = block.size;
  ++statistics_.tenant[block.tenant].clusters;
  residency_.begin(block, cycle_at(now), statistics_);
  return cluster;
}

void Hub::forget(Cluster& cluster, Time now) {
  residency_.end(cluster.grid, cycle_at(now), statistics_);
  clusters_.erase(clusters_.begin() + (&cluster - clusters_.data()));
}

void Hub::pass_early(Cluster& cluster, Time now, Outbox& outbox) {
  std::deque<Early> early;
  early.swap(cluster.early);
  for (const Early& one : early) pass(cluster, one.access, one.payload, now, outbox);
}

void Hub::join(const ClusterBlock& block, Time now, Outbox& outbox) {
  Cluster& cluster = cluster_with(block, now);
  cluster.joined |= bit_of_rank(block.rank);
  cluster.sm[block.rank] = block.sm;
  residency_.has_room(block, cycle_at(now), statistics_);
  pass_early(cluster, now, outbox);
  if (cluster.departure.state == Departure::State::stopping)
    tell(cluster, block.rank, ClusterMoveStep::stop, cluster.departure.technique, now, outbox);
}

void Hub::pass(Cluster& cluster, const ClusterAccess& access, std::span<const std::byte> payload,
               Time now, Outbox& outbox) {
  const std::uint32_t target = bit_of_rank(access.target);
  HubStatistics::OfTenant& counts = statistics_.tenant[access.tenant];
  if ((cluster.ended & target) != 0) {
    ++counts.refused;
    ClusterAnswer refusal;
    refusal.tag = access.tag;
    refusal.sm = access.sm;
    refusal.tenant = access.tenant;
    refusal.status = ClusterAnswerStatus::block_has_ended;
    return send(access.sm, MessageKind::cluster_answer, refusal, {}, 1, now, outbox);
  }
  if ((cluster.joined & target) == 0) {
    cluster.early.push_back({access, {payload.begin(), payload.end()}});
    return;
  }
  send(cluster.sm[access.target], MessageKind::cluster_access, access, payload, access.flits, now,
       outbox, access.multicast != 0);
}

/// Ends a block, which may end with its tenant before it has begun.  A block that may leave leaves,
/// whatever its threads do.
void Hub::end(const ClusterBlock& block, Time now, Outbox& outbox) {
  Cluster& cluster = cluster_with(block, now);
  if (cluster.leaves()) return;
  cluster.ended |= bit_of_rank(block.rank);
  pass_early(cluster, now, outbox);
  if (cluster.ended != cluster.all()) return release_if_complete(cluster, now, outbox);
  for (unsigned rank = 0; rank < cluster.size; ++rank)
    if ((cluster.joined & bit_of_rank(rank)) != 0)
      send(cluster.sm[rank], MessageKind::cluster_over, block_of(cluster, rank), {}, 1, now,
           outbox);
  forget(cluster, now);
}

void Hub::release_if_complete(Cluster& cluster, Time now, Outbox& outbox) {
  if (cluster.leaves() || cluster.arrived == 0 ||
      (cluster.arrived | cluster.ended) != cluster.all())
    return;
  cluster.arrived = 0;
  ++statistics_.tenant[cluster.tenant].barriers;
  for (unsigned rank = 0; rank < cluster.size; ++rank)
    if ((cluster.ended & bit_of_rank(rank)) == 0)
      send(cluster.sm[rank], MessageKind::cluster_released, block_of(cluster, rank), {}, 1, now,
           outbox);
}

StatisticsView Hub::statistics(Time now) {
  residency_.count(cycle_at(now), statistics_);
  statistics_.clusters_there = clusters_.size();
  return statistics_view(statistics_);
}

void Hub::take_grid_counts(Time now, std::vector<GridContribution>& taken) {
  residency_.count(cycle_at(now), statistics_);
  residency_.take(taken);
}

static std::string ranks_in(std::uint32_t mask) {
  std::string text;
  for (; mask != 0; mask &= mask - 1)
    text += (text.empty() ? "" : ", ") + std::to_string(std::countr_zero(mask));
  return text;
}

std::string Hub::waiting_for() const {
  std::string text;
  for (const Cluster& cluster : clusters_) {
    if (cluster.arrived == 0) continue;
    const std::uint32_t missing = cluster.all() & ~(cluster.arrived | cluster.ended);
    text += (text.empty() ? "" : "; ") + std::string("cluster ") + std::to_string(cluster.number) +
            " of grid " + std::to_string(cluster.grid) + " of tenant " + tenants_[cluster.tenant] +
            " waits at barrier.cluster for threads of rank " + ranks_in(missing) +
            "; those of rank " + ranks_in(cluster.arrived) + " are there";
  }
  return text;
}

void Hub::serialize(Archive& archive) {
  archive.section("hub", 3);
  archive(to_sms_, ports_, clusters_, residency_, statistics_);
}

}  // namespace lockstep
