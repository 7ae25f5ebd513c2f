// Addresses of pages, hash tables of them, and the steps of page view counts.
#pragma once

namespace page_addresses {

constexpr int characters = 16;
constexpr unsigned long long empty = 0;

// The address of a page: "/page/" and ten digits of its number.
__device__ __forceinline__ void write(unsigned page, unsigned char* address) {
  address[0] = '/';
  address[1] = 'p';
  address[2] = 'a';
  address[3] = 'g';
  address[4] = 'e';
  address[5] = '/';
#pragma unroll 1
  for (int i = characters - 1; i >= 6; --i) {
    address[i] = '0' + page % 10;
    page /= 10;
  }
}

// FNV-1a of 64 bits.
__device__ __forceinline__ unsigned long long hash_of(const unsigned char* address) {
  unsigned long long hash = 14695981039346656037ull;
#pragma unroll
  for (int i = 0; i < characters; ++i) hash = (hash ^ address[i]) * 1099511628211ull;
  return hash;
}

// The slot of a key in a table of a power of two slots, claimed if it is not there yet; `fresh`
// tells.
__device__ __forceinline__ unsigned claim(unsigned long long* table, unsigned long long key,
                                          unsigned slots, bool& fresh) {
  unsigned slot = static_cast<unsigned>(key >> 32) & (slots - 1);
  while (true) {
    const unsigned long long found = atomicCAS(&table[slot], empty, key);
    fresh = found == empty;
    if (fresh || found == key) return slot;
    slot = (slot + 1) & (slots - 1);
  }
}

// Counts an entry of a log of addresses and visitors, unless the visitor has seen the page before.
template <class Index>
__device__ __forceinline__ void count_view(const unsigned char* __restrict__ address,
                                           const unsigned* __restrict__ visitor, Index i,
                                           unsigned long long* pairs, unsigned long long* pages,
                                           unsigned* views, unsigned pair_slots,
                                           unsigned page_slots) {
  const unsigned long long page = hash_of(address + characters * i);
  const unsigned long long pair = (page ^ visitor[i]) * 1099511628211ull;
  bool fresh;
  claim(pairs, pair, pair_slots, fresh);
  if (!fresh) return;
  const unsigned slot = claim(pages, page, page_slots, fresh);
  atomicAdd(&views[slot], 1u);
}

// The views of a page that have been counted.
__device__ __forceinline__ unsigned views_of(unsigned page,
                                             const unsigned long long* __restrict__ pages,
                                             const unsigned* __restrict__ views,
                                             unsigned page_slots) {
  unsigned char address[characters];
  write(page, address);
  const unsigned long long key = hash_of(address);
  unsigned slot = static_cast<unsigned>(key >> 32) & (page_slots - 1);
  while (pages[slot] != key && pages[slot] != empty) slot = (slot + 1) & (page_slots - 1);
  return pages[slot] == key ? views[slot] : 0;
}

}  // namespace page_addresses
