#include "models/sm/blocks/buffer_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/vm/page_table_entry.hpp"

namespace lockstep {
namespace {

std::uint64_t end_of(const BufferBound& buffer) {
  return buffer.address + buffer.bytes;
}

bool has(const BufferBound& buffer, std::uint64_t address, std::uint64_t bytes) {
  return address >= buffer.address && address < end_of(buffer) && bytes <= end_of(buffer) - address;
}

bool share_a_large_page(std::uint64_t a, std::uint64_t b) {
  return a / large_page_bytes == b / large_page_bytes;
}

}  // namespace

BufferBounds::BufferBounds(std::span<const std::byte> bounds)
    : bounds_(bounds.size() / sizeof(BufferBound)) {
  if (!bounds.empty()) std::memcpy(bounds_.data(), bounds.data(), bounds.size());
  forget();
}

void BufferBounds::forget() {
  recent_.fill(bounds_.empty() ? Range{} : Range{0, 0});
}

const BufferBound* BufferBounds::at_or_before(std::uint64_t address) const {
  const auto after = std::upper_bound(
      bounds_.begin(), bounds_.end(), address,
      [](std::uint64_t a, const BufferBound& buffer) { return a < buffer.address; });
  return after == bounds_.begin() ? nullptr : &*std::prev(after);
}

const BufferBound* BufferBounds::meant_beside(const BufferBound& hit, isa::PointerOrigins origins,
                                              std::span<const std::byte> parameters) const {
  if ((origins & (isa::from_anywhere | isa::from_variables)) != 0) return nullptr;
  const BufferBound* meant = nullptr;
  for (isa::PointerOrigins left = origins; left != 0; left &= left - 1) {
    const std::size_t place = 8 * static_cast<std::size_t>(std::countr_zero(left));
    std::uint64_t pointer = 0;
    if (place + sizeof pointer > parameters.size()) return nullptr;
    std::memcpy(&pointer, parameters.data() + place, sizeof pointer);
    const BufferBound* const buffer = at_or_before(pointer);
    if (!buffer || !has(*buffer, pointer, 1)) continue;
    if (buffer == &hit || (meant && meant != buffer)) return nullptr;
    meant = buffer;
  }
  return meant && share_a_large_page(meant->address, hit.address) ? meant : nullptr;
}

bool BufferBounds::recall(std::uint32_t pc, std::uint64_t address, std::uint64_t bytes,
                          isa::PointerOrigins origins, std::span<const std::byte> parameters) {
  const BufferBound* const buffer = at_or_before(address);
  if (!buffer || !has(*buffer, address, bytes) || meant_beside(*buffer, origins, parameters))
    return false;
  recent_[pc % recent_.size()] = {buffer->address, buffer->bytes};
  return true;
}

std::optional<BufferBounds::Outside> BufferBounds::find(std::uint32_t pc, std::uint64_t address,
                                                        std::uint64_t bytes,
                                                        isa::PointerOrigins origins,
                                                        std::span<const std::byte> parameters) {
  if (holds(pc, address, bytes) || recall(pc, address, bytes, origins, parameters))
    return std::nullopt;
  const BufferBound* const before = at_or_before(address);
  if (before && has(*before, address, bytes)) {
    const BufferBound* const meant = meant_beside(*before, origins, parameters);
    return Outside{meant, address < meant->address, before};
  }
  if (before && address < end_of(*before)) return Outside{before, false, nullptr};
  const BufferBound* const next = before ? before + 1 : bounds_.data();
  const bool is_last = next == bounds_.data() + bounds_.size();
  const bool near_before = before && share_a_large_page(end_of(*before) - 1, address);
  const bool near_next = !is_last && share_a_large_page(next->address, address);
  if (!near_before && !near_next) return std::nullopt;
  const bool is_before =
      near_next && (!near_before || next->address - address < address - end_of(*before));
  return Outside{is_before ? next : before, is_before, nullptr};
}

}  // namespace lockstep
