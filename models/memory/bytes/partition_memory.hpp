#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/checkpoint/archive.hpp"
#include "core/memory/lazy_region.hpp"
#include "core/memory/warm.hpp"
#include "models/noc/address.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

/// Bytes of one partition: one flat region, which takes memory of this computer only where it was
/// written.
/// Source: architecture.md, section 3 (one copy of the bytes) and section 8, rule 1.
class PartitionMemory {
 public:
  explicit PartitionMemory(std::uint64_t bytes);

  std::uint64_t size() const { return region_.size(); }
  /// Brings a line near; an offset outside is ignored.
  void warm_line(PartitionOffset line) const {
    if (line.value() + line_bytes <= size())
      warm_by_reading(region_.data() + line.value(), line_bytes);
  }

  // `line` is where a 128-byte line begins.

  /// Copies the sectors of a mask one behind the other, the lowest first.
  void load(PartitionOffset line, std::uint8_t sectors, std::byte* out) const;
  /// Writes the bytes that each sector's mask names; `payload` as in MemoryRequest.  Returns
  /// whether the masks name all bytes of these sectors.
  bool store(PartitionOffset line, std::uint8_t sectors, const std::byte* payload);
  /// Returns whether that would change a byte.
  bool changes(PartitionOffset line, std::uint8_t sectors, const std::byte* payload) const;
  /// Executes each lane's operation in order and writes the old values to `old_values`, 8 bytes
  /// each.
  void atomic(PartitionOffset line, const MemoryRequest& request, const std::byte* lanes,
              std::byte* old_values);
  void zero(PartitionOffset offset, std::uint64_t bytes);
  /// Returns bytes for the caller to write to; within a frame.
  std::span<std::byte> at(PartitionOffset offset, std::uint64_t bytes);
  /// Copies bytes; source and target lie within a frame each.
  void copy(PartitionOffset from, PartitionOffset to, std::uint64_t bytes);

  /// Calls function(line, bytes) for the lines within [offset, offset + bytes)
  /// that are not zero.
  template <class Function>
  void for_each_line(PartitionOffset offset, std::uint64_t bytes, const Function& function) const {
    static constexpr std::array<std::byte, line_bytes> zeros{};
    const std::uint64_t end = offset.value() + bytes;
    for (std::uint64_t line = offset.value() / line_bytes * line_bytes; line < end;) {
      if (!is_written(line >> piece_shift)) {
        line = ((line >> piece_shift) + 1) << piece_shift;
        continue;
      }
      const std::byte* const content = region_.data() + line;
      if (std::memcmp(content, zeros.data(), line_bytes) != 0)
        function(PartitionOffset{line}, content);
      line += line_bytes;
    }
  }

  void serialize(Archive& archive);

 private:
  static constexpr unsigned piece_shift = 16;  ///< granularity of the record of written pieces

  /// Returns where the bytes of a line stand in the region.
  std::uint64_t place_of(PartitionOffset line) const;
  void mark(std::uint64_t offset) {
    written_[offset >> (piece_shift + 6)] |= std::uint64_t{1} << ((offset >> piece_shift) % 64);
  }
  bool is_written(std::uint64_t piece) const { return (written_[piece / 64] >> (piece % 64)) & 1; }

  LazyRegion region_;
  std::vector<std::uint64_t> written_;  ///< one bit per piece
};

}  // namespace lockstep
