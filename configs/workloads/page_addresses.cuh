// Addresses of pages and hash tables of them, for page view counts.
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

}  // namespace page_addresses
