#pragma once

#include <cstdint>
#include <optional>

namespace lockstep {

class StatisticsSchema;

/// A component's statistics: their fields and the place of their values.
struct StatisticsView {
  const StatisticsSchema* schema = nullptr;
  const void* values = nullptr;
  /// Group of a part of a component, if that is not the component's (Graph::Node).
  std::optional<std::uint32_t> group = {};
};

}  // namespace lockstep
