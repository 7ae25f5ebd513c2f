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

}  // namespace lockstep
