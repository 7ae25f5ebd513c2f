#include "models/memory/dram_scheduler/tcm/tcm.hpp"

#include "models/memory/dram_scheduler/tcm/rank_shuffle.hpp"

namespace lockstep {

Tcm::Tcm(const PartitionPolicySetup& setup, First first)
    : OrderedScheduler(setup.parameters.dram, setup.choice.parameters<TcmParameters>().age_limit),
      cpu_first_(first == First::cpu),
      interval_(setup.choice.parameters<TcmParameters>().shuffle_interval.count()),
      seed_(setup.seed),
      clock_(setup.parameters.dram.clock),
      monitor_(setup.parameters.dram.banks, setup.tenants),
      ranks_(setup.tenants) {
  set_tenants(statistics_, setup.tenants);
}

bool Tcm::update(const DramQueue&, DramCycle now) {
  if (now >= next_shuffle_) {
    const auto step = static_cast<std::uint64_t>((now - since_) / interval_);
    shuffle(step);
    next_shuffle_ = since_ + static_cast<std::int64_t>(step + 1) * interval_;
    ++statistics_.shuffles;
    return true;
  }
  return std::exchange(ranks_changed_, false);
}

void Tcm::on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time now) {
  if (topic != EpochTopic::dram_scheduler) return;
  decision_ = TcmDecision::from(values);
  since_ = clock_.at_or_after(now);
  shuffle(0);
  ranks_changed_ = true;
  next_shuffle_ = decision_.bandwidth_cluster > 1 ? since_ + interval_ : DramCycle::never();
  for (std::size_t i = decision_.bandwidth_cluster; i < decision_.order.size(); ++i)
    ++statistics_.latency_quanta[decision_.order[i]];
}

/// Computes the ranks of an interval of the decision.
void Tcm::shuffle(std::uint64_t step) {
  order_ = decision_.order;
  const auto cluster = std::span(order_).first(decision_.bandwidth_cluster);
  if (decision_.insertion) {
    shuffle_by_insertion(cluster, step);
  } else {
    shuffle_at_random(cluster, seed_, static_cast<std::uint64_t>(since_.value()) + step);
  }
  for (std::size_t i = 0; i < order_.size(); ++i) {
    ranks_[order_[i]] = static_cast<std::uint16_t>(i);
    statistics_.rank[order_[i]] = i;
  }
}

void Tcm::serialize(Archive& archive) {
  archive(monitor_, decision_, since_, next_shuffle_, ranks_changed_, ranks_, statistics_);
}

PolicyRegistry<DramSchedulerFactory>::Row tcm_row(
    const char* name, const char* doc,
    std::unique_ptr<DramScheduler> (*make)(const PartitionPolicySetup&)) {
  return {name,
          doc,
          {make,
           [](const EpochControllerSetup& setup) -> std::unique_ptr<EpochController> {
             const auto& p = setup.choice.parameters<TcmParameters>();
             return std::make_unique<TcmClusters>(setup.cycle * p.quantum.count(),
                                                  p.cluster_threshold, setup.tenants);
           },
           &statistics_schema_of<TcmStatistics>},
          &schema_of<TcmParameters>()};
}

PolicyRegistry<DramSchedulerFactory>::Row tcm_scheduler() {
  return tcm_row("tcm",
                 "tenants that ask little first, the others in changing order (004, section 5.4.4)",
                 [](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
                   return std::make_unique<Tcm>(setup, Tcm::First::anybody);
                 });
}

}  // namespace lockstep
