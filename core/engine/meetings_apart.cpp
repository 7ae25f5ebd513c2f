#include "core/engine/meetings_apart.hpp"

#include <algorithm>
#include <functional>

namespace lockstep {

void MeetingsApart::look(const std::vector<Time>& next, Time boundary) {
  const bool is_over = outer_.empty() ||
                       std::equal(next.begin(), next.end(), outer_.begin(), std::greater_equal<>());
  if (!is_over) return;
  ++meetings_;
  outer_.assign(next.size(), boundary);
  across_.cap_horizons(next, outer_);
}

}  // namespace lockstep
