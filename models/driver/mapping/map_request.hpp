#pragma once

#include <cstdint>
#include <vector>

#include "models/driver/tenant_pages.hpp"
#include "models/host_link/transfer.hpp"

namespace lockstep {

/// Pages to be mapped together.  `pages.count` 0: only the tables are reserved.
struct MapRequest {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  TenantPages pages;
  bool untouched = false;        ///< no frames: the GPU may map the pages by itself
  bool paged = true;             ///< true: the pages may leave again; false: device memory
  std::uint64_t reserved = 0;    ///< pages that get tables, at least `pages.count`
  std::uint64_t flags = 0;       ///< flags of the entries
  std::vector<FrameRun> frames;  ///< frames in the order of the pages; empty: remote pages
  std::uint64_t remote = 0;      ///< address of the first page in host memory
  std::vector<FrameRun> fresh;   ///< frames that must read as zero before `data` come
  std::vector<Transfer> data;
  Time not_before;               ///< earliest time at which the GMMU hears of the pages
  std::uint32_t owner = nobody;  ///< owner's number; comes back in Driver::take_mapped

  template <class Archive>
  void serialize(Archive& archive) {
    archive(pages, untouched, paged, reserved, flags, frames, remote, fresh, data, not_before,
            owner);
  }
};

}  // namespace lockstep
