#include "core/error/error.hpp"
#include "core/output/recorder.hpp"

namespace lockstep {

StatisticsLayout::StatisticsLayout(std::vector<KindStatistics> kinds, std::size_t tenants)
    : kinds_(std::move(kinds)), tenants_(tenants) {
  for (const KindStatistics& kind : kinds_) {
    LOCKSTEP_CHECK(kind.schema, "kind " + kind.name + " has no statistics schema");
    row_sizes_.push_back(kind.schema->row_size(tenants_));
    offsets_.push_back(size_);
    size_ += row_sizes_.back() * kind.instances;
  }
}

std::size_t StatisticsLayout::kind_of(const StatisticsSchema* schema) const {
  std::size_t kind = 0;
  while (kind < kinds_.size() && kinds_[kind].schema != schema) ++kind;
  LOCKSTEP_CHECK(kind < kinds_.size(), "statistics of a kind that the output does not have");
  return kind;
}

}  // namespace lockstep
