#pragma once

#include <cstdint>

namespace lockstep {

/// Which memory partition holds a physical address, and where in it.
///
/// Consecutive 256-byte chunks go to different partitions; an XOR of higher address bits permutes
/// the partitions so that strides do not collide.  Source: gpu-parameters.md, section 1 "Address
/// mapping" and "IPOLY".
class AddressMapping {
 public:
  enum class Kind : std::uint8_t {
    plain,   ///< chunk number modulo partitions
    hashed,  ///< the same, permuted by a hash of the higher bits
    frame,   ///< a whole 4 KiB frame in one partition (Mosaic)
  };
  AddressMapping() = default;
  AddressMapping(Kind kind, std::uint32_t partitions);

  std::uint32_t partitions() const { return partitions_; }
  std::uint32_t partition(std::uint64_t physical) const;
  /// Offset in the partition's own memory; dense from 0.
  std::uint64_t offset(std::uint64_t physical) const;
  /// Inverse of partition() and offset() together.
  std::uint64_t physical(std::uint32_t partition, std::uint64_t offset) const;

 private:
  Kind kind_ = Kind::plain;
  std::uint32_t partitions_ = 1;
  std::uint32_t chunk_shift_ = 8;
};

}  // namespace lockstep
