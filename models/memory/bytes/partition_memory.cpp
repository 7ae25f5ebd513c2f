#include "models/memory/bytes/partition_memory.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/error/error.hpp"
#include "models/noc/atomic_lanes.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t all_bytes = ~std::uint32_t{0};

/// Returns whether the masks of four sectors name all bytes.
bool is_of_ones(const std::byte* masks) {
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), masks, sizeof words);
  return (words[0] & words[1]) == ~std::uint64_t{0};
}

/// Writes the bytes of `from` that `mask` names.
void blend(std::byte* to, const std::byte* from, std::uint32_t mask) {
  if (mask == all_bytes) {
    std::memcpy(to, from, sector_bytes);
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(mask));
    if (((mask >> i) & 0xf) == 0xf) {
      std::memcpy(to + i, from + i, 4);
      mask &= ~(std::uint32_t{0xe} << i);
    } else {
      to[i] = from[i];
    }
  }
}

}  // namespace

PartitionMemory::PartitionMemory(std::uint64_t bytes)
    : region_(bytes), written_((bytes >> (piece_shift + 6)) + 1) {}

std::uint64_t PartitionMemory::place_of(PartitionOffset line) const {
  LOCKSTEP_CHECK(line.value() < size(), "a request goes beyond the memory of its partition");
  return line.value();
}

void PartitionMemory::load(PartitionOffset offset, std::uint8_t sectors, std::byte* out) const {
  const std::uint64_t line = place_of(offset);
  if (sectors == 0xf) {
    std::memcpy(out, region_.data() + line, line_bytes);
    return;
  }
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1, out += sector_bytes)
    std::memcpy(out, region_.data() + line + sector_bytes * unsigned(std::countr_zero(rest)),
                sector_bytes);
}

bool PartitionMemory::store(PartitionOffset offset, std::uint8_t sectors,
                            const std::byte* payload) {
  const std::uint64_t line = place_of(offset);
  mark(line);
  if (sectors == 0xf && is_of_ones(payload)) {
    std::memcpy(region_.data() + line, payload + 4 * sizeof(std::uint32_t), line_bytes);
    return true;
  }
  const std::byte* bytes = payload + sizeof(std::uint32_t) * unsigned(std::popcount(sectors));
  bool whole = true;
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    std::uint32_t mask;
    std::memcpy(&mask, payload, sizeof mask);
    blend(region_.data() + line + sector_bytes * unsigned(std::countr_zero(rest)), bytes, mask);
    whole = whole && mask == all_bytes;
    payload += sizeof mask;
    bytes += sector_bytes;
  }
  return whole;
}

bool PartitionMemory::changes(PartitionOffset offset, std::uint8_t sectors,
                              const std::byte* payload) const {
  const std::byte* line = region_.data() + place_of(offset);
  const std::byte* bytes = payload + sizeof(std::uint32_t) * unsigned(std::popcount(sectors));
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    const std::byte* sector = line + sector_bytes * unsigned(std::countr_zero(rest));
    std::uint32_t mask;
    std::memcpy(&mask, payload, sizeof mask);
    for (; mask != 0; mask &= mask - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(mask));
      if (sector[i] != bytes[i]) return true;
    }
    payload += sizeof mask;
    bytes += sector_bytes;
  }
  return false;
}

void PartitionMemory::atomic(PartitionOffset offset, const MemoryRequest& request,
                             const std::byte* lanes, std::byte* old_values) {
  const std::uint64_t line = place_of(offset);
  mark(line);
  modify_lanes(request, lanes, {region_.data() + line, line_bytes}, old_values);
}

void PartitionMemory::zero(PartitionOffset begin, std::uint64_t bytes) {
  std::uint64_t offset = begin.value();
  LOCKSTEP_CHECK(offset <= size() && bytes <= size() - offset, "zeroing beyond the partition");
  const std::uint64_t end = offset + bytes;
  while (offset < end) {
    const std::uint64_t piece_end = ((offset >> piece_shift) + 1) << piece_shift;
    const std::uint64_t stop = std::min(end, piece_end);
    if (is_written(offset >> piece_shift)) region_.zero(offset, stop - offset);
    offset = stop;
  }
}

std::span<std::byte> PartitionMemory::at(PartitionOffset offset, std::uint64_t bytes) {
  LOCKSTEP_CHECK(offset.value() + bytes <= size(), "bytes beyond the partition");
  mark(offset.value());
  return {region_.data() + offset.value(), bytes};
}

void PartitionMemory::copy(PartitionOffset from, PartitionOffset to, std::uint64_t bytes) {
  LOCKSTEP_CHECK(from.value() + bytes <= size() && to.value() + bytes <= size(),
                 "a page copy beyond the partition");
  mark(to.value());
  std::memcpy(region_.data() + to.value(), region_.data() + from.value(), bytes);
}

void PartitionMemory::serialize(Archive& archive) {
  if (!archive.is_saving()) region_.zero(0, size());
  archive(written_);
  const std::uint64_t pieces = (size() + (std::uint64_t{1} << piece_shift) - 1) >> piece_shift;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    if (!is_written(piece)) continue;
    const std::uint64_t begin = piece << piece_shift;
    archive.bytes(region_.data() + begin,
                  std::min(size() - begin, std::uint64_t{1} << piece_shift));
  }
}

}  // namespace lockstep
