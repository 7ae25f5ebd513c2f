#pragma once

#include <cstdint>

#include "core/parameters/parameters.hpp"
#include "models/driver/residency.hpp"
#include "models/vm/page_table_entry.hpp"

namespace lockstep {

enum class EvictionGranularity : std::uint8_t { page, block, large };

/// Parameters of policies that evict granules of a chosen size; `usual`: the default size.
template <EvictionGranularity usual>
struct GranularityOr {
  EvictionGranularity granularity;

  static auto schema() {
    using P = GranularityOr;
    return parameters<P>().field("granularity", &P::granularity, usual,
                                 choice({"page", "block", "large"}),
                                 "pages that leave together: 4 KiB, 64 KiB or 2 MiB");
  }
  std::uint64_t pages() const {
    switch (granularity) {
      case EvictionGranularity::page:
        return 1;
      case EvictionGranularity::block:
        return pages_per_block;
      case EvictionGranularity::large:
        break;
    }
    return pages_per_large;
  }
};

/// The usual size is a block.
using GranularityParameters = GranularityOr<EvictionGranularity::block>;

/// Managed pages in granules that are evicted together, with the number of pages of each granule in
/// GPU memory.
class Granules {
 public:
  explicit Granules(std::uint64_t pages) : pages_(pages) {}

  std::uint32_t of(ManagedPage page) const {
    return static_cast<std::uint32_t>(page.value() / pages_);
  }
  PageRange pages(std::uint32_t granule) const { return {ManagedPage{granule * pages_}, pages_}; }
  /// Counts a page of a granule. Returns true for the first page that comes, or the last one that
  /// leaves.
  bool add(std::uint32_t granule) {
    if (granule >= present_.size()) present_.resize(granule + 1u);
    return present_[granule]++ == 0;
  }
  bool remove(std::uint32_t granule) { return --present_[granule] == 0; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(present_);
  }

 private:
  const std::uint64_t pages_;
  std::vector<std::uint16_t> present_;
};

}  // namespace lockstep
