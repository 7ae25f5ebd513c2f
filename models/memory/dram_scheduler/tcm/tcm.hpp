/// Thread cluster memory scheduling in a channel: requests of higher-ranked tenants go first, then
/// row hits, then older requests.
///
/// Tenants of the latency cluster rank above those of the bandwidth cluster, whose order is
/// shuffled after each interval.  At the end of each quantum all channels are told the clusters and
/// the first order (TcmClusters).
/// Source: 004, sections 5.4.4 and 5.5.4; memory-interference.md, sections 2.4 and 2.5 (Kim et al.,
/// MICRO 2010).
///
/// Simplified: a request that has waited for `age_limit` goes before the others; the sources let
/// row hits of the same tenant starve it.
#pragma once

#include <vector>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/dram_scheduler/ordered_scheduler.hpp"
#include "models/memory/dram_scheduler/tcm/tcm_clusters.hpp"

namespace lockstep {

struct TcmParameters {
  Cycles quantum, shuffle_interval, age_limit;
  double cluster_threshold = 0;
  static auto schema() {
    using namespace literals;
    using P = TcmParameters;
    const auto any = range(0_cycles, 10'000'000'000_cycles);
    return parameters<P>()
        .field("quantum", &P::quantum, 1'000'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "DRAM cycles after which clusters are computed again")
        .field("shuffle_interval", &P::shuffle_interval, 800_cycles,
               range(1_cycles, 10'000'000'000_cycles),
               "DRAM cycles after which the bandwidth cluster has another order")
        .field("cluster_threshold", &P::cluster_threshold, 0.15, range(0.0, 1.0),
               "share of the bandwidth that the latency cluster takes at most")
        .field("age_limit", &P::age_limit, 100'000_cycles, any,
               "DRAM cycles after which a request goes first; 0: never");
  }
};

struct TcmStatistics {
  PerTenant<Counter> latency_quanta;
  PerTenant<Gauge> rank;
  Counter shuffles;
  static auto schema() {
    using S = TcmStatistics;
    return statistics<S>()
        .per_tenant("latency_quanta", &S::latency_quanta, "quanta",
                    "quanta after which the tenant was in the latency cluster")
        .per_tenant("rank", &S::rank, "tenants", "tenants that rank below, after the last shuffle")
        .counter("shuffles", &S::shuffles, "shuffles", "shuffles of the bandwidth cluster");
  }
};

class Tcm final : public OrderedScheduler<Tcm> {
 public:
  enum class First : std::uint8_t { anybody, cpu };
  /// With First::cpu, requests of the CPU go before all of the GPU (CTCM).
  Tcm(const PartitionPolicySetup& setup, First first);

  std::uint32_t key(const DramQueue& queue, std::uint32_t place, bool hit, bool aged) const {
    const DramEntry& entry = queue[place];
    const bool before = cpu_first_ && !is_of_gpu(entry.source);
    return std::uint32_t{before} << 18 | std::uint32_t{aged} << 17 |
           std::uint32_t{ranks_[entry.tenant]} << 1 | std::uint32_t{hit};
  }
  bool update(const DramQueue& queue, DramCycle now);
  DramCycle next_update() const { return next_shuffle_; }

  void on_arrival(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    monitor_.on_arrival(queue[place], now);
  }
  void on_column(const DramQueue& queue, std::uint32_t place, DramCycle) override {
    monitor_.on_column(queue[place]);
  }
  void on_served(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    monitor_.on_served(queue[place], now);
  }

  bool has_report() const override { return monitor_.any(); }
  void report(std::vector<std::uint64_t>& increments) override { monitor_.take(increments); }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time now) override;

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override;

 private:
  void shuffle(std::uint64_t step);

  const bool cpu_first_;
  const std::int64_t interval_;
  const std::uint64_t seed_;
  const DramClock clock_;
  TenantMonitor monitor_;
  TcmDecision decision_;
  DramCycle since_;  ///< time of the decision
  DramCycle next_shuffle_ = DramCycle::never();
  bool ranks_changed_ = false;
  std::vector<std::uint16_t> ranks_;  ///< rank of each tenant; higher goes first
  std::vector<std::uint16_t> order_;  ///< scratch order while ranks are made
  TcmStatistics statistics_;
};

/// Returns a row of the registry.
PolicyRegistry<DramSchedulerFactory>::Row tcm_row(
    const char* name, const char* doc,
    std::unique_ptr<DramScheduler> (*make)(const PartitionPolicySetup&));

}  // namespace lockstep
