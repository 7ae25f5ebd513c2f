/// Priority of a line in the L2's replacement, in the two upper bits of a request's marks (see
/// RequestMark for the other bits).
#pragma once

#include "models/isa/l2_hint.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

inline constexpr unsigned l2_priority_shift = 8 - isa::l2_priority_bits;
static_assert((mark_class | mark_has_class | mark_bypass | mark_mostly_hit | mark_may_allocate) >>
                  l2_priority_shift ==
              0);

inline void mark_priority(MemoryRequest& request, isa::L2Priority priority) {
  request.marks |= static_cast<std::uint8_t>(static_cast<unsigned>(priority) << l2_priority_shift);
}
inline isa::L2Priority marked_priority(const MemoryRequest& request) {
  return static_cast<isa::L2Priority>(request.marks >> l2_priority_shift);
}

}  // namespace lockstep
