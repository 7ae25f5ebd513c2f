/// Thread cluster memory scheduling, the part that all channels share: which tenants are in the
/// latency cluster, and the order within both.
///
/// Tenants enter the latency cluster in the order of their requests, the tenant with the fewest
/// first, while together they take no more than a share of the bandwidth. The others are ordered by
/// how nice they are: a tenant that uses many banks and few row hits suffers easily and disturbs
/// little. Source: 004, section 5.4.4; memory-interference.md, section 2.4.
///
/// Simplified: how often a tenant asks is counted per cycle and not per instruction, since channels
/// do not hear of instructions.
#pragma once

#include <vector>

#include "models/coordinator/epoch_controller.hpp"
#include "models/memory/dram_scheduler/tcm/tenant_monitor.hpp"

namespace lockstep {

/// Decision that the channels are told, as words.
struct TcmDecision {
  /// Number of tenants at the begin of `order` that form the bandwidth cluster.
  std::uint64_t bandwidth_cluster = 0;
  bool insertion = false;  ///< true: the cluster is shuffled by insertion; false: at random
  std::vector<std::uint16_t> order;  ///< tenants, the highest-ranked last

  void append_to(std::vector<std::uint64_t>& words) const;
  static TcmDecision from(std::span<const std::uint64_t> words);
  template <class Archive>
  void serialize(Archive& archive) {
    archive(bandwidth_cluster, insertion, order);
  }
};

class TcmClusters final : public EpochController {
 public:
  /// `threshold`: the latency cluster's share of the bandwidth.
  TcmClusters(Time period, double threshold, std::size_t tenants)
      : period_(period), threshold_(threshold), counted_(tenants), averages_(tenants) {}

  Time period() const override { return period_; }
  void add(std::span<const std::uint64_t> increments) override;
  void decide(std::uint64_t epoch, std::vector<std::uint64_t>& values) override;
  void serialize(Archive& archive) override;

 private:
  /// Average use of a tenant; each quantum counts as much as all earlier ones together.  Row hits
  /// are shares of the requests, busy banks shares of all banks.
  struct Average {
    double requests = 0, columns = 0, row_hits = 0, banks = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(requests, columns, row_hits, banks);
    }
  };
  static void average(Average& past, const TenantUse& now, double weight);
  std::size_t latency_cluster(const std::vector<std::uint16_t>& by_requests) const;
  std::vector<std::uint16_t> by_niceness(std::vector<std::uint16_t> tenants) const;
  bool differ(const std::vector<std::uint16_t>& tenants) const;

  const Time period_;
  const double threshold_;
  std::vector<TenantUse> counted_;
  std::vector<Average> averages_;
  std::uint64_t last_ = 0;  ///< last quantum that was decided; 0: none
};

}  // namespace lockstep
