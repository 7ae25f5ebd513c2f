#pragma once

#include <cstdint>

#include "core/random/philox.hpp"

namespace lockstep {

/// Returns 53 random bits as a number in [0, 1).
constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// Random numbers for one purpose of one component.  The state is the number of words drawn.
class Random {
 public:
  Random(std::uint64_t seed, ComponentId component, std::uint32_t purpose)
      : seed_(seed), component_(component), purpose_(purpose) {}

  std::uint32_t next_uint32() {
    const std::uint64_t block = drawn_ / 4;
    if (block != cached_block_) {
      words_ = random_block(seed_, component_, purpose_, block);
      cached_block_ = block;
    }
    return words_[drawn_++ % 4];
  }
  std::uint64_t next_uint64() {
    const std::uint64_t low = next_uint32();
    return low | (static_cast<std::uint64_t>(next_uint32()) << 32);
  }
  /// Returns a number in [0, 1).
  double uniform() { return unit_interval(next_uint64()); }
  /// Returns a number in [0, bound); the bias of at most bound / 2^64 is accepted.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next_uint64()) * bound) >> 64);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(drawn_);
    cached_block_ = no_block;
  }

 private:
  static constexpr std::uint64_t no_block = ~std::uint64_t{0};

  std::uint64_t seed_;
  ComponentId component_;
  std::uint32_t purpose_;
  std::uint64_t drawn_ = 0;
  std::uint64_t cached_block_ = no_block;
  std::array<std::uint32_t, 4> words_{};
};

}  // namespace lockstep
