/// Destinations of instructions that write more rows than a record can name, until they commit.
///
/// A matrix instruction writes up to 128 rows at once.  All of them commit by a single event, which
/// names a place here.  Source: modern-isa.md, section 5.1.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/sm/tables/scoreboard.hpp"

namespace lockstep {

class ReleaseGroups {
 public:
  /// Returns the event (without warp) that commits these rows; none if all places are taken.
  std::optional<std::uint16_t> begin(const Scoreboard& rows) {
    const auto place =
        std::ranges::find_if(groups_, [](const auto& group) { return group.empty(); });
    if (place == groups_.end() && groups_.size() == WarpEvent::groups) return std::nullopt;
    const auto number = static_cast<std::uint16_t>(place - groups_.begin());
    if (place == groups_.end()) groups_.emplace_back();
    groups_[number] = rows;
    return static_cast<std::uint16_t>(WarpEvent::group + number);
  }
  /// Returns the rows that commit by this event.
  Scoreboard end(unsigned event) { return std::exchange(groups_[event - WarpEvent::group], {}); }

  void serialize(Archive& archive) { archive(groups_); }

 private:
  std::vector<Scoreboard> groups_;  ///< scoreboards of the groups; empty ones are free
};

/// Calls the function with an event (without warp) for each row and predicate.
void for_each_place(const Scoreboard& places, auto&& function) {
  for (std::size_t word = 0; word < places.places.size(); ++word)
    for (std::uint64_t left = places.places[word]; left != 0; left &= left - 1)
      function(
          static_cast<std::uint16_t>(64 * word + static_cast<unsigned>(std::countr_zero(left))));
}

}  // namespace lockstep
