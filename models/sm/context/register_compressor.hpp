/// Register compressor: lane values that are equal or evenly spaced take one or two words.
///
/// Lanes are compared in pattern groups, as wide as a row of the thread block: threadIdx.x and .y
/// of a 16 x 16 block follow a pattern in 16 lanes, not in 32.  A register whose groups are all
/// uniform is stored as one word for each group; if all are at least strided, as two words for
/// each; otherwise all 32 lanes are stored.  Source: 002, section III.C, Figure 10; preemption.md,
/// section 3.3.
///
/// Simplified: differences wrap around at 32 bits.  Lanes without a thread are no part of a
/// pattern, and come back with any value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/isa/types.hpp"

namespace lockstep {

/// Class of a register, encoded as the two bits of a pattern vector.
enum class RegisterClass : std::uint8_t { dead = 0, uniform = 1, random = 2, strided = 3 };

/// A register of a warp.
using LaneValues = std::array<std::uint32_t, isa::warp_size>;

/// Pattern that the compressor finds in a register of a warp.
struct RegisterPattern {
  static constexpr unsigned smallest_group = 8;
  struct Group {
    std::uint32_t base = 0, stride = 0;
    bool single = false;  ///< one lane only: any stride would do
  };

  RegisterClass kind = RegisterClass::uniform;
  std::uint8_t groups = 0;  ///< groups that have threads
  std::array<Group, isa::warp_size / smallest_group> group{};
};

class RegisterCompressor {
 public:
  /// Makes a compressor for blocks with rows of `block_width` threads.  It compares groups of that
  /// many lanes if 32 lanes divide into such groups and these are not too small.
  explicit RegisterCompressor(std::uint32_t block_width);

  unsigned group_lanes() const { return lanes_; }
  /// Returns the pattern of the warp's first `threads` lanes; the other lanes have no thread.
  RegisterPattern pattern_of(const LaneValues& values, unsigned threads) const;
  /// Returns the lanes of a register that is not random.
  LaneValues values_of(const RegisterPattern& pattern) const;

 private:
  unsigned lanes_;
};

/// Returns the bytes of a register in memory.
std::size_t stored_bytes(const RegisterPattern& pattern);

}  // namespace lockstep
