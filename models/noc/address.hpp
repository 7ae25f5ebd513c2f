/// Addresses and page numbers, with types for the memory that they belong to.
///
/// An address moves by bytes, a page or frame by pages; the difference of two is a plain count.
/// There are no implicit conversions: `page_of` and `address_of` (vm/page_table_entry.hpp) go
/// between an address and its page, and only a page table goes from a page to a frame.
/// Source: gpu-parameters.md, section 11 (page sizes).
#pragma once

#include <compare>
#include <cstdint>

namespace lockstep {

/// A location in the space named by Tag, counted from 0 in the units of that space.
template <class Tag>
class Location {
 public:
  constexpr Location() = default;
  constexpr explicit Location(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }
  /// Returns the last multiple of `n` that is not behind it.
  constexpr Location rounded_down(std::uint64_t n) const { return Location(value_ / n * n); }
  constexpr auto operator<=>(const Location&) const = default;

  constexpr Location& operator+=(std::uint64_t n) {
    value_ += n;
    return *this;
  }
  constexpr Location& operator++() { return *this += 1; }
  friend constexpr Location operator+(Location location, std::uint64_t n) {
    return Location(location.value_ + n);
  }
  friend constexpr Location operator-(Location location, std::uint64_t n) {
    return Location(location.value_ - n);
  }
  /// How far apart they are.
  friend constexpr std::uint64_t operator-(Location a, Location b) { return a.value_ - b.value_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_);
  }

 private:
  std::uint64_t value_ = 0;
};

/// In bytes, of one tenant's address space.
using VirtualAddress = Location<struct VirtualAddressTag>;
/// In bytes, of GPU memory.
using PhysicalAddress = Location<struct PhysicalAddressTag>;
/// In bytes, within one memory partition.
using PartitionOffset = Location<struct PartitionOffsetTag>;
/// In pages of 4 KiB, of one tenant's address space.
using VirtualPage = Location<struct VirtualPageTag>;
/// In pages of 4 KiB, of GPU memory.
using Frame = Location<struct FrameTag>;

}  // namespace lockstep
