#include "models/sm/access/line_image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/isa/lane_mask.hpp"
#include "models/sm/access/lane_runs.hpp"

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

/// Copies bytes to `from` and behind it, and adds them to the mask.
static void add_bytes(std::byte* image, LineBytes& mask, unsigned from, const std::byte* bytes,
                      unsigned count) {
  std::memcpy(image + from, bytes, count);
  for (unsigned sector = from / 32; sector * 32 < from + count; ++sector) {
    const unsigned low = std::max(from, sector * 32) - sector * 32;
    const unsigned high = std::min(from + count, sector * 32 + 32) - sector * 32;
    mask[sector] |= static_cast<std::uint32_t>((std::uint64_t{1} << high) - (1ull << low));
  }
}

LineBytes store_image(const Access& access, const LineGroup& group, std::byte* image) {
  LineBytes mask{};
  const unsigned stride = access.stride;
  const std::byte* const data = access.data.data();
  const auto add_lanes = [&](unsigned lane, unsigned lanes, unsigned offset) {
    add_bytes(image, mask, offset, data + std::size_t{lane} * stride, lanes * stride);
  };
  if (access.contiguous) {
    add_lanes(static_cast<unsigned>(std::countr_zero(group.lanes)),
              static_cast<unsigned>(std::popcount(group.lanes)), group.first_offset);
    return mask;
  }
  if (!access.local) {
    const std::uint32_t followers = followers_in_lines(access.offset.data(), stride);
    if (are_long_runs(group.lanes, followers, 4)) {
      for_each_run(group.lanes, followers, [&](unsigned lane, unsigned lanes) {
        add_lanes(lane, lanes, access.offset[lane]);
      });
      return mask;
    }
  }
  const unsigned bytes = access.local ? std::min(stride, 4u) : stride;
  const auto ones = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
  const std::byte* const part = data + std::size_t{4} * access.part;
  isa::for_each_lane(group.lanes, [&](unsigned lane) {
    const unsigned offset = access.offset[lane];
    const std::byte* const from = part + std::size_t{lane} * stride;
    if (bytes == 4) {
      std::memcpy(image + offset, from, 4);
    } else {
      std::memcpy(image + offset, from, bytes);
    }
    mask[offset / 32] |= ones << (offset % 32);
  });
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
