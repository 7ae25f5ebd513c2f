// How many different visitors saw each page, as in page_view_count.cu, by persistent warps: a warp
// goes through many entries of the log, and then through many pages.
#include "page_addresses.cuh"
#include "warp_ranges.cuh"

using page_addresses::characters;
using page_addresses::claim;
using page_addresses::empty;

extern "C" __global__ void persistent_write(const unsigned* __restrict__ page,
                                            unsigned char* __restrict__ address, unsigned entries,
                                            unsigned range) {
  warp_ranges::visit_all(entries, range, [&](unsigned i) {
    page_addresses::write(page[i], address + characters * i);
  });
}

extern "C" __global__ void persistent_count(const unsigned char* __restrict__ address,
                                            const unsigned* __restrict__ visitor,
                                            unsigned long long* pairs, unsigned long long* pages,
                                            unsigned* views, unsigned entries, unsigned pair_slots,
                                            unsigned page_slots, unsigned range) {
  warp_ranges::visit_all(entries, range, [&](unsigned i) {
    const unsigned long long page = page_addresses::hash_of(address + characters * i);
    const unsigned long long pair = (page ^ visitor[i]) * 1099511628211ull;
    bool fresh;
    claim(pairs, pair, pair_slots, fresh);
    if (!fresh) return;
    const unsigned slot = claim(pages, page, page_slots, fresh);
    atomicAdd(&views[slot], 1u);
  });
}

extern "C" __global__ void persistent_results(const unsigned long long* __restrict__ pages,
                                              const unsigned* __restrict__ views,
                                              unsigned* __restrict__ result, unsigned all_pages,
                                              unsigned page_slots, unsigned range) {
  warp_ranges::visit_all(all_pages, range, [&](unsigned i) {
    unsigned char address[characters];
    page_addresses::write(i, address);
    const unsigned long long key = page_addresses::hash_of(address);
    unsigned slot = static_cast<unsigned>(key >> 32) & (page_slots - 1);
    while (pages[slot] != key && pages[slot] != empty) slot = (slot + 1) & (page_slots - 1);
    result[i] = pages[slot] == key ? views[slot] : 0;
  });
}
