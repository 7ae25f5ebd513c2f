#include "core/output/epoch_statistics.hpp"

#include <cstring>

#include "core/error/error.hpp"
#include "core/statistics/view.hpp"

namespace lockstep {

// A contribution is, for each component: its id, then its row of words.

std::vector<std::byte> EpochStatistics::sample(Time end,
                                               std::span<const LocalComponent> components) {
  std::vector<std::uint64_t> words;
  for (const LocalComponent& local : components) {
    const Graph::Node& node = graph_.nodes()[local.id.value()];
    const std::size_t kind = node.kind.value();
    const std::size_t row = layout_.row_size(kind);
    if (row == 0) continue;
    const StatisticsView view = local.component->statistics(end);
    LOCKSTEP_CHECK(view.schema == layout_.kinds().at(kind).schema,
                   graph_.name(local.id) + " has other statistics than its kind");
    words.push_back(local.id.value());
    words.resize(words.size() + row);
    view.schema->gather(view.values, layout_.tenants(), std::span(words).last(row));
  }
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

void EpochStatistics::collect(Time end, std::span<const std::vector<std::byte>> contributions) {
  values_.assign(layout_.size(), 0);
  for (const std::vector<std::byte>& bytes : contributions) {
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint64_t id = 0;
      std::memcpy(&id, &bytes[at], sizeof id);
      at += sizeof id;
      const Graph::Node& node = graph_.nodes().at(id);
      const std::size_t size = layout_.row_size(node.kind.value()) * sizeof(std::uint64_t);
      LOCKSTEP_CHECK(at + size <= bytes.size(), "a contribution to an epoch is cut off");
      if (size > 0) {
        std::memcpy(&values_[layout_.offset(node.kind.value(), node.index)], &bytes[at], size);
      }
      at += size;
    }
  }
  recorder_->record(end, values_);
}

}  // namespace lockstep
