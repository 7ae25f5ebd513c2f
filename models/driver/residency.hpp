/// Place of each page of managed memory, as the driver knows it.
///
/// Every managed allocation gets a range of dense page numbers that starts at a multiple of 512, so
/// that blocks (64 KiB) and trees (2 MiB) of prefetching and eviction are aligned in it as they are
/// in the allocation.  One byte per page; no objects.
/// Source: 001, section B.3 (blocks, trees per allocation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/noc/address.hpp"
#include "models/noc/ids.hpp"

namespace lockstep {

/// In pages of 4 KiB, among all managed pages.
using ManagedPage = Location<struct ManagedPageTag>;

enum class PagePlace : std::uint8_t {
  host,
  arriving,  ///< requested: the frame, transfer or entry of the page is under way
  gpu,
  leaving,  ///< being unmapped or written back
  remote,   ///< mapped in host memory
};

struct Allocation {
  ManagedPage first;
  std::uint64_t pages = 0;
  VirtualPage virtual_page;  ///< first page of the allocation
  TenantId tenant;
  BufferId buffer;
  bool live = false;

  bool contains(ManagedPage page) const { return page - first < pages; }
  ManagedPage end() const { return first + pages; }
  VirtualPage virtual_page_of(ManagedPage page) const { return virtual_page + (page - first); }
  ManagedPage managed_page_of(VirtualPage page) const { return first + (page - virtual_page); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(first, pages, virtual_page, tenant, buffer, live);
  }
};

class Residency {
 public:
  /// Adds a new allocation of `pages` pages, all at the host.  Returns its index.  Freed numbers
  /// are used again.
  std::uint32_t add(TenantId tenant, BufferId buffer, VirtualPage virtual_page,
                    std::uint64_t pages);
  void remove(std::uint32_t allocation);

  const Allocation& allocation(std::uint32_t index) const { return allocations_[index]; }
  /// Returns the live allocation that holds a tenant's virtual page; nullptr: none does.
  const Allocation* find(TenantId tenant, VirtualPage virtual_page) const;
  /// Returns the allocation of a managed page.  Precondition: there is one.
  std::uint32_t owner_index(ManagedPage page) const { return owner_of_tree_[page.value() / 512]; }
  const Allocation& owner(ManagedPage page) const { return allocations_[owner_index(page)]; }

  PagePlace place(ManagedPage page) const { return places_[page.value()]; }
  void set_place(ManagedPage page, PagePlace place) { places_[page.value()] = place; }
  /// Returns whether the page is in GPU memory, or will be.
  bool valid(ManagedPage page) const {
    return place(page) == PagePlace::gpu || place(page) == PagePlace::arriving;
  }
  /// Returns the number of valid pages among [first, first + count).
  std::uint64_t count_valid(ManagedPage first, std::uint64_t count) const;
  /// Returns the number behind the managed page numbers given out so far.
  ManagedPage end() const { return ManagedPage{places_.size()}; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(allocations_, places_, owner_of_tree_, free_, by_address_);
  }

 private:
  /// Returns how many live allocations start at or below the address, or belong to lower tenants.
  std::size_t rank(TenantId tenant, VirtualPage virtual_page) const;

  std::vector<Allocation> allocations_;
  std::vector<PagePlace> places_;
  std::vector<std::uint32_t> owner_of_tree_;  ///< allocation of each tree, by page number / 512
  std::vector<std::uint32_t> free_;           ///< allocation numbers that may be used again
  std::vector<std::uint32_t> by_address_;     ///< live allocations, sorted by tenant and address
};

/// Neighbouring pages.
struct PageRange {
  ManagedPage first;
  std::uint64_t count = 0;

  ManagedPage end() const { return first + count; }
  bool operator==(const PageRange&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first, count);
  }
};

}  // namespace lockstep
