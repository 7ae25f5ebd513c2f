/// Bounds of the buffers of a grid's tenant, so that accesses behind buffers are found by the byte.
///
/// An instruction mostly stays in one buffer: the buffer that it used last is compared first, which
/// is all that a good access costs.  Small buffers lie side by side in a large page.  There an
/// access must also stay in a buffer to which a pointer points from which its address was computed,
/// where that is known (isa::PointerOrigins).
///
/// Addresses far from every buffer are left to translation, which finds no page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "models/isa/encode/idempotence.hpp"
#include "models/noc/grid_messages.hpp"

namespace lockstep {

class BufferBounds {
 public:
  /// No bounds: nothing is known of buffers, and every access is good.
  BufferBounds() = default;
  /// Takes BufferBound after BufferBound, sorted by address.
  explicit BufferBounds(std::span<const std::byte> bounds);

  /// Returns whether the buffer that the instruction at `pc` used last has all of these bytes.
  bool holds(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes) const {
    const Range& range = recent_[pc % recent_.size()];
    const std::uint64_t offset = address - range.first;
    return offset < range.bytes && bytes <= range.bytes - offset;
  }

  /// Returns whether a buffer that the instruction may use has all bytes.  From now on it is the
  /// buffer that the instruction used last.  `origins` of the address; `parameters` of the grid.
  bool recall(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes,
              isa::PointerOrigins origins, std::span<const std::byte> parameters);

  /// An access that no buffer has.
  struct Outside {
    const BufferBound* nearest = nullptr;
    bool is_before = false;  ///< true: the address lies before the buffer; false: behind it
    const BufferBound* hit = nullptr;  ///< other buffer in which the address lies; nullptr: none
  };
  /// Returns in which way the bytes lie outside of all buffers.  Returns nothing if a buffer has
  /// the bytes, as recall() says, or if they are far from all buffers.
  std::optional<Outside> find(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes,
                              isa::PointerOrigins origins, std::span<const std::byte> parameters);

  void serialize(Archive& archive) {
    archive(bounds_);
    if (!archive.is_saving()) forget();
  }

 private:
  struct Range {
    std::uint64_t first = 0, bytes = ~std::uint64_t{0};
  };
  void forget();
  /// Returns the last buffer that begins at the address or before it; nullptr: all buffers begin
  /// behind it.
  const BufferBound* at_or_before(std::uint64_t address) const;
  /// Returns the only other buffer in the large page of `hit` that the address can have been meant
  /// for; nullptr: there is none, or several.
  const BufferBound* meant_beside(const BufferBound& hit, isa::PointerOrigins origins,
                                  std::span<const std::byte> parameters) const;

  std::vector<BufferBound> bounds_;
  std::array<Range, 64> recent_;  ///< recent range of each pc, by its low bits
};

}  // namespace lockstep
