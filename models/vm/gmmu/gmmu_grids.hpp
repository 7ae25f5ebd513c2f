#pragma once

#include <vector>

#include "core/message/message.hpp"
#include "models/noc/grid_intervals.hpp"
#include "models/noc/messages.hpp"
#include "models/vm/gmmu_statistics.hpp"

namespace lockstep {

/// Counts of the GMMU while each grid runs.
class GmmuGrids {
 public:
  explicit GmmuGrids(const GmmuStatistics& statistics) : statistics_(statistics) {}

  /// Returns whether the message only said that a grid begins or ends.
  bool take_mark(const MessageHeader& message) {
    const bool begins = message.kind == kind_of(MessageKind::grid_begins);
    if (!begins && message.kind != kind_of(MessageKind::grid_ends)) return false;
    const auto& mark = message.body<GridMark>();
    if (begins) {
      intervals_.begin(mark, counts_of(mark.tenant));
    } else {
      intervals_.end(mark, counts_of(mark.tenant));
    }
    return true;
  }
  void take(std::vector<GridContribution>& taken) {
    intervals_.take([this](std::uint16_t tenant) { return counts_of(tenant); }, taken);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(intervals_);
  }

 private:
  GridCounts counts_of(std::uint16_t tenant) const {
    GridCounts counts;
    counts.l2_tlb_hits = statistics_.tlb_hits[tenant].value();
    counts.l2_tlb_misses = statistics_.tlb_misses[tenant].value();
    return counts;
  }

  const GmmuStatistics& statistics_;
  GridIntervals intervals_;
};

}  // namespace lockstep
