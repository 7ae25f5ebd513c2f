/// Which rows and predicates of a warp wait for a result.
///
/// An instruction issues when none of the rows it reads or writes is pending (four ANDs).  Sources
/// are released by being read at issue, in order, so they need no bits of their own; destinations
/// when their results commit.
/// Source: gpu-parameters.md, section 10; hot-path.md ("Scoreboard test as four scalar ANDs").
///
/// Simplified: no register is kept from being overwritten after issue (exception schemes that
/// replay instructions will need that).
#pragma once

#include <array>
#include <cstdint>

#include "models/sm/event_wheel.hpp"
#include "models/sm/issue_tables.hpp"

namespace lockstep {

struct Scoreboard {
  std::array<std::uint64_t, 4> rows{};
  std::uint64_t predicates = 0;

  bool blocks(const IssueRecord& record) const {
    return ((rows[0] & record.rows[0]) | (rows[1] & record.rows[1]) | (rows[2] & record.rows[2]) |
            (rows[3] & record.rows[3]) | (predicates & record.predicates)) != 0;
  }
  bool empty() const { return (rows[0] | rows[1] | rows[2] | rows[3] | predicates) == 0; }
  void mark(std::uint16_t event) {
    const unsigned index = WarpEvent::index(event);
    switch (WarpEvent::kind(event)) {
      case WarpEvent::row:
        rows[index / 64] |= std::uint64_t{1} << (index % 64);
        break;
      case WarpEvent::row_pair:
        rows[index / 64] |= std::uint64_t{3} << (index % 64);
        break;
      default:
        predicates |= std::uint64_t{1} << (index % 64);
    }
  }
  void clear(std::uint16_t event) {
    const unsigned index = WarpEvent::index(event);
    switch (WarpEvent::kind(event)) {
      case WarpEvent::row:
        rows[index / 64] &= ~(std::uint64_t{1} << (index % 64));
        break;
      case WarpEvent::row_pair:
        rows[index / 64] &= ~(std::uint64_t{3} << (index % 64));
        break;
      default:
        predicates &= ~(std::uint64_t{1} << (index % 64));
    }
  }
};

}  // namespace lockstep
