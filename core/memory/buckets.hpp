#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Start of the chain of a key in a table of buckets, whose number is a power of two. Neighbouring
/// keys have neighbouring buckets, so that a pass over lines or pages in order stays in few cache
/// lines. Blocks of as many keys as there are buckets are placed at random relative to each other.
class Buckets {
 public:
  Buckets() = default;
  /// Makes at least `count` buckets, and at least two.
  explicit Buckets(std::size_t count)
      : bits_(static_cast<unsigned>(std::bit_width(count < 2 ? 1 : count - 1))) {}

  std::size_t count() const { return std::size_t{1} << bits_; }
  std::size_t of(std::uint64_t key) const {
    const std::uint64_t block = (key >> bits_) * 0x9e3779b97f4a7c15u;
    return (key ^ block >> (64 - bits_)) & (count() - 1);
  }

 private:
  unsigned bits_ = 1;
};

}  // namespace lockstep
