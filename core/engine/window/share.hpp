#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/mail/share_mail.hpp"
#include "core/engine/window/slot.hpp"
#include "core/memory/cache_aligned.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Components that one thread owns, in the order in which a window calls them.
struct alignas(128) Share {
  /// A stretch with components of one kind.
  struct Segment {
    std::uint32_t begin, end;
    std::uint16_t kind;
  };

  /// Orders `slots`, indices of `all`, anew.
  void order_longest_first(std::span<const Slot> all, std::size_t kinds);
  /// Selects the components that run in a window with these horizons, by kind.  Lowers the floor of
  /// each kind to the earliest time at which a component that does not run must be called.
  void select(const std::vector<Time>& horizons, bool everyone, CacheAlignedVector<Time>& floors);

  CacheAlignedVector<std::uint32_t> slots;  ///< slot of the component at each position
  /// Time at which the component at each position must be called; zero with mail.
  CacheAlignedVector<Time> due;
  std::vector<Segment> segments;
  CacheAlignedVector<std::uint32_t> to_run;  ///< positions of the components that run
  ShareMail mail;
};

}  // namespace lockstep
