#include "models/sm/coalescer.hpp"

#include <algorithm>
#include <bit>

#include "models/noc/messages.hpp"

namespace lockstep {

namespace {

/// Consecutive lanes at consecutive addresses: the lines follow from the first address.
bool coalesce_contiguous(Access& access, const LaneAddresses& address, unsigned bytes) {
  const std::uint32_t active = access.active;
  const unsigned first = static_cast<unsigned>(std::countr_zero(active));
  const std::uint32_t run = active >> first;
  if ((run & (run + 1)) != 0) return false;
  const unsigned count = static_cast<unsigned>(std::popcount(active));
  const std::uint64_t base = address[first];
  std::uint64_t different = 0;
  for (unsigned i = 0; i < count; ++i) different |= address[first + i] ^ (base + i * bytes);
  if (different != 0) return false;

  const std::uint64_t end = base + std::uint64_t{count} * bytes;
  unsigned lane = first;
  unsigned groups = 0;
  for (std::uint64_t line = base & ~(line_bytes - 1); line < end; line += line_bytes, ++groups) {
    const std::uint64_t from = std::max(base, line), to = std::min(end, line + line_bytes);
    const unsigned lanes = static_cast<unsigned>((to - from) / bytes);
    const unsigned first_sector = static_cast<unsigned>(from - line) / sector_bytes;
    const unsigned last_sector = static_cast<unsigned>(to - 1 - line) / sector_bytes;
    LineGroup& group = access.group[groups];
    group.line = line;
    group.lanes = static_cast<std::uint32_t>(((std::uint64_t{1} << lanes) - 1) << lane);
    group.sectors = static_cast<std::uint8_t>((2u << last_sector) - (1u << first_sector));
    access.offset[lane] = static_cast<std::uint8_t>(from - line);
    lane += lanes;
  }
  access.groups = static_cast<std::uint8_t>(groups);
  access.contiguous = true;
  return true;
}

/// One pass over the lanes with a small hash of the lines found so far.
void coalesce_scattered(Access& access, const LaneAddresses& address) {
  std::array<std::uint8_t, 64> place{};  // 1 + group
  unsigned groups = 0;
  for (std::uint32_t left = access.active; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(left));
    const std::uint64_t line = address[lane] & ~(line_bytes - 1);
    const unsigned offset = static_cast<unsigned>(address[lane] & (line_bytes - 1));
    const std::uint8_t sector = static_cast<std::uint8_t>(1u << (offset / sector_bytes));
    access.offset[lane] = static_cast<std::uint8_t>(offset);
    unsigned slot = static_cast<unsigned>((line >> 7) ^ (line >> 13)) & 63;
    while (place[slot] != 0 && access.group[place[slot] - 1u].line != line) slot = (slot + 1) & 63;
    if (place[slot] == 0) {
      access.group[groups] = {.line = line};
      place[slot] = static_cast<std::uint8_t>(++groups);
    }
    LineGroup& group = access.group[place[slot] - 1u];
    group.lanes |= 1u << lane;
    group.sectors |= sector;
  }
  access.groups = static_cast<std::uint8_t>(groups);
  access.contiguous = false;
}

}  // namespace

void coalesce(Access& access, const LaneAddresses& address, unsigned bytes) {
  access.next = 0;
  if (!coalesce_contiguous(access, address, bytes)) coalesce_scattered(access, address);
}

void halve_large_groups(Access& access) {
  // Consecutive lanes at consecutive addresses are fewer in a line.
  if (access.contiguous) return;
  const auto sectors_of = [&](std::uint32_t lanes) {
    unsigned sectors = 0;
    for (; lanes != 0; lanes &= lanes - 1)
      sectors |= 1u << access.offset[static_cast<unsigned>(std::countr_zero(lanes))] / sector_bytes;
    return static_cast<std::uint8_t>(sectors);
  };
  for (unsigned g = 0, before = access.groups; g < before; ++g) {
    LineGroup& group = access.group[g];
    std::uint32_t first = group.lanes, rest = first;
    for (int i = 0; i < 16; ++i) rest &= rest - 1;
    if (rest == 0) continue;
    first &= ~rest;
    access.group[access.groups++] = {
        .line = group.line, .lanes = rest, .sectors = sectors_of(rest)};
    group.lanes = first;
    group.sectors = sectors_of(first);
  }
}

}  // namespace lockstep
