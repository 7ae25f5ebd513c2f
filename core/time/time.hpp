#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "core/time/period_division.hpp"

namespace lockstep {

/// A point or span of simulated time in integer femtoseconds; `never()` is later than everything.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::int64_t femtoseconds) : femtoseconds_(femtoseconds) {}
  static constexpr Time zero() { return Time{0}; }
  static constexpr Time never() { return Time{std::numeric_limits<std::int64_t>::max()}; }

  constexpr std::int64_t femtoseconds() const { return femtoseconds_; }
  constexpr auto operator<=>(const Time&) const = default;

  /// Sums saturate at never(), so that "never plus a latency" stays never.
  friend constexpr Time operator+(Time a, Time b) {
    if (a == never() || b == never()) return never();
    return Time{a.femtoseconds_ + b.femtoseconds_};
  }
  friend constexpr Time operator-(Time a, Time b) {
    return Time{a.femtoseconds_ - b.femtoseconds_};
  }
  friend constexpr Time operator*(Time a, std::int64_t n) { return Time{a.femtoseconds_ * n}; }
  friend constexpr std::int64_t operator/(Time a, Time b) {
    return a.femtoseconds_ / b.femtoseconds_;
  }
  constexpr Time& operator+=(Time b) { return *this = *this + b; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(femtoseconds_);
  }

 private:
  std::int64_t femtoseconds_ = 0;
};

/// A count of cycles of one clock domain; only a Clock turns it into time.
class Cycles {
 public:
  constexpr Cycles() = default;
  constexpr explicit Cycles(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  constexpr auto operator<=>(const Cycles&) const = default;
  friend constexpr Cycles operator+(Cycles a, Cycles b) { return Cycles{a.count_ + b.count_}; }
  friend constexpr Cycles operator-(Cycles a, Cycles b) { return Cycles{a.count_ - b.count_}; }
  constexpr Cycles& operator+=(Cycles b) { return *this = *this + b; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(count_);
  }

 private:
  std::int64_t count_ = 0;
};

/// Hertz, as written in a configuration (`1312MHz`).
class Frequency {
 public:
  constexpr Frequency() = default;
  constexpr explicit Frequency(double hertz) : hertz_(hertz) {}
  constexpr double hertz() const { return hertz_; }
  constexpr auto operator<=>(const Frequency&) const = default;

 private:
  double hertz_ = 0;
};

/// A clock whose period is rounded once to femtoseconds; its edges are multiples of that period.
class Clock {
 public:
  constexpr Clock() = default;
  constexpr explicit Clock(Time period) : period_(period), cycles_(period.femtoseconds()) {}
  constexpr explicit Clock(Frequency f)
      : Clock(Time{static_cast<std::int64_t>(1e15 / f.hertz() + 0.5)}) {}

  constexpr Time period() const { return period_; }
  constexpr Time duration(Cycles c) const { return period_ * c.count(); }
  constexpr Time edge(Cycles c) const { return period_ * c.count(); }
  /// Returns the number of the first edge at or after `t`.
  constexpr Cycles cycle_at_or_after(Time t) const {
    return Cycles{cycles_(t.femtoseconds() + period_.femtoseconds() - 1)};
  }
  /// Returns the number of the last edge at or before `t`.
  constexpr Cycles cycle_at_or_before(Time t) const { return Cycles{cycles_(t.femtoseconds())}; }

 private:
  Time period_{1};
  PeriodDivision cycles_{1};
};

namespace literals {
constexpr Time operator""_fs(unsigned long long n) {
  return Time{static_cast<std::int64_t>(n)};
}
constexpr Time operator""_ps(unsigned long long n) {
  return Time{static_cast<std::int64_t>(n) * 1'000};
}
constexpr Time operator""_ns(unsigned long long n) {
  return Time{static_cast<std::int64_t>(n) * 1'000'000};
}
constexpr Time operator""_us(unsigned long long n) {
  return Time{static_cast<std::int64_t>(n) * 1'000'000'000};
}
constexpr Time operator""_ms(unsigned long long n) {
  return Time{static_cast<std::int64_t>(n) * 1'000'000'000'000};
}
constexpr Cycles operator""_cycles(unsigned long long n) {
  return Cycles{static_cast<std::int64_t>(n)};
}
constexpr Frequency operator""_MHz(unsigned long long n) {
  return Frequency{static_cast<double>(n) * 1e6};
}
}  // namespace literals

}  // namespace lockstep
