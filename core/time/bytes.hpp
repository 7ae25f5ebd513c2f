#pragma once

#include <compare>
#include <cstdint>

namespace lockstep {

/// An amount of memory in bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_(count) {}
  constexpr std::uint64_t count() const { return count_; }
  constexpr auto operator<=>(const Bytes&) const = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes{a.count_ + b.count_}; }

 private:
  std::uint64_t count_ = 0;
};

/// Bytes per second of a link or port (`16GB/s`, decimal; `16GiB/s`, binary).
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  constexpr explicit Bandwidth(double bytes_per_second) : bytes_per_second_(bytes_per_second) {}
  constexpr double bytes_per_second() const { return bytes_per_second_; }
  constexpr auto operator<=>(const Bandwidth&) const = default;

 private:
  double bytes_per_second_ = 0;
};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) {
  return Bytes{n};
}
constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes{n << 10};
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes{n << 20};
}
constexpr Bytes operator""_GiB(unsigned long long n) {
  return Bytes{n << 30};
}
}  // namespace literals

}  // namespace lockstep
