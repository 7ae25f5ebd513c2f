// How many different visitors saw each page: a log of addresses of 16 characters and visitors is
// hashed twice, pairs of page and visitor into a set, pages into a table of counters. Only the
// thread that brings a pair into the set counts it, so the counts do not depend on the order of
// threads.
#include "page_addresses.cuh"

using page_addresses::characters;

extern "C" __global__ void views_write(const unsigned* __restrict__ page,
                                       unsigned char* __restrict__ address, int entries) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < entries) page_addresses::write(page[i], address + characters * i);
}

extern "C" __global__ void views_count(const unsigned char* __restrict__ address,
                                       const unsigned* __restrict__ visitor,
                                       unsigned long long* pairs, unsigned long long* pages,
                                       unsigned* views, int entries, unsigned pair_slots,
                                       unsigned page_slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= entries) return;
  page_addresses::count_view(address, visitor, i, pairs, pages, views, pair_slots, page_slots);
}

// A thread per page.
extern "C" __global__ void views_look_up(const unsigned long long* __restrict__ pages,
                                         const unsigned* __restrict__ views,
                                         unsigned* __restrict__ result, int all_pages,
                                         unsigned page_slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= all_pages) return;
  result[i] = page_addresses::views_of(i, pages, views, page_slots);
}
