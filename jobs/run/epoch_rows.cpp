#include "jobs/run/epoch_rows.hpp"

#include <cstring>
#include <type_traits>

#include "core/error/error.hpp"
#include "jobs/run/output.hpp"
#include "models/host/host.hpp"

namespace lockstep {

void EpochRows::find_counters(std::span<const LocalComponent> components) {
  if (!counters_.empty()) return;
  for (const LocalComponent& local : components) {
    if (auto* const counter = dynamic_cast<GridCounter*>(local.component))
      counters_.push_back(counter);
    if (auto* const host = dynamic_cast<Host*>(local.component)) host_ = host;
  }
}

/// Statistics, then what was counted for grids, then how many of these there are.
std::vector<std::byte> EpochRows::sample(Time end, std::span<const LocalComponent> components) {
  static_assert(std::is_trivially_copyable_v<GridContribution>);
  find_counters(components);
  std::vector<std::byte> contribution = statistics_.sample(end, components);
  std::vector<GridContribution> counted;
  for (GridCounter* const counter : counters_) counter->take_grid_counts(end, counted);
  const std::uint64_t count = counted.size();
  const auto append = [&](const void* data, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(data);
    contribution.insert(contribution.end(), begin, begin + bytes);
  };
  append(counted.data(), counted.size() * sizeof(GridContribution));
  append(&count, sizeof count);
  return contribution;
}

void EpochRows::collect(Time end, std::span<const std::vector<std::byte>> contributions) {
  std::vector<EpochStatistics::Bytes> statistics;
  for (const std::vector<std::byte>& contribution : contributions) {
    std::uint64_t count = 0;
    LOCKSTEP_CHECK(contribution.size() >= sizeof count, "an epoch without its number of grids");
    const std::size_t last = contribution.size() - sizeof count;
    std::memcpy(&count, &contribution[last], sizeof count);
    const std::size_t first = last - count * sizeof(GridContribution);
    for (std::size_t at = first; at < last; at += sizeof(GridContribution)) {
      GridContribution counted;
      std::memcpy(static_cast<void*>(&counted), &contribution[at], sizeof counted);
      host_->kernels().add(counted);
    }
    statistics.push_back(EpochStatistics::Bytes(contribution).first(first));
  }
  output_->kernels.append(output_->kernel_rows.of(host_->kernels().take_over(end), end));
  statistics_.collect(end, statistics);
}

}  // namespace lockstep
