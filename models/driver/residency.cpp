#include "models/driver/residency.hpp"

#include <algorithm>

#include "models/vm/page_table_entry.hpp"

namespace lockstep {

std::uint32_t Residency::add(TenantId tenant, BufferId buffer, VirtualPage virtual_page,
                             std::uint64_t pages) {
  const std::uint64_t trees = (pages + pages_per_large - 1) / pages_per_large;
  const auto capacity = [&](std::uint32_t a) {
    return (allocations_[a].pages + pages_per_large - 1) / pages_per_large;
  };
  const auto place = std::find_if(free_.begin(), free_.end(),
                                  [&](std::uint32_t a) { return capacity(a) == trees; });
  std::uint32_t index;
  if (place != free_.end()) {
    index = *place;
    free_.erase(place);
  } else {
    index = static_cast<std::uint32_t>(allocations_.size());
    allocations_.emplace_back().first = end();
    places_.resize(places_.size() + trees * pages_per_large);
    owner_of_tree_.resize(owner_of_tree_.size() + trees, index);
  }
  Allocation& allocation = allocations_[index];
  allocation = {allocation.first, pages, virtual_page, tenant, buffer, true};
  by_address_.insert(by_address_.begin() + static_cast<std::ptrdiff_t>(rank(tenant, virtual_page)),
                     index);
  return index;
}

void Residency::remove(std::uint32_t index) {
  Allocation& allocation = allocations_[index];
  allocation.live = false;
  by_address_.erase(std::find(by_address_.begin(), by_address_.end(), index));
  std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(allocation.first.value()),
              allocation.pages, PagePlace::host);
  free_.push_back(index);
}

std::size_t Residency::rank(TenantId tenant, VirtualPage virtual_page) const {
  const auto above =
      std::partition_point(by_address_.begin(), by_address_.end(), [&](std::uint32_t index) {
        const Allocation& a = allocations_[index];
        return a.tenant < tenant || (a.tenant == tenant && a.virtual_page <= virtual_page);
      });
  return static_cast<std::size_t>(above - by_address_.begin());
}

const Allocation* Residency::find(TenantId tenant, VirtualPage virtual_page) const {
  const std::size_t above = rank(tenant, virtual_page);
  if (above == 0) return nullptr;
  const Allocation& a = allocations_[by_address_[above - 1]];
  return a.tenant == tenant && virtual_page - a.virtual_page < a.pages ? &a : nullptr;
}

std::uint64_t Residency::count_valid(ManagedPage first, std::uint64_t count) const {
  std::uint64_t sum = 0;
  for (ManagedPage page = first; page < first + count; ++page) sum += valid(page);
  return sum;
}

}  // namespace lockstep
