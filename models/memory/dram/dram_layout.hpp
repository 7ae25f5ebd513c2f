#pragma once

#include <bit>
#include <cstdint>

#include "models/memory/dram/dram_parameters.hpp"
#include "models/noc/address.hpp"

namespace lockstep {

/// Where a byte of a partition stands.
struct DramAddress {
  std::uint32_t row = 0;
  std::uint8_t bank = 0;     ///< bank within the channel
  std::uint8_t channel = 0;  ///< channel within the partition
};

/// Layout of a partition's bytes in the banks of its channels.
///
/// From the right: bytes of a bank's piece, channel, bank group, rest of the row, bank in the
/// group, row. The row's low bits permute the banks, so that arrays which start in the same bank do
/// not conflict, and all bits above permute the channels. Source: gpu-parameters.md, section 1
/// "DRAM timing".
class DramLayout {
 public:
  explicit DramLayout(const DramParameters& p)
      : interleave_shift_(log2_of(p.interleave.count())),
        channel_shift_(log2_of(p.channels)),
        group_shift_(log2_of(p.bank_groups)),
        row_shift_(log2_of(p.row.count() / p.interleave.count())),
        bank_shift_(log2_of(p.banks)),
        bank_mask_(p.banks - 1) {}

  std::uint32_t channels() const { return std::uint32_t{1} << channel_shift_; }
  /// Returns the number of banks of a channel.
  std::uint32_t banks() const { return bank_mask_ + 1; }
  std::uint64_t row_bytes() const { return std::uint64_t{1} << (row_shift_ + interleave_shift_); }
  /// Bytes of the rows with one number in all banks of all channels; they are contiguous in the
  /// partition.
  std::uint64_t stripe_bytes() const { return row_bytes() * banks() * channels(); }

  std::uint32_t channel(PartitionOffset offset) const {
    if (channel_shift_ == 0) return 0;
    const std::uint64_t piece = offset.value() >> interleave_shift_;
    return static_cast<std::uint32_t>(piece ^ turn(piece >> channel_shift_)) & (channels() - 1);
  }
  DramAddress locate(PartitionOffset offset) const {
    std::uint64_t rest = offset.value() >> interleave_shift_ >> channel_shift_;
    const std::uint64_t group = rest & ((std::uint64_t{1} << group_shift_) - 1);
    rest >>= group_shift_ + row_shift_;
    const std::uint64_t in_group = rest & ((std::uint64_t{1} << in_group_bits()) - 1);
    const std::uint64_t row = rest >> in_group_bits();
    const std::uint64_t bank = (group | in_group << group_shift_) ^ permutation(row);
    return {static_cast<std::uint32_t>(row), static_cast<std::uint8_t>(bank & bank_mask_),
            static_cast<std::uint8_t>(channel(offset))};
  }
  /// Returns the inverse of locate(); `byte` of the row.
  PartitionOffset offset_of(DramAddress address, std::uint64_t byte) const {
    const std::uint64_t place = (address.bank ^ permutation(address.row)) & bank_mask_;
    const std::uint64_t group = place & ((std::uint64_t{1} << group_shift_) - 1);
    const std::uint64_t in_group = place >> group_shift_;
    const std::uint64_t piece = byte >> interleave_shift_;
    const std::uint64_t rest =
        (std::uint64_t{address.row} << in_group_bits() | in_group) << row_shift_ | piece;
    const std::uint64_t within = byte & ((std::uint64_t{1} << interleave_shift_) - 1);
    const std::uint64_t of_channel = rest << group_shift_ | group;
    const std::uint64_t turned = (address.channel ^ turn(of_channel)) & (channels() - 1);
    return PartitionOffset{(of_channel << channel_shift_ | turned) << interleave_shift_ | within};
  }

 private:
  static std::uint32_t log2_of(std::uint64_t power) {
    return static_cast<std::uint32_t>(std::bit_width(power)) - 1;
  }
  std::uint32_t in_group_bits() const { return bank_shift_ - group_shift_; }
  /// Returns the bits that permute the channels of a piece, in its low bits; `of_channel`: number
  /// of the piece in its channel.
  std::uint64_t turn(std::uint64_t of_channel) const {
    std::uint64_t folded = of_channel ^ of_channel >> 16;
    folded ^= folded >> 8;
    return folded ^ folded >> channel_shift_ ^ folded >> 2 * channel_shift_;
  }
  std::uint64_t permutation(std::uint64_t row) const { return row ^ (row >> bank_shift_); }

  std::uint32_t interleave_shift_, channel_shift_, group_shift_, row_shift_, bank_shift_,
      bank_mask_;
};

}  // namespace lockstep
