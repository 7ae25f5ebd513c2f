#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/noc/messages.hpp"

namespace lockstep {

/// Returns a mask: bit i says whether sector i of the line holds a byte of [begin, end).
inline std::uint8_t sectors_of(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first = begin / sector_bytes, last = (end - 1) / sector_bytes;
  return static_cast<std::uint8_t>((2u << last) - (1u << first));
}

/// Fills the payload of a store of [begin, end) of a line: a mask for each touched sector, then the
/// sectors' bytes.
inline void fill_store(std::byte* place, std::uint64_t begin, std::uint64_t end,
                       const std::byte* data) {
  const std::uint64_t first = begin / sector_bytes * sector_bytes;
  const std::uint64_t sectors = (end - first + sector_bytes - 1) / sector_bytes;
  const std::uint64_t bytes = sectors * sector_bytes;
  std::byte* sector_data = place + sectors * sizeof(std::uint32_t);
  std::memset(place, 0xff, sectors * sizeof(std::uint32_t));
  if (end - begin < bytes) {
    const std::uint32_t head = ~0u << (begin - first);
    const std::uint32_t tail = ~0u >> (first + bytes - end);
    for (std::uint64_t s = 0; s < sectors; ++s) {
      const std::uint32_t mask = (s == 0 ? head : ~0u) & (s + 1 == sectors ? tail : ~0u);
      std::memcpy(place + s * sizeof mask, &mask, sizeof mask);
    }
    std::memset(sector_data, 0, bytes);
  }
  std::memcpy(sector_data + (begin - first), data, end - begin);
}

}  // namespace lockstep
