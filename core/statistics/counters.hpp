#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

// Counters are 8-byte words in memory, so that an epoch copies them without regard to their type.

/// Counts events; costs an add.
class Counter {
 public:
  constexpr Counter& operator++() {
    ++value_;
    return *this;
  }
  constexpr Counter& operator+=(std::uint64_t n) {
    value_ += n;
    return *this;
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// A level (occupancy, bytes in use), sampled at the epoch instead of summed.
template <class T>
class BasicGauge {
 public:
  constexpr BasicGauge& operator=(T value) {
    value_ = value;
    return *this;
  }
  constexpr BasicGauge& operator+=(T n) {
    value_ += n;
    return *this;
  }
  constexpr BasicGauge& operator-=(T n) {
    value_ -= n;
    return *this;
  }
  constexpr T value() const { return value_; }

 private:
  T value_ = 0;
};
using Gauge = BasicGauge<std::uint64_t>;
using RealGauge = BasicGauge<double>;

/// Bins by powers of two: bin 0 is for 0, bin k for [2^(k-1), 2^k), the last one for everything
/// above.
template <std::size_t Bins>
class Histogram {
 public:
  constexpr void add(std::uint64_t value, std::uint64_t times = 1) {
    const auto bin = std::size_t(std::bit_width(value));
    bins_[bin < Bins ? bin : Bins - 1] += times;
  }
  constexpr std::uint64_t bin(std::size_t index) const { return bins_[index]; }
  /// Returns the least value of a bin.
  static constexpr std::uint64_t bin_start(std::size_t index) {
    return index == 0 ? 0 : std::uint64_t{1} << (index - 1);
  }

 private:
  static_assert(Bins >= 2 && Bins <= 65);
  std::array<std::uint64_t, Bins> bins_{};
};

/// Bins of equal width; the last one holds everything above.
template <std::size_t Bins, std::uint64_t Width = 1>
class LinearHistogram {
 public:
  constexpr void add(std::uint64_t value, std::uint64_t times = 1) {
    const std::uint64_t bin = value / Width;
    bins_[bin < Bins ? bin : Bins - 1] += times;
  }
  constexpr std::uint64_t bin(std::size_t index) const { return bins_[index]; }
  static constexpr std::uint64_t bin_start(std::size_t index) { return index * Width; }

 private:
  std::array<std::uint64_t, Bins> bins_{};
};

/// A `T` (Counter, Gauge, Histogram, or a struct of them) for each tenant.  Its size is set once,
/// before the first use: by the constructor or by set_tenants() of the enclosing struct.
template <class T>
class PerTenant {
 public:
  PerTenant() = default;
  explicit PerTenant(std::size_t tenants) : values_(tenants) {}
  T& operator[](std::size_t tenant) { return values_[tenant]; }
  const T& operator[](std::size_t tenant) const { return values_[tenant]; }
  std::size_t size() const { return values_.size(); }
  void resize(std::size_t tenants) { values_.resize(tenants); }

 private:
  std::vector<T> values_;
};

/// Counters of pairs of tenants, of which one slowed the other: `at(victim, culprit)`.
class PerTenantPair {
 public:
  PerTenantPair() = default;
  Counter& at(std::size_t victim, std::size_t culprit) {
    return values_[victim * tenants_ + culprit];
  }
  const Counter& at(std::size_t victim, std::size_t culprit) const {
    return values_[victim * tenants_ + culprit];
  }
  std::size_t size() const { return tenants_; }
  Counter* data() { return values_.data(); }
  void resize(std::size_t tenants) {
    tenants_ = tenants;
    values_.resize(tenants * tenants);
  }

 private:
  std::size_t tenants_ = 0;
  std::vector<Counter> values_;
};

}  // namespace lockstep
