#include "models/sm/access/coalescer.hpp"

#include <smmintrin.h>

#include <algorithm>
#include <bit>

#include "models/isa/lane_mask.hpp"
#include "models/noc/messages.hpp"
#include "models/sm/access/lane_runs.hpp"

namespace lockstep {

using isa::lanes_from;

namespace {

/// Returns a mask: bit l says whether lane l + 1 stands `bytes` behind lane l, an active one.
std::uint32_t find_followers(const LaneAddresses& address, std::uint32_t active, unsigned bytes) {
  if (std::popcount(active) <= few_lanes) {
    std::uint32_t few = 0;
    isa::for_each_lane(active & ~(std::uint32_t{1} << 31), [&](unsigned lane) {
      few |= std::uint32_t{address[lane + 1] - address[lane] == bytes} << lane;
    });
    return few;
  }
  const __m128i step = _mm_set1_epi64x(bytes);
  const auto pair = [&](unsigned lane) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&address[lane]));
  };
  std::uint32_t followers = std::uint32_t{address[31] - address[30] == bytes} << 30;
  for (unsigned lane = 0; lane < 30; lane += 2) {
    const __m128i equal = _mm_cmpeq_epi64(_mm_add_epi64(pair(lane), step), pair(lane + 1));
    followers |= static_cast<std::uint32_t>(_mm_movemask_pd(_mm_castsi128_pd(equal))) << lane;
  }
  return followers;
}

/// Calls each(line, first byte in it, bytes, first lane, lanes) for the lines of lanes [first,
/// first + count) at consecutive addresses.
template <class Each>
void for_each_line(std::uint64_t base, unsigned bytes, unsigned first, unsigned count,
                   Each&& each) {
  const std::uint64_t end = base + std::uint64_t{count} * bytes;
  unsigned lane = first;
  for (std::uint64_t line = base & ~(line_bytes - 1); line < end; line += line_bytes) {
    const std::uint64_t from = std::max(base, line), to = std::min(end, line + line_bytes);
    const unsigned lanes = static_cast<unsigned>((to - from) / bytes);
    each(line, static_cast<unsigned>(from - line), static_cast<unsigned>(to - from), lane, lanes);
    lane += lanes;
  }
}

std::uint8_t sectors_of(unsigned offset, unsigned bytes) {
  return static_cast<std::uint8_t>((2u << ((offset + bytes - 1) / sector_bytes)) -
                                   (1u << (offset / sector_bytes)));
}

/// Coalesces lanes that form one run, so that each line is met once.
void coalesce_contiguous(Access& access, std::uint64_t base, unsigned bytes, unsigned first,
                         unsigned count) {
  unsigned groups = 0;
  for_each_line(
      base, bytes, first, count,
      [&](std::uint64_t line, unsigned offset, unsigned length, unsigned lane, unsigned lanes) {
        access.group[groups++] = {.line = line,
                                  .lanes = lanes_from(lane, lanes),
                                  .sectors = sectors_of(offset, length),
                                  .first_offset = static_cast<std::uint8_t>(offset)};
      });
  access.groups = static_cast<std::uint8_t>(groups);
  access.contiguous = true;
}

/// Writes the place of each lane in its line, eight lanes at once, inactive lanes included.
void find_offsets(Access& access, const LaneAddresses& address) {
  const __m128i in_line = _mm_set1_epi64x(line_bytes - 1);
  const auto pair = [&](unsigned lane) {
    const auto* at = reinterpret_cast<const __m128i*>(&address[lane]);
    return _mm_castsi128_ps(_mm_and_si128(_mm_loadu_si128(at), in_line));
  };
  const auto four = [&](unsigned lane) {
    return _mm_castps_si128(_mm_shuffle_ps(pair(lane), pair(lane + 2), _MM_SHUFFLE(2, 0, 2, 0)));
  };
  for (unsigned lane = 0; lane < 32; lane += 8) {
    const __m128i words = _mm_packs_epi32(four(lane), four(lane + 4));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(&access.offset[lane]),
                     _mm_packus_epi16(words, words));
  }
}

