#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// Memory in chunks, which go to different partitions one after the other; a hash of the higher
/// address bits may permute the partitions so that strides do not collide.
/// Source: gpu-parameters.md, section 1 "Address mapping" and "IPOLY" (Rau, ISCA 1991).
class Interleaving {
 public:
  Interleaving() = default;
  Interleaving(bool hashed, unsigned chunk_shift, std::uint32_t partitions);

  std::uint32_t partitions() const { return partitions_; }
  /// Bytes that stay together: the period of partition changes.
  std::uint64_t chunk_bytes() const { return std::uint64_t{1} << chunk_shift_; }

  PartitionId partition(PhysicalAddress physical) const {
    const std::uint64_t chunk = physical.value() >> chunk_shift_;
    const std::uint64_t upper = quotient(chunk);
    const auto low = static_cast<std::uint32_t>(chunk - upper * partitions_);
    if (!hashed_) return numbered(low);
    if (power_of_two_) return numbered(low ^ polynomial_hash(upper));
    const std::uint32_t rotated = low + folded_hash(upper);
    return numbered(rotated >= partitions_ ? rotated - partitions_ : rotated);
  }

  /// Returns the offset in the partition's own memory; dense from 0.
  PartitionOffset offset(PhysicalAddress physical) const {
    const std::uint64_t within = physical.value() & (chunk_bytes() - 1);
    return PartitionOffset{(quotient(physical.value() >> chunk_shift_) << chunk_shift_) | within};
  }

  /// Returns the physical address: the inverse of partition() and offset() together.
  PhysicalAddress physical(PartitionId partition, PartitionOffset offset) const {
    const std::uint64_t upper = offset.value() >> chunk_shift_;
    std::uint32_t low = partition.value();
    if (hashed_) {
      if (power_of_two_) {
        low ^= polynomial_hash(upper);
      } else {
        const std::uint32_t turn = folded_hash(upper);
        low = low >= turn ? low - turn : low + partitions_ - turn;
      }
    }
    const std::uint64_t chunk = upper * partitions_ + low;
    return PhysicalAddress{(chunk << chunk_shift_) | (offset.value() & (chunk_bytes() - 1))};
  }

 private:
  /// For each of the lower three bytes of an upper address and each value of the byte: its share of
  /// the hash.
  using ByteTables = std::array<std::array<std::uint16_t, 256>, 3>;

  static const ByteTables& tables_of(std::uint32_t shift);
  static PartitionId numbered(std::uint32_t partition) {
    return PartitionId{static_cast<std::uint16_t>(partition)};
  }
  std::uint64_t quotient(std::uint64_t chunk) const {
    return power_of_two_ ? chunk >> shift_ : chunk / partitions_;
  }
  /// Returns (upper * x^m) mod P over GF(2).  Tables hold the share of each of the lower three
  /// bytes; beyond them, bit i is the parity of the bits that masks_[i] selects.
  std::uint32_t polynomial_hash(std::uint64_t upper) const {
    std::uint32_t hash = 0;
    if (upper >> 24 == 0) [[likely]] {
      const ByteTables& table = *tables_;
      return std::uint32_t{table[0][upper & 0xff]} ^ table[1][upper >> 8 & 0xff] ^
             table[2][upper >> 16];
    }
    for (unsigned i = 0; i < shift_; ++i)
      hash |= static_cast<std::uint32_t>(std::popcount(upper & masks_[i]) & 1) << i;
    return hash;
  }
  /// Returns the XOR of 16-bit pieces, modulo the partitions: a rotation where XOR would leave the
  /// range.
  std::uint32_t folded_hash(std::uint64_t upper) const {
    upper ^= upper >> 32;
    upper ^= upper >> 16;
    return static_cast<std::uint32_t>(upper & 0xffff) % partitions_;
  }

  bool hashed_ = false;
  bool power_of_two_ = true;
  std::uint32_t partitions_ = 1;
  std::uint32_t chunk_shift_ = 8;
  std::uint32_t shift_ = 0;  ///< log2 of the number of partitions
  std::array<std::uint64_t, 10> masks_{};
  /// Tables shared by all interleavings with as many partitions.
  const ByteTables* tables_ = nullptr;
};

}  // namespace lockstep
