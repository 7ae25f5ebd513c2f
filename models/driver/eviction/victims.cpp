#include "models/driver/eviction/victims.hpp"

#include <algorithm>

namespace lockstep {

std::uint64_t append_evictable(const EvictionView& view, PageRange range,
                               std::vector<PageRange>& victims) {
  std::uint64_t count = 0, run = 0;
  for (ManagedPage page = range.first; page < range.end(); ++page) {
    if (!view.evictable(page)) {
      run = 0;
      continue;
    }
    if (run == 0) victims.push_back({page, 0});
    victims.back().count = ++run;
    ++count;
  }
  return count;
}

void sort_victims(const Residency& residency, std::vector<PageRange>& victims) {
  std::sort(victims.begin(), victims.end(),
            [](const PageRange& a, const PageRange& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < victims.size(); ++i) {
    PageRange& last = victims[kept];
    if (last.end() == victims[i].first &&
        residency.owner(last.first).first == residency.owner(victims[i].first).first) {
      last.count += victims[i].count;
    } else {
      victims[++kept] = victims[i];
    }
  }
  if (!victims.empty()) victims.resize(kept + 1);
}

}  // namespace lockstep