/// Coalesces run by run, with a small hash of the lines found so far.  `has_offsets`:
/// find_offsets() has written each lane's place in its line.
template <bool has_offsets>
void coalesce_runs(Access& access, const LaneAddresses& address, unsigned bytes,
                   std::uint32_t followers) {
  std::array<std::uint8_t, 64> place{};  // 1 + group of each lane
  unsigned groups = 0;
  LineGroup* last = access.group.data();  // neighbours often share their line
  const auto group_of = [&](std::uint64_t line, unsigned offset) -> LineGroup& {
    if (groups != 0 && last->line == line) return *last;
    unsigned slot = static_cast<unsigned>((line >> 7) ^ (line >> 13)) & 63;
    while (place[slot] != 0 && access.group[place[slot] - 1u].line != line) slot = (slot + 1) & 63;
    if (place[slot] == 0) {
      access.group[groups] = {.line = line, .first_offset = static_cast<std::uint8_t>(offset)};
      place[slot] = static_cast<std::uint8_t>(++groups);
    }
    last = &access.group[place[slot] - 1u];
    return *last;
  };
  const auto add = [&](std::uint64_t line, unsigned offset, unsigned length, unsigned lane,
                       unsigned lanes) {
    LineGroup& group = group_of(line, offset);
    group.lanes |= lanes_from(lane, lanes);
    group.sectors |= sectors_of(offset, length);
    if constexpr (!has_offsets)
      for (unsigned i = 0; i < lanes; ++i)
        access.offset[lane + i] = static_cast<std::uint8_t>(offset + i * bytes);
  };
  const auto add_one = [&](unsigned lane) {
    // A lane's bytes are aligned: they stand in one sector.
    const unsigned offset = address[lane] % line_bytes;
    LineGroup& group = group_of(address[lane] - offset, offset);
    group.lanes |= std::uint32_t{1} << lane;
    group.sectors |= static_cast<std::uint8_t>(1u << (offset / sector_bytes));
    if constexpr (!has_offsets) access.offset[lane] = static_cast<std::uint8_t>(offset);
  };
  if ((followers & access.active) == 0) {
    isa::for_each_lane(access.active, add_one);
  } else {
    for_each_run(access.active, followers, [&](unsigned lane, unsigned count) {
      count == 1 ? add_one(lane) : for_each_line(address[lane], bytes, lane, count, add);
    });
  }
  access.groups = static_cast<std::uint8_t>(groups);
  access.contiguous = false;
}

void coalesce_scattered(Access& access, const LaneAddresses& address, unsigned bytes,
                        std::uint32_t followers) {
  // Vectors pay where many lanes stand in few runs.
  if (std::popcount(access.active) > 16 && count_runs(access.active, followers) <= few_runs) {
    find_offsets(access, address);
    coalesce_runs<true>(access, address, bytes, followers);
  } else {
    coalesce_runs<false>(access, address, bytes, followers);
  }
}

}  // namespace

void coalesce(Access& access, const LaneAddresses& address, unsigned bytes) {
  access.next = 0;
  const unsigned first = static_cast<unsigned>(std::countr_zero(access.active));
  const unsigned count = static_cast<unsigned>(std::popcount(access.active));
  const std::uint32_t followers = find_followers(address, access.active, bytes);
  // In one run, every lane but the last has a follower.
  const bool one_run =
      lanes_from(first, count) == access.active && (lanes_from(first, count - 1) & ~followers) == 0;
  if (one_run) {
    coalesce_contiguous(access, address[first], bytes, first, count);
  } else {
    coalesce_scattered(access, address, bytes, followers);
  }
}

bool are_consecutive(const std::uint32_t* addresses, unsigned bytes) {
  const auto pair = [&](unsigned lane) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(addresses + 2 * lane));
  };
  const __m128i step = _mm_set1_epi64x(2 * bytes);
  __m128i expected = _mm_unpacklo_epi64(pair(0), pair(0));
  expected = _mm_add_epi64(expected, _mm_set_epi64x(bytes, 0));
  __m128i different = _mm_setzero_si128();
  for (unsigned lane = 0; lane < 32; lane += 2, expected = _mm_add_epi64(expected, step))
    different = _mm_or_si128(different, _mm_xor_si128(pair(lane), expected));
  return _mm_testz_si128(different, different) != 0;
}

void coalesce_consecutive(Access& access, std::uint64_t base, unsigned bytes) {
  access.next = 0;
  coalesce_contiguous(access, base, bytes, 0, 32);
}

void halve_large_groups(Access& access) {
  // Consecutive lanes at consecutive addresses are fewer in a line.
  if (access.contiguous) return;
  const auto sectors_of_lanes = [&](std::uint32_t lanes) {
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
        .line = group.line,
        .lanes = rest,
        .sectors = sectors_of_lanes(rest),
        .first_offset = access.offset[static_cast<unsigned>(std::countr_zero(rest))]};
    group.lanes = first;
    group.sectors = sectors_of_lanes(first);
  }
}

}  // namespace lockstep
