#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "core/time/time.hpp"

namespace lockstep {

/// Number of an edge of one clock, so that a cycle of the L2 cannot be passed where one of DRAM is
/// wanted.  `Domain` names the clock; spans are plain counts of its cycles.
template <class Domain>
class ClockCycle {
 public:
  constexpr ClockCycle() = default;
  constexpr explicit ClockCycle(std::int64_t number) : number_(number) {}
  static constexpr ClockCycle never() {
    return ClockCycle{std::numeric_limits<std::int64_t>::max()};
  }

  constexpr std::int64_t value() const { return number_; }
  constexpr auto operator<=>(const ClockCycle&) const = default;

  constexpr ClockCycle& operator+=(std::int64_t n) {
    number_ += n;
    return *this;
  }
  friend constexpr ClockCycle operator+(ClockCycle c, std::int64_t n) {
    return ClockCycle(c.number_ + n);
  }
  friend constexpr ClockCycle operator-(ClockCycle c, std::int64_t n) {
    return ClockCycle(c.number_ - n);
  }
  friend constexpr std::int64_t operator-(ClockCycle a, ClockCycle b) {
    return a.number_ - b.number_;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(number_);
  }

 private:
  std::int64_t number_ = 0;
};

}  // namespace lockstep
