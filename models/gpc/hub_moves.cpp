/// Clusters that leave the SMs of the GPC (models/sm/cluster/cluster_departures.hpp).
#include "core/error/error.hpp"
#include "models/gpc/hub.hpp"

namespace lockstep {

void Hub::tell(const Cluster& cluster, unsigned rank, ClusterMoveStep step, Technique technique,
               Time now, Outbox& outbox) {
  ClusterMove move;
  move.block = block_of(cluster, rank);
  move.step = step;
  move.technique = technique;
  send(cluster.sm[rank], MessageKind::cluster_moves, move, {}, 1, now, outbox);
}

void Hub::tell_all(const Cluster& cluster, ClusterMoveStep step, Technique technique, Time now,
                   Outbox& outbox) {
  for (unsigned rank = 0; rank < cluster.size; ++rank)
    if ((cluster.joined & bit_of_rank(rank)) != 0)
      tell(cluster, rank, step, technique, now, outbox);
}

/// A cluster may be over before the SM that asks has heard so.
void Hub::move(const ClusterMove& move, Time now, Outbox& outbox) {
  Cluster* const cluster = find(move.block.grid, move.block.cluster);
  if (cluster == nullptr) return;
  Departure& departure = cluster->departure;
  const std::uint32_t block = bit_of_rank(move.block.rank);
  switch (move.step) {
    case ClusterMoveStep::ask:
      if (departure.state != Departure::State::none) return;
      departure = {Departure::State::stopping, move.technique, Technique::save, true, 0};
      return tell_all(*cluster, ClusterMoveStep::stop, move.technique, now, outbox);
    case ClusterMoveStep::quiet:
      departure.those |= block;
      departure.idempotent &= move.idempotent != 0;
      if (move.technique == Technique::drain) departure.otherwise = Technique::drain;
      if (departure.those == cluster->all()) decide(*cluster, now, outbox);
      return;
    case ClusterMoveStep::left:
      departure.those |= block;
      if (departure.those == cluster->all()) forget(*cluster, now);
      return;
    default:
      internal_error(__FILE__, __LINE__, "message", "a hub was told of a step that it tells of");
  }
}

void Hub::decide(Cluster& cluster, Time now, Outbox& outbox) {
  Departure& departure = cluster.departure;
  HubStatistics::OfTenant& counts = statistics_.tenant[cluster.tenant];
  const bool flushes = departure.technique == Technique::flush && departure.idempotent;
  const Technique technique = flushes ? Technique::flush : departure.otherwise;
  if (technique == Technique::drain) {
    ++counts.kept;
    departure = {};
    return tell_all(cluster, ClusterMoveStep::stay, technique, now, outbox);
  }
  flushes ? ++counts.flushed : ++counts.saved;
  departure.state = Departure::State::leaving;
  departure.those = 0;
  tell_all(cluster, ClusterMoveStep::go, technique, now, outbox);
}

}  // namespace lockstep
