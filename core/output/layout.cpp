#include "core/error/error.hpp"
#include "core/output/recorder.hpp"

namespace lockstep {

StatisticsLayout::StatisticsLayout(std::vector<KindStatistics> kinds, std::size_t tenants,
                                   std::vector<std::size_t> groups)
    : kinds_(std::move(kinds)), tenants_(tenants), groups_(std::move(groups)) {
  for (const KindStatistics& kind : kinds_) {
    LOCKSTEP_CHECK(kind.schema, "kind " + kind.name + " has no statistics schema");
    LOCKSTEP_CHECK(!kind.group || *kind.group < groups_.size(), "a kind of no group");
    row_sizes_.push_back(kind.schema->row_size(tenants_of(row_sizes_.size())));
    offsets_.push_back(size_);
    size_ += row_sizes_.back() * kind.instances;
  }
}

std::size_t StatisticsLayout::kind_of(const StatisticsSchema* schema,
                                      std::optional<std::uint32_t> group) const {
  std::size_t kind = 0;
  while (kind < kinds_.size() && (kinds_[kind].schema != schema || kinds_[kind].group != group))
    ++kind;
  LOCKSTEP_CHECK(kind < kinds_.size(), "statistics of a kind that the output does not have");
  return kind;
}

}  // namespace lockstep
