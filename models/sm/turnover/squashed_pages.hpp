#pragma once

#include <algorithm>
#include <vector>

#include "models/sm/exception_scheme/faultable_accesses.hpp"
#include "models/sm/translation/translation.hpp"

namespace lockstep {

/// Returns the pages for which a block was squashed: those that have come since, or those that have
/// not.
inline std::vector<TlbKey> squashed_pages(FaultableAccesses& accesses, const ResidentBlocks& blocks,
                                          BlockPlace place, bool come) {
  std::vector<TlbKey> pages;
  accesses.for_each_squashed([&](const SquashedLanes& lanes) {
    if (lanes.come == come && blocks.warp(accesses.warp_of(lanes.access)).block == place.value())
      pages.push_back(lanes.page);
  });
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

/// Reports pages that had come for a block which left before using them. They may then be evicted,
/// unless another block here waits for them.
inline void give_up(const std::vector<TlbKey>& pages, FaultableAccesses& accesses,
                    Translation& translation, SmCycle now) {
  for (const TlbKey page : pages) {
    bool others = false;
    accesses.for_each_squashed([&](const SquashedLanes& lanes) { others |= lanes.page == page; });
    if (!others) translation.nobody_asks_again(page, now);
  }
}

}  // namespace lockstep
