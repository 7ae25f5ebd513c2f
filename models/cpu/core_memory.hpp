/// The part of GPU memory that belongs to a tenant on a CPU core, and the layout of its lines in
/// DRAM.
///
/// The part begins and ends with a stripe of DRAM rows, so that it has the same rows in every bank
/// of every channel.
///
/// Simplified: the tenant's pages are contiguous, as if its operating system had reserved them; the
/// CPU's own translation is not simulated.
#pragma once

#include <cstdint>

#include "models/memory/dram/dram_layout.hpp"
#include "models/noc/address_mapping.hpp"

namespace lockstep {

class CoreMemory {
 public:
  CoreMemory(const AddressMapping& mapping, const DramLayout& layout, PhysicalAddress base,
             std::uint64_t bytes)
      : mapping_(mapping), layout_(layout), base_(base), bytes_(bytes) {}

  std::uint64_t bytes() const { return bytes_; }
  PhysicalAddress address(std::uint64_t offset) const { return base_ + offset; }

  struct Place {
    PartitionId partition;
    std::uint32_t bank = 0;  ///< number among the banks of all channels
    template <class Archive>
    void serialize(Archive& archive) {
      archive(partition, bank);
    }
  };
  Place place_of(std::uint64_t offset) const {
    const PhysicalAddress address = base_ + offset;
    const PartitionId partition = mapping_.partition(address);
    const DramAddress place = layout_.locate(mapping_.offset(address));
    const std::uint32_t channel = partition.value() * layout_.channels() + place.channel;
    return {partition, channel * layout_.banks() + place.bank};
  }

  std::uint32_t partitions() const { return mapping_.partitions(); }
  std::uint32_t banks() const {
    return mapping_.partitions() * layout_.channels() * layout_.banks();
  }
  std::uint64_t row_bytes() const { return layout_.row_bytes(); }
  /// Returns the number of rows of each bank that belong to the tenant.
  std::uint64_t rows() const { return bytes_ / row_bytes_of_all_banks(); }
  /// Returns the offset of a byte of one of these rows.
  std::uint64_t offset_of(std::uint32_t bank, std::uint64_t row, std::uint64_t byte) const {
    const std::uint64_t first = base_.value() / row_bytes_of_all_banks();
    const std::uint32_t channel = bank / layout_.banks();
    const DramAddress place{static_cast<std::uint32_t>(first + row),
                            static_cast<std::uint8_t>(bank % layout_.banks()),
                            static_cast<std::uint8_t>(channel % layout_.channels())};
    const PartitionId partition{static_cast<std::uint16_t>(channel / layout_.channels())};
    return mapping_.physical(partition, layout_.offset_of(place, byte)) - base_;
  }

 private:
  std::uint64_t row_bytes_of_all_banks() const {
    return mapping_.partitions() * layout_.stripe_bytes();
  }

  AddressMapping mapping_;
  DramLayout layout_;
  PhysicalAddress base_;
  std::uint64_t bytes_ = 0;
};

}  // namespace lockstep
