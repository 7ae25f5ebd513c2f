#pragma once

#include "models/noc/interleaving.hpp"

namespace lockstep {

/// Groups of `mapping: grouped`: their number, and the memory of each.
struct MemoryGroups {
  std::uint32_t count = 1;
  std::uint64_t bytes = 0;
};

/// Mapping of a physical address to its memory partition, and to an offset in it.
///
/// With `grouped`, memory and partitions are divided into equal groups: each part of memory is
/// interleaved over the partitions of its group.  Memory behind all parts is spread over all
/// partitions.
/// Source: 004, section 6.6 (Static); memory-interference.md, section 5.4 (AMB-44).
class AddressMapping {
 public:
  enum class Kind : std::uint8_t {
    plain,    ///< 256-byte chunks, one after the other
    hashed,   ///< 256-byte chunks, permuted by a hash of the higher bits
    frame,    ///< a whole 4 KiB frame in one partition (Mosaic)
    grouped,  ///< hashed within a group of partitions for each part of memory
  };
  AddressMapping() = default;
  AddressMapping(Kind kind, std::uint32_t partitions, MemoryGroups groups = {});

  std::uint32_t partitions() const { return all_.partitions(); }
  /// Returns the bytes of memory of a group of partitions; 0: there are no groups.
  std::uint64_t group_bytes() const { return groups_.bytes; }
  /// Bytes that stay together: the period of partition changes.
  std::uint64_t chunk_bytes() const { return all_.chunk_bytes(); }

  PartitionId partition(PhysicalAddress physical) const {
    if (physical >= behind_) return all_.partition(from_behind(physical));
    const auto group = static_cast<std::uint32_t>(physical.value() / groups_.bytes);
    const PartitionId within = group_.partition(from_group(physical, group));
    return PartitionId{static_cast<std::uint16_t>(group * group_.partitions() + within.value())};
  }

  /// Returns the offset in the partition's own memory; dense from 0.
  PartitionOffset offset(PhysicalAddress physical) const {
    if (physical >= behind_) return all_.offset(from_behind(physical)) + offset_behind_;
    return group_.offset(
        from_group(physical, static_cast<std::uint32_t>(physical.value() / groups_.bytes)));
  }

  /// Returns the physical address: the inverse of partition() and offset() together.
  PhysicalAddress physical(PartitionId partition, PartitionOffset offset) const {
    if (offset.value() >= offset_behind_)
      return all_.physical(partition, offset - offset_behind_) + behind_.value();
    const std::uint32_t group = partition.value() / group_.partitions();
    const PartitionId within{
        static_cast<std::uint16_t>(partition.value() - group * group_.partitions())};
    return group_.physical(within, offset) + group * groups_.bytes;
  }

 private:
  PhysicalAddress from_behind(PhysicalAddress physical) const { return physical - behind_.value(); }
  PhysicalAddress from_group(PhysicalAddress physical, std::uint32_t group) const {
    return physical - group * groups_.bytes;
  }

  Interleaving all_;
  // Members of the mapping `grouped`.
  Interleaving group_;  ///< interleaving within a group
  MemoryGroups groups_;
  PhysicalAddress behind_;           ///< end of the groups' memory
  std::uint64_t offset_behind_ = 0;  ///< offset of the memory behind the groups, in each partition
};

}  // namespace lockstep
