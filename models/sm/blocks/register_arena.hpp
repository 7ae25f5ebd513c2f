#pragma once

#include <cstdint>

#include "core/memory/zeroed.hpp"
#include "models/isa/types.hpp"
#include "models/sm/blocks/range_allocator.hpp"

namespace lockstep {

/// Rows of 32 lanes for all warps of an SM.  A warp gets as many rows as its kernel really uses, so
/// that few cache lines of this computer are touched.  The arena grows when first-fit finds no
/// room.  The simulated register file, not the arena, decides how many blocks fit.
class RegisterArena {
 public:
  /// Returns the first of `rows` consecutive rows, with the values that their last owner left.
  /// `owners`: number of ranges of this size that will soon be taken, this one included.  `moved`:
  /// set if old pointers have become invalid.
  std::uint32_t take(std::uint32_t rows, std::uint32_t owners, bool& moved) {
    moved = false;
    std::optional<std::uint32_t> base = ranges_.take(rows);
    if (!base) {
      const auto old = static_cast<std::uint32_t>(data_.size() / isa::warp_size);
      const std::uint32_t more = rows * owners;
      data_.resize((std::size_t{old} + more) * isa::warp_size);
      ranges_.give_back(old, more);
      base = ranges_.take(rows);
      moved = true;
    }
    return *base;
  }
  void give_back(std::uint32_t base, std::uint32_t rows) { ranges_.give_back(base, rows); }
  std::uint32_t* row(std::uint32_t index) { return &data_[std::size_t{index} * isa::warp_size]; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(data_, ranges_);
  }

 private:
  ZeroedVector<std::uint32_t> data_;
  RangeAllocator ranges_{0};
};

}  // namespace lockstep
