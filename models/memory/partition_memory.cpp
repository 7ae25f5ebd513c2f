#include "models/memory/partition_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error/error.hpp"
#include "models/isa/atomic.hpp"

namespace lockstep {
namespace {

/// Writes the bytes of `from` that `mask` names.
void blend(std::byte* to, const std::byte* from, std::uint32_t mask) {
  if (mask == ~std::uint32_t{0}) {
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
    : size_(bytes), written_((bytes >> (piece_shift + 6)) + 1) {
  void* place = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    throw UserError("gpu.memory.capacity", "the host gives no address space for it",
                    "choose less memory or raise the limit (ulimit -v)");
  data_ = static_cast<std::byte*>(place);
}

PartitionMemory::~PartitionMemory() {
  munmap(data_, size_);
}

void PartitionMemory::check(std::uint64_t line) const {
  LOCKSTEP_CHECK(line < size_, "a request goes beyond the memory of its partition");
}

void PartitionMemory::load(std::uint64_t line, std::uint8_t sectors, std::byte* out) const {
  check(line);
  if (sectors == 0xf) {
    std::memcpy(out, data_ + line, line_bytes);
    return;
  }
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1, out += sector_bytes)
    std::memcpy(out, data_ + line + sector_bytes * unsigned(std::countr_zero(rest)), sector_bytes);
}

void PartitionMemory::store(std::uint64_t line, std::uint8_t sectors, const std::byte* payload) {
  check(line);
  mark(line);
  const std::byte* bytes = payload + sizeof(std::uint32_t) * unsigned(std::popcount(sectors));
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    std::uint32_t mask;
    std::memcpy(&mask, payload, sizeof mask);
    blend(data_ + line + sector_bytes * unsigned(std::countr_zero(rest)), bytes, mask);
    payload += sizeof mask;
    bytes += sector_bytes;
  }
}

void PartitionMemory::atomic(std::uint64_t line, const MemoryRequest& request,
                             const std::byte* lanes, std::byte* old_values) {
  check(line);
  mark(line);
  const unsigned size = isa::bytes_of(request.type);
  for (unsigned i = 0; i < request.lanes; ++i) {
    AtomicLane lane;
    std::memcpy(&lane, lanes + i * sizeof lane, sizeof lane);
    LOCKSTEP_CHECK(lane.offset + size <= line_bytes, "an atomic leaves its line");
    std::byte* place = data_ + line + lane.offset;
    std::uint64_t old = 0;
    std::memcpy(&old, place, size);
    const std::uint64_t value = isa::apply(request.atomic, request.type, old, lane.a, lane.b);
    std::memcpy(place, &value, size);
    std::memcpy(old_values + i * sizeof old, &old, sizeof old);
  }
}

void PartitionMemory::zero(std::uint64_t offset, std::uint64_t bytes) {
  LOCKSTEP_CHECK(offset <= size_ && bytes <= size_ - offset, "zeroing beyond the partition");
  const std::uint64_t end = offset + bytes;
  while (offset < end) {
    const std::uint64_t piece_end = ((offset >> piece_shift) + 1) << piece_shift;
    const std::uint64_t stop = std::min(end, piece_end);
    if (is_written(offset >> piece_shift)) std::memset(data_ + offset, 0, stop - offset);
    offset = stop;
  }
}

void PartitionMemory::clear() {
  LOCKSTEP_CHECK(madvise(data_, size_, MADV_DONTNEED) == 0, "the host does not take memory back");
  std::fill(written_.begin(), written_.end(), 0);
}

void PartitionMemory::serialize(Archive& archive) {
  if (!archive.is_saving()) clear();
  archive(written_);
  const std::uint64_t pieces = (size_ + (std::uint64_t{1} << piece_shift) - 1) >> piece_shift;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    if (!is_written(piece)) continue;
    const std::uint64_t begin = piece << piece_shift;
    archive.bytes(data_ + begin, std::min(size_ - begin, std::uint64_t{1} << piece_shift));
  }
}

}  // namespace lockstep
