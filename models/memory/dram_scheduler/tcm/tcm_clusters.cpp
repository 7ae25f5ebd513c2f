#include "models/memory/dram_scheduler/tcm/tcm_clusters.hpp"

#include <algorithm>
#include <numeric>

namespace lockstep {

void TcmDecision::append_to(std::vector<std::uint64_t>& words) const {
  words.insert(words.end(), {bandwidth_cluster, insertion});
  words.insert(words.end(), order.begin(), order.end());
}

TcmDecision TcmDecision::from(std::span<const std::uint64_t> words) {
  TcmDecision decision;
  decision.bandwidth_cluster = words[0];
  decision.insertion = words[1] != 0;
  for (const std::uint64_t tenant : words.subspan(2))
    decision.order.push_back(static_cast<std::uint16_t>(tenant));
  return decision;
}

void TcmClusters::add(std::span<const std::uint64_t> increments) {
  for (std::size_t tenant = 0; tenant < counted_.size(); ++tenant)
    counted_[tenant].add(increments.subspan(tenant * TenantUse::words).first<TenantUse::words>());
}

void TcmClusters::decide(std::uint64_t epoch, std::vector<std::uint64_t>& values) {
  double weight = last_ == 0 ? 0 : 0.5;
  // Quanta without requests have no decision.
  for (std::uint64_t quantum = last_ + 1; quantum < epoch && weight > 1e-9; ++quantum) weight /= 2;
  for (std::size_t tenant = 0; tenant < averages_.size(); ++tenant)
    average(averages_[tenant], std::exchange(counted_[tenant], {}), weight);
  last_ = epoch;

  std::vector<std::uint16_t> by_requests(averages_.size());
  std::iota(by_requests.begin(), by_requests.end(), std::uint16_t{0});
  std::stable_sort(by_requests.begin(), by_requests.end(), [&](std::size_t a, std::size_t b) {
    return averages_[a].requests < averages_[b].requests;
  });
  const auto first_of_others =
      by_requests.begin() + static_cast<std::ptrdiff_t>(latency_cluster(by_requests));
  TcmDecision decision;
  decision.order = by_niceness({first_of_others, by_requests.end()});
  decision.bandwidth_cluster = decision.order.size();
  decision.insertion = differ(decision.order);
  decision.order.insert(decision.order.end(), std::make_reverse_iterator(first_of_others),
                        by_requests.rend());
  decision.append_to(values);
}

/// `weight`: weight of the past; 0 if there is none.
void TcmClusters::average(Average& past, const TenantUse& now, double weight) {
  const double share = weight == 0 ? 1 : 0.5;
  const auto mix = [&](double& value, double more) { value = value * weight + more * share; };
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  mix(past.requests, static_cast<double>(now.requests));
  mix(past.columns, static_cast<double>(now.columns));
  mix(past.row_hits, ratio(now.shadow_hits, now.requests));
  mix(past.banks, ratio(now.bank_cycles, now.bank_cycles_of));
}

/// Returns how many of the tenants that ask least are in the latency cluster.
std::size_t TcmClusters::latency_cluster(const std::vector<std::uint16_t>& by_requests) const {
  double total = 0;
  for (const Average& one : averages_) total += one.columns;
  double taken = 0;
  std::size_t count = 0;
  for (; count < by_requests.size(); ++count) {
    taken += averages_[by_requests[count]].columns;
    if (taken > threshold_ * total) break;
  }
  return count;
}

/// Returns the tenants, the nicest last.
std::vector<std::uint16_t> TcmClusters::by_niceness(std::vector<std::uint16_t> tenants) const {
  std::sort(tenants.begin(), tenants.end());
  std::vector<std::int64_t> niceness(averages_.size());
  const auto rank = [&](auto value, std::int64_t sign) {
    std::vector<std::uint16_t> ascending = tenants;
    std::stable_sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) {
      return averages_[a].*value < averages_[b].*value;
    });
    for (std::size_t i = 0; i < ascending.size(); ++i)
      niceness[ascending[i]] += sign * static_cast<std::int64_t>(i);
  };
  rank(&Average::banks, 1);
  rank(&Average::row_hits, -1);
  std::stable_sort(tenants.begin(), tenants.end(),
                   [&](std::size_t a, std::size_t b) { return niceness[a] < niceness[b]; });
  return tenants;
}

/// Returns whether the order by niceness means something.
bool TcmClusters::differ(const std::vector<std::uint16_t>& tenants) const {
  const auto spread = [&](auto value) {
    if (tenants.empty()) return 0.0;
    const auto less = [&](std::size_t a, std::size_t b) {
      return averages_[a].*value < averages_[b].*value;
    };
    const auto [least, most] = std::minmax_element(tenants.begin(), tenants.end(), less);
    return averages_[*most].*value - averages_[*least].*value;
  };
  return spread(&Average::banks) > 0.1 && spread(&Average::row_hits) > 0.1;
}

void TcmClusters::serialize(Archive& archive) {
  archive(counted_, averages_, last_);
}

}  // namespace lockstep
