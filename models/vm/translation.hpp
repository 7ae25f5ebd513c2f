/// From virtual to physical addresses, as an SM sees it.
///
/// One object per SM.  Every tenant's mapped ranges arrive with its grids; a look-up answers at
/// once.  Source: architecture.md, section 8, rules 8 and 11.
///
/// Simplified: no TLBs and no page faults yet: what is not mapped is an error of the program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/noc/messages.hpp"

namespace lockstep {

class Translation {
 public:
  struct Result {
    std::uint64_t physical = 0;
    bool mapped = false;
    bool in_host = false;
  };

  Translation() = default;
  explicit Translation(std::size_t tenants) : spaces_(tenants) {}

  /// The tenant's mapped ranges from now on, sorted by address.
  void set_extents(std::uint16_t tenant, std::span<const Extent> extents);

  Result lookup(std::uint16_t tenant, std::uint64_t address) const {
    const std::vector<Extent>& extents = spaces_[tenant];
    std::size_t low = 0, size = extents.size();
    while (size > 1) {  // the last extent that starts at or below the address
      const std::size_t half = size / 2;
      low += extents[low + half].virtual_base <= address ? half : 0;
      size -= half;
    }
    if (size == 0) return {};
    const Extent& extent = extents[low];
    const std::uint64_t offset = address - extent.virtual_base;
    // Pages are mapped whole.
    if (offset >= ((extent.bytes + 4095) & ~std::uint64_t{4095})) return {};
    return {extent.physical_base + offset, true, extent.in_host != 0};
  }

  template <class Archive>
  void serialize(Archive& archive) {
    std::uint64_t tenants = spaces_.size();
    archive(tenants);
    spaces_.resize(tenants);
    for (auto& extents : spaces_) {
      std::uint64_t count = extents.size();
      archive(count);
      extents.resize(count);
      archive.bytes(extents.data(), count * sizeof(Extent));
    }
  }

 private:
  std::vector<std::vector<Extent>> spaces_;
};

}  // namespace lockstep
