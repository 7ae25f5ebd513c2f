// A hash table with chains whose entries come from malloc: threads put pairs in front of the chain
// of their bucket, look keys up and empty the table. A key may occur several times; what a look-up
// adds up does not depend on the order within a chain.
#include <cassert>

struct Entry {
  Entry* next;
  unsigned key, value;
};

__device__ __forceinline__ unsigned bucket_of(unsigned key, unsigned buckets) {
  key *= 2654435769u;
  return (key ^ key >> 15) & (buckets - 1);
}

extern "C" __global__ void table_insert(const unsigned* __restrict__ key,
                                        const unsigned* __restrict__ value,
                                        unsigned long long* bucket, int pairs, unsigned buckets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  Entry* entry = static_cast<Entry*>(malloc(sizeof(Entry)));
  assert(entry != nullptr);
  entry->key = key[i];
  entry->value = value[i];
  unsigned long long* first = &bucket[bucket_of(key[i], buckets)];
  unsigned long long seen = *first;
  unsigned long long next;
  do {
    next = seen;
    entry->next = reinterpret_cast<Entry*>(next);
    __threadfence();
    seen = atomicCAS(first, next, reinterpret_cast<unsigned long long>(entry));
  } while (seen != next);
}

extern "C" __global__ void table_look_up(const unsigned* __restrict__ query,
                                         const unsigned long long* __restrict__ bucket,
                                         unsigned* __restrict__ found, unsigned* __restrict__ sum,
                                         int queries, unsigned buckets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= queries) return;
  const unsigned key = query[i];
  unsigned count = 0;
  unsigned values = 0;
  const Entry* entry = reinterpret_cast<const Entry*>(bucket[bucket_of(key, buckets)]);
  for (; entry != nullptr; entry = entry->next) {
    if (entry->key != key) continue;
    ++count;
    values += entry->value;
  }
  found[i] = count;
  sum[i] = values;
}

// A thread per bucket.
extern "C" __global__ void table_clear(unsigned long long* __restrict__ bucket, unsigned buckets) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= buckets) return;
  for (Entry* entry = reinterpret_cast<Entry*>(bucket[i]); entry != nullptr;) {
    Entry* next = entry->next;
    free(entry);
    entry = next;
  }
  bucket[i] = 0;
}
