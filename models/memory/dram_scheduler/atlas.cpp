/// Least attained service first: over long periods, the tenant that the memory has served least
/// goes first.
///
/// A tenant attains a cycle of service for each cycle in which a bank works for it, in all channels
/// together. At the end of each quantum what it attained is averaged into its past, and the ranks
/// follow anew. Requests that have waited for long go first, then requests of higher-ranked
/// tenants, then row hits, then older requests. Source: 004, section 5.4.3; memory-interference.md,
/// section 2.3 (Kim et al., HPCA 2010).
///
/// Simplified: a bank works for a tenant from the start of a command for it to the end of that
/// command or of its data.  The past is a whole number of cycles.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/parameters/parameters.hpp"
#include "core/statistics/statistics.hpp"
#include "models/memory/dram_scheduler/bank_service.hpp"
#include "models/memory/dram_scheduler/ordered_scheduler.hpp"

namespace lockstep {
namespace {

struct AtlasParameters {
  Cycles quantum, starve;
  double alpha = 0;
  static auto schema() {
    using namespace literals;
    using P = AtlasParameters;
    return parameters<P>()
        .field("quantum", &P::quantum, 10'000'000_cycles, range(1000_cycles, 10'000'000'000_cycles),
               "DRAM cycles after which ranks are computed again")
        .field("alpha", &P::alpha, 0.875, range(0.0, 1.0), "weight of the quanta before the last")
        .field("starve", &P::starve, 100'000_cycles, range(0_cycles, 10'000'000'000_cycles),
               "DRAM cycles after which a request goes first; 0: never");
  }
};

struct AtlasStatistics {
  PerTenant<Counter> service;
  PerTenant<Gauge> rank;
  static auto schema() {
    using S = AtlasStatistics;
    return statistics<S>()
        .per_tenant(
            "service", &S::service, "cycles",
            "cycles in which banks worked for the tenant, summed over the quanta that have ended")
        .per_tenant("rank", &S::rank, "tenants", "tenants that have attained more service");
  }
};

class Atlas final : public OrderedScheduler<Atlas> {
 public:
  explicit Atlas(const PartitionPolicySetup& setup)
      : OrderedScheduler(setup.parameters.dram, setup.choice.parameters<AtlasParameters>().starve),
        service_(setup.parameters.dram, setup.tenants),
        ranks_(setup.tenants) {
    set_tenants(statistics_, setup.tenants);
  }

  std::uint32_t key(const DramQueue& queue, std::uint32_t place, bool hit, bool aged) const {
    return std::uint32_t{aged} << 17 | std::uint32_t{ranks_[queue[place].tenant]} << 1 | hit;
  }
  bool update(const DramQueue&, DramCycle) { return std::exchange(ranks_changed_, false); }
  DramCycle next_update() const { return DramCycle::never(); }

  void on_row(const DramQueue& queue, std::uint32_t place, DramBanks::Command command,
              DramCycle now) override {
    service_.on_row(queue[place], command, now);
  }
  void on_column(const DramQueue& queue, std::uint32_t place, DramCycle now) override {
    service_.on_column(queue[place], now);
  }

  bool has_report() const override { return service_.any(); }
  void report(std::vector<std::uint64_t>& increments) override {
    service_.take(increments);
    for (std::size_t tenant = 0; tenant < ranks_.size(); ++tenant)
      statistics_.service[tenant] += increments[tenant];
  }
  void on_epoch(EpochTopic topic, std::span<const std::uint64_t> values, Time) override {
    if (topic != EpochTopic::dram_scheduler) return;
    for (std::size_t tenant = 0; tenant < ranks_.size(); ++tenant) {
      ranks_[tenant] = static_cast<std::uint16_t>(values[tenant]);
      statistics_.rank[tenant] = values[tenant];
    }
    ranks_changed_ = true;
  }

  StatisticsView statistics() const override { return statistics_view(statistics_); }
  void serialize(Archive& archive) override {
    archive(service_, ranks_, ranks_changed_, statistics_);
  }

 private:
  BankService service_;
  std::vector<std::uint16_t> ranks_;  ///< rank of each tenant; higher goes first
  bool ranks_changed_ = false;
  AtlasStatistics statistics_;
};

class AtlasRanks final : public EpochController {
 public:
  explicit AtlasRanks(const EpochControllerSetup& setup)
      : AtlasRanks(setup, setup.choice.parameters<AtlasParameters>()) {}

  Time period() const override { return period_; }
  void add(std::span<const std::uint64_t> increments) override {
    for (std::size_t tenant = 0; tenant < service_.size(); ++tenant)
      service_[tenant] += increments[tenant];
  }
  void decide(std::uint64_t epoch, std::vector<std::uint64_t>& values) override {
    for (std::size_t tenant = 0; tenant < past_.size(); ++tenant) {
      std::uint64_t& past = past_[tenant];
      // Quanta in which no tenant was served have no decision.
      for (std::uint64_t quantum = last_ + 1; quantum < epoch && past != 0; ++quantum)
        past = past * weight_ / one;
      past = (past * weight_ + std::exchange(service_[tenant], 0) * (one - weight_)) / one;
    }
    last_ = epoch;
    values.resize(past_.size());
    std::vector<std::size_t> order(past_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return past_[a] < past_[b]; });
    for (std::size_t i = 0; i < order.size(); ++i) values[order[i]] = order.size() - 1 - i;
  }
  void serialize(Archive& archive) override { archive(service_, past_, last_); }

 private:
  static constexpr std::uint64_t one = 1 << 16;

  AtlasRanks(const EpochControllerSetup& setup, const AtlasParameters& p)
      : period_(setup.cycle * p.quantum.count()),
        weight_(static_cast<std::uint64_t>(std::lround(p.alpha * one))),
        service_(setup.tenants),
        past_(setup.tenants) {}

  const Time period_;
  const std::uint64_t weight_;          ///< weight of the past, in parts of `one`
  std::vector<std::uint64_t> service_;  ///< service that each tenant attained in the quantum
  std::vector<std::uint64_t> past_;     ///< average service that each tenant attained
  std::uint64_t last_ = 0;              ///< last quantum that was decided
};

}  // namespace

PolicyRegistry<DramSchedulerFactory>::Row atlas_scheduler() {
  return {"atlas",
          "the tenant first that was served least (004, section 5.4.3)",
          {[](const PartitionPolicySetup& setup) -> std::unique_ptr<DramScheduler> {
             return std::make_unique<Atlas>(setup);
           },
           [](const EpochControllerSetup& setup) -> std::unique_ptr<EpochController> {
             return std::make_unique<AtlasRanks>(setup);
           },
           &statistics_schema_of<AtlasStatistics>},
          &schema_of<AtlasParameters>()};
}

}  // namespace lockstep
