#include "models/sm/access/line_image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lockstep {

std::uint32_t lanes_in_sectors(const Access& access, const LineGroup& group, std::uint8_t sectors) {
  std::uint32_t lanes = 0;
  unsigned offset = group.first_offset;
  for (std::uint32_t left = group.lanes; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    if (!access.contiguous) offset = access.offset[lane];
    lanes |= std::uint32_t{(sectors >> (offset / sector_bytes)) & 1u} << lane;
    offset += access.stride;
  }
  return lanes;
}

LineBytes store_image(const Access& access, const LineGroup& group, std::byte* image) {
  LineBytes mask{};
  const unsigned first = static_cast<unsigned>(std::countr_zero(group.lanes));
  const unsigned stride = access.stride;
  if (access.contiguous) {
    const unsigned from = group.first_offset;
    const unsigned bytes = static_cast<unsigned>(std::popcount(group.lanes)) * stride;
    std::memcpy(image + from, access.data.data() + std::size_t{first} * stride, bytes);
    for (unsigned sector = from / 32; sector * 32 < from + bytes; ++sector) {
      const unsigned low = std::max(from, sector * 32) - sector * 32;
      const unsigned high = std::min(from + bytes, sector * 32 + 32) - sector * 32;
      mask[sector] = static_cast<std::uint32_t>((std::uint64_t{1} << high) - (1ull << low));
    }
    return mask;
  }
  const unsigned bytes = access.local ? std::min(stride, 4u) : stride;
  const auto ones = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  for (std::uint32_t left = group.lanes; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned offset = access.offset[lane];
    std::memcpy(image + offset,
                access.data.data() + std::size_t{lane} * stride + std::size_t{4} * access.part,
                bytes);
    mask[offset / 32] |= ones << (offset % 32);
  }
  return mask;
}

unsigned atomic_lanes(const Access& access, const LineGroup& group, unsigned words,
                      std::array<AtomicLane, 32>& records) {
  unsigned count = 0, next_offset = group.first_offset;
  for (std::uint32_t left = group.lanes; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned offset = access.contiguous ? next_offset : access.offset[lane];
    next_offset += access.stride;
    for (unsigned w = 0; w < words; ++w) {
      AtomicLane& record = records[count++];
      record = {};
      std::memcpy(&record.operands,
                  access.data.data() + (lane * words + w) * sizeof record.operands,
                  sizeof record.operands);
      record.offset = static_cast<std::uint8_t>(offset + 8 * w);
      record.lane = static_cast<std::uint8_t>(lane);
    }
  }
  return count;
}

}  // namespace lockstep
