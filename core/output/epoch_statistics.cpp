#include "core/output/epoch_statistics.hpp"

#include <algorithm>
#include <cstring>

#include "core/error/error.hpp"
#include "core/statistics/view.hpp"

namespace lockstep {
namespace {

constexpr const char* cut_off = "a contribution to an epoch is cut off";

}  // namespace

void EpochStatistics::append(std::size_t kind, std::size_t instance, const StatisticsView& view,
                             std::vector<std::byte>& contribution) const {
  const std::size_t size = layout_.row_size(kind), at = contribution.size();
  const std::uint64_t head[2] = {layout_.offset(kind, instance), size};
  contribution.resize(at + sizeof head + size * sizeof(std::uint64_t));
  std::memcpy(&contribution[at], head, sizeof head);
  if (size == 0) return;
  auto* words = reinterpret_cast<std::uint64_t*>(&contribution[at + sizeof head]);
  view.schema->gather(view.values, layout_.tenants_of(kind), std::span(words, size));
}

void EpochStatistics::prepare(std::span<const LocalComponent> components) {
  seen_.resize(components.size());
}

void EpochStatistics::look(Time end, std::size_t number, const LocalComponent& local) {
  std::vector<std::byte>& seen = seen_[number];
  seen.clear();
  const Graph::Node& node = graph_.nodes()[local.id.value()];
  const std::size_t kind = node.kind.value();
  if (layout_.row_size(kind) > 0 && layout_.kinds()[kind].instances > 0) {
    const StatisticsView view = local.component->statistics(end);
    LOCKSTEP_CHECK(view.schema == layout_.kinds().at(kind).schema,
                   graph_.name(local.id) + " has other statistics than its kind");
    append(kind, node.index, view, seen);
  }
  const std::vector<StatisticsView> parts = local.component->parts(end);
  for (auto view = parts.begin(); view != parts.end(); ++view) {
    const auto like_it = [&](const StatisticsView& other) {
      return other.schema == view->schema && other.group == view->group;
    };
    const auto each = std::count_if(parts.begin(), parts.end(), like_it);
    const auto before = std::count_if(parts.begin(), view, like_it);
    const std::size_t of_part =
        layout_.kind_of(view->schema, view->group ? view->group : node.group);
    // A group's parts are all of one component.
    const std::uint64_t first = view->group ? 0 : node.index * std::uint64_t(each);
    append(of_part, std::size_t(first) + std::size_t(before), *view, seen);
  }
}

std::vector<std::byte> EpochStatistics::sample(Time, std::span<const LocalComponent> components) {
  LOCKSTEP_CHECK(seen_.size() == components.size(), "an epoch's components were not looked at");
  std::size_t size = 0;
  for (const std::vector<std::byte>& seen : seen_) size += seen.size();
  // Callers append a little.
  constexpr std::size_t room_behind = 1024;
  std::vector<std::byte> contribution;
  contribution.reserve(size + room_behind);
  for (const std::vector<std::byte>& seen : seen_)
    contribution.insert(contribution.end(), seen.begin(), seen.end());
  return contribution;
}

void EpochStatistics::collect(Time end, std::span<const std::vector<std::byte>> contributions) {
  recorder_->record(end, merge(contributions));
}

void EpochStatistics::collect(Time end, std::span<const Bytes> contributions) {
  recorder_->record(end, merge(contributions));
}

std::span<const std::uint64_t> EpochStatistics::merge(std::span<const Bytes> contributions) {
  values_.resize(layout_.size());
  for (const Bytes bytes : contributions) {
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint64_t head[2] = {};  // place, size
      LOCKSTEP_CHECK(bytes.size() - at >= sizeof head, cut_off);
      std::memcpy(head, &bytes[at], sizeof head);
      at += sizeof head;
      const std::uint64_t size_bytes = head[1] * sizeof(std::uint64_t);
      LOCKSTEP_CHECK(at + size_bytes <= bytes.size() && head[0] + head[1] <= values_.size(),
                     cut_off);
      if (head[1] > 0) std::memcpy(&values_[head[0]], &bytes[at], size_bytes);
      at += size_bytes;
    }
  }
  return values_;
}

}  // namespace lockstep
