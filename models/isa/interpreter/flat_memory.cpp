#include "models/isa/interpreter/flat_memory.hpp"

#include <cstring>

#include "core/error/error.hpp"

namespace lockstep::isa {
namespace {

/// Alignment of addresses and of their data on the host, so that data aligned for a kernel are
/// aligned for the host.
constexpr std::uint64_t alignment = 16;

}  // namespace

FlatMemory::Allocation& FlatMemory::add(std::uint64_t address, std::uint64_t bytes) {
  const auto next = allocations_.lower_bound(address);
  bool overlaps = next != allocations_.end() && next->first - address < bytes;
  if (next != allocations_.begin()) {
    const auto before = std::prev(next);
    overlaps |= address - before->first < before->second.bytes.size() + before->second.slack;
  }
  LOCKSTEP_CHECK(!overlaps, "allocations overlap");
  return allocations_[address];
}

void FlatMemory::map(std::uint64_t address, std::uint64_t bytes, bool is_fresh) {
  Allocation& allocation = add(address, bytes);
  const std::uint64_t before = address % alignment;
  allocation.own.resize(before + bytes);
  allocation.bytes = std::span(allocation.own).subspan(before);
  allocation.is_fresh = is_fresh;
}

void FlatMemory::map(std::uint64_t address, std::span<std::byte> bytes, std::uint64_t slack) {
  LOCKSTEP_CHECK((reinterpret_cast<std::uintptr_t>(bytes.data()) - address) % alignment == 0,
                 "bytes of the host are aligned otherwise than their address");
  Allocation& allocation = add(address, bytes.size() + slack);
  allocation.bytes = bytes;
  allocation.slack = slack;
}

void FlatMemory::map(std::uint64_t address, std::span<std::byte> bytes, Ready ready,
                     bool is_fresh) {
  Allocation& allocation = add(address, bytes.size());
  allocation.bytes = bytes;
  allocation.is_fresh = is_fresh;
  allocation.ready = std::move(ready);
}

void FlatMemory::unmap(std::uint64_t address) {
  LOCKSTEP_CHECK(allocations_.erase(address) == 1, "no allocation to unmap");
  last_base_ = last_bytes_ = 0;
  last_data_ = nullptr;
}

FlatMemory FlatMemory::view() {
  FlatMemory other;
  for (const auto& [address, allocation] : allocations_) {
    LOCKSTEP_CHECK(!allocation.ready, "a view of bytes that may not be ready");
    Allocation& copy = other.allocations_[address];
    copy.bytes = allocation.bytes;
    copy.slack = allocation.slack;
    copy.is_fresh = allocation.is_fresh;
  }
  other.lowest_stray_ = lowest_stray_;
  return other;
}

std::byte* FlatMemory::look_up(std::uint64_t address, std::uint64_t bytes) {
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return nullptr;
  --found;
  const std::span<std::byte> content = found->second.bytes;
  const std::uint64_t offset = address - found->first, end = content.size() + found->second.slack;
  if (offset >= end || bytes > end - offset) return nullptr;
  if (offset + bytes > content.size()) {
    note_stray(address);
    last_bytes_ = 0;  // makes the next access look its buffer up again
    last_is_fresh_ = &found->second.is_fresh;
    return content.data() + offset;
  }
  const std::span<std::byte> ready =
      found->second.ready ? found->second.ready(offset, bytes) : content;
  last_base_ = found->first + static_cast<std::uint64_t>(ready.data() - content.data());
  last_bytes_ = ready.size();
  last_data_ = ready.data();
  last_is_fresh_ = &found->second.is_fresh;
  return content.data() + offset;
}

void FlatMemory::note_stray(std::uint64_t address) const {
  if (!lowest_stray_) return;
  std::uint64_t lowest = lowest_stray_->load(std::memory_order_relaxed);
  while (address < lowest && !lowest_stray_->compare_exchange_weak(lowest, address)) {
  }
}

void FlatMemory::read(std::uint64_t address, void* to, std::uint64_t bytes) {
  const std::byte* from = find(address, bytes);
  LOCKSTEP_CHECK(from != nullptr || bytes == 0, "read outside of allocations");
  if (bytes > 0) std::memcpy(to, from, bytes);
}

void FlatMemory::write(std::uint64_t address, const void* from, std::uint64_t bytes) {
  std::byte* to = find(address, bytes);
  LOCKSTEP_CHECK(to != nullptr || bytes == 0, "write outside of allocations");
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace lockstep::isa
