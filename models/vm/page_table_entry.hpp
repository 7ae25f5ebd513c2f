/// Pages, and what an entry of a page table says.
///
/// Four levels as in x86-64 paging: 9 bits of the page number per level, 512 entries of 8 bytes in
/// a table of 4 KiB.  An entry of level 1 to 3 points to the next table; one of level 4 to a frame,
/// or to remote host memory.  A large page (2 MiB) has its `large` bit in the level-3 entry, and
/// all 512 level-4 entries are there and contiguous, so that every walk reads four levels. Source:
/// 004, sections 7.1.2 and 7.3.3 (levels, `large`); architecture.md, section 8, rules 7, 10.
#pragma once

#include <cstdint>

#include "core/memory/round_up.hpp"
#include "models/noc/address.hpp"

namespace lockstep {

inline constexpr unsigned page_shift = 12;
inline constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
inline constexpr std::uint64_t pages_per_large = 512;
inline constexpr std::uint64_t large_page_bytes = page_bytes * pages_per_large;
/// Basic block of prefetching and eviction (001, section B.3).
inline constexpr std::uint64_t pages_per_block = 16;
inline constexpr unsigned walk_levels = 4;

constexpr std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return round_up(bytes, page_bytes);
}

constexpr VirtualPage page_of(VirtualAddress address) {
  return VirtualPage{address.value() >> page_shift};
}
constexpr VirtualAddress address_of(VirtualPage page) {
  return VirtualAddress{page.value() << page_shift};
}
constexpr Frame frame_of(PhysicalAddress address) {
  return Frame{address.value() >> page_shift};
}
constexpr PhysicalAddress address_of(Frame frame) {
  return PhysicalAddress{frame.value() << page_shift};
}

/// Returns the index into the table of `level` (1: root ... 4: leaf) for a virtual page number.
constexpr unsigned table_index(std::uint64_t page, unsigned level) {
  return static_cast<unsigned>(page >> (9 * (walk_levels - level))) & 511u;
}

/// A page table entry as stored in memory.  0: nothing is mapped.
struct PageTableEntry {
  static constexpr std::uint64_t present = 1;
  static constexpr std::uint64_t writable = 2;
  static constexpr std::uint64_t accessed = 4;  ///< bit set by walkers
  static constexpr std::uint64_t dirty = 8;     ///< bit set at the first store of an SM
  /// Bit of a page in host memory, reached over the host link.
  static constexpr std::uint64_t remote = 16;
  static constexpr std::uint64_t large = 32;  ///< bit of a level-3 entry that maps a large page
  /// Absent, and neither side owns the page: the GPU may give it a zeroed frame by itself.
  static constexpr std::uint64_t untouched = 128;
  /// Level 4: part of a large page, whose pages were mapped one by one before.
  static constexpr std::uint64_t disabled = 256;
  static constexpr std::uint64_t set_by_gmmu = accessed | dirty | disabled;
  static constexpr std::uint64_t flags = page_bytes - 1;

  std::uint64_t bits = 0;

  static constexpr PageTableEntry of(std::uint64_t address, std::uint64_t flag_bits) {
    return {(address & ~flags) | flag_bits};
  }
  constexpr bool is(std::uint64_t flag) const { return (bits & flag) != 0; }
  /// Returns the physical address of the frame or next table; for a remote page, the address in
  /// requests for it.
  constexpr std::uint64_t address() const { return bits & ~flags; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bits);
  }
};

/// Returns the alignment of a buffer's virtual address: buffers that may fill large pages are
/// aligned to these.
constexpr std::uint64_t address_alignment(std::uint64_t bytes) {
  return bytes >= large_page_bytes ? large_page_bytes : page_bytes;
}

}  // namespace lockstep
