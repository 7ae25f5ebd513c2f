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

void EpochRows::prepare(std::span<const LocalComponent> components) {
  statistics_.prepare(components);
  if (seen_.size() == components.size()) return;
  seen_.clear();
  for (const LocalComponent& local : components) {
    Seen& seen = seen_.emplace_back();
    seen.counter = dynamic_cast<GridCounter*>(local.component);
    seen.progress = dynamic_cast<ProgressSource*>(local.component);
    if (seen.progress != nullptr) {
      seen.tenants = numbers_at(local.id);
      seen.bits.resize(seen.tenants != nullptr ? seen.tenants->size() : tenants_.size());
    }
    if (auto* const host = dynamic_cast<Host*>(local.component)) host_ = host;
  }
}

void EpochRows::look(Time end, std::size_t number, const LocalComponent& component) {
  statistics_.look(end, number, component);
  Seen& seen = seen_[number];
  seen.counted.clear();
  if (seen.counter != nullptr) seen.counter->take_grid_counts(end, seen.counted);
  std::fill(seen.bits.begin(), seen.bits.end(), std::uint8_t{0});
  if (seen.progress != nullptr) seen.progress->take_progress(end, seen.bits);
}

const std::vector<std::uint32_t>* EpochRows::numbers_at(ComponentId component) const {
  if (!machine_.parameters().has_several_gpus() || component == machine_.host()) return nullptr;
  return &machine_.site_of(component).place().tenants;
}

/// Returns this rank's sample: statistics, then counts of grids, then the number of these counts,
/// then the progress of tenants.
std::vector<std::byte> EpochRows::sample(Time end, std::span<const LocalComponent> components) {
  static_assert(std::is_trivially_copyable_v<GridContribution>);
  std::vector<std::byte> contribution = statistics_.sample(end, components);
  const auto append = [&](const void* data, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(data);
    contribution.insert(contribution.end(), begin, begin + bytes);
  };
  std::uint64_t count = 0;
  ProgressBits bits(tenants_.size());
  for (const Seen& seen : seen_) {
    append(seen.counted.data(), seen.counted.size() * sizeof(GridContribution));
    count += seen.counted.size();
    for (std::size_t t = 0; t < seen.bits.size(); ++t)
      bits[seen.tenants != nullptr ? (*seen.tenants)[t] : t] |= seen.bits[t];
  }
  append(&count, sizeof count);
  append(bits.data(), bits.size());
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
