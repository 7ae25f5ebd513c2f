#pragma once

namespace lockstep {

class StatisticsSchema;

/// A component's statistics: which fields there are, and where their values stand.
struct StatisticsView {
  const StatisticsSchema* schema = nullptr;
  const void* values = nullptr;
};

}  // namespace lockstep
