// How many different visitors saw each page, as in page_view_count.cu, by persistent warps: a warp
// goes through many entries of the log, and then through many pages.
#include "page_addresses.cuh"
#include "warp_ranges.cuh"

using page_addresses::characters;

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
    page_addresses::count_view(address, visitor, i, pairs, pages, views, pair_slots, page_slots);
  });
}

extern "C" __global__ void persistent_results(const unsigned long long* __restrict__ pages,
                                              const unsigned* __restrict__ views,
                                              unsigned* __restrict__ result, unsigned all_pages,
                                              unsigned page_slots, unsigned range) {
  warp_ranges::visit_all(all_pages, range, [&](unsigned i) {
    result[i] = page_addresses::views_of(i, pages, views, page_slots);
  });
}
