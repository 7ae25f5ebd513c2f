#include "jobs/run/epoch_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "core/engine/engine.hpp"
#include "core/error/error.hpp"
#include "core/time/format.hpp"
#include "jobs/run/output.hpp"
#include "models/host/host.hpp"

namespace lockstep {

EpochRows::EpochRows(EpochStatistics& statistics, Output* output, const Machine& machine,
                     NoProgress on_no_progress)
    : statistics_(statistics),
      output_(output),
      machine_(machine),
      tenants_(machine.tenant_names()),
      on_no_progress_(on_no_progress) {}

void EpochRows::find_counters(std::span<const LocalComponent> components) {
  if (!counters_.empty()) return;
  for (const LocalComponent& local : components) {
    if (auto* const counter = dynamic_cast<GridCounter*>(local.component))
      counters_.push_back(counter);
    if (auto* const source = dynamic_cast<ProgressSource*>(local.component))
      progress_.push_back({source, numbers_at(local.id)});
    if (auto* const host = dynamic_cast<Host*>(local.component)) host_ = host;
  }
}

const std::vector<std::uint32_t>* EpochRows::numbers_at(ComponentId component) const {
  if (!machine_.parameters().has_several_gpus() || component == machine_.host()) return nullptr;
  return &machine_.site_of(component).place().tenants;
}

ProgressBits EpochRows::take_progress(Time end) {
  ProgressBits seen(tenants_.size());
  ProgressBits there(tenants_.size());
  for (const Source& source : progress_) {
    if (source.tenants == nullptr) {
      source.component->take_progress(end, seen);
      continue;
    }
    const std::span<std::uint8_t> of_gpu(there.data(), source.tenants->size());
    std::fill(of_gpu.begin(), of_gpu.end(), std::uint8_t{0});
    source.component->take_progress(end, of_gpu);
    for (std::size_t t = 0; t < of_gpu.size(); ++t) seen[(*source.tenants)[t]] |= of_gpu[t];
  }
  return seen;
}

/// Returns this rank's sample: statistics, then counts of grids, then the number of these counts,
/// then the progress of tenants.
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
  const ProgressBits seen = take_progress(end);
  append(seen.data(), seen.size());
  return contribution;
}

void EpochRows::collect(Time end, std::span<const std::vector<std::byte>> contributions) {
  std::vector<EpochStatistics::Bytes> statistics;
  ProgressBits seen(tenants_.size());
  for (const std::vector<std::byte>& contribution : contributions) {
    std::uint64_t count = 0;
    LOCKSTEP_CHECK(contribution.size() >= sizeof count + seen.size(),
                   "an epoch without its number of grids");
    const std::size_t tail = contribution.size() - seen.size();
    for (std::size_t t = 0; t < seen.size(); ++t)
      seen[t] |= static_cast<std::uint8_t>(contribution[tail + t]);
    const std::size_t last = tail - sizeof count;
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
  host_->look_at_progress(end, seen);
}

bool EpochRows::wants_account() const {
  return host_ != nullptr && !host_->progress_watch().found().empty();
}

void EpochRows::account(Time end, const std::string& waiting) {
  const ProgressWatch& watch = host_->progress_watch();
  std::string text = "at " + to_text(end) + " ";
  for (const std::size_t tenant : watch.found())
    text += (tenant == watch.found().front() ? "tenant " : ", tenant ") + tenants_[tenant] +
            " waits for ever, since " + to_text(watch.since(tenant));
  text +=
      ": nothing gets on, no word of memory and no register of a warp has changed, no block "
      "and no step of a host program has ended";
  if (on_no_progress_ == NoProgress::stop)
    throw RunError(text + " - see what each part waits for; simulation.progress_limit (" +
                   to_text(watch.limit()) + ") says how long it may, on_no_progress: warn goes on" +
                   waiting);
  std::fprintf(stderr, "lockstep: warning: %s%s\n", text.c_str(), waiting.c_str());
}

}  // namespace lockstep
