// The most similar documents of each query, by the product of their features. Warps are persistent:
// a warp takes one query after the other, a pair of documents per thread. Some queries are compared
// with popular documents, so all their warps read the same few; some with documents that follow each
// other in the collection, which nobody else reads meanwhile; some with both.
constexpr unsigned every_pair = 256;

__device__ __forceinline__ unsigned scrambled(unsigned number) {
  number = (number ^ number >> 16) * 0x7feb352du;
  number = (number ^ number >> 15) * 0x846ca68bu;
  return number ^ number >> 16;
}

// Of 16 features of a byte each.
__device__ __forceinline__ unsigned product(uint4 a, uint4 b) {
  return __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, 0u))));
}

// Of a query: popular documents' share of its pairs, in 256ths, and how many pairs it has.
extern "C" __global__ void similarity_queries(unsigned* __restrict__ share,
                                              unsigned* __restrict__ length, int queries,
                                              unsigned popular, unsigned both,
                                              unsigned popular_pairs, unsigned other_pairs) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= queries) return;
  const unsigned drawn = scrambled(query) % 100;
  share[query] = drawn < popular ? every_pair : drawn < popular + both ? every_pair / 2 : 0;
  length[query] = drawn < popular ? popular_pairs : other_pairs;
}

// A document takes `stride` times the 16 bytes of its features, which come first.
extern "C" __global__ void similarity_scores(const uint4* __restrict__ document,
                                             const unsigned* __restrict__ share,
                                             const unsigned* __restrict__ length,
                                             unsigned* __restrict__ score,
                                             unsigned* __restrict__ nearest, int queries,
                                             unsigned front, unsigned documents, unsigned stride) {
  const int warps = gridDim.x * blockDim.x / 32;
  const unsigned lane = threadIdx.x % 32;
  for (int query = (blockIdx.x * blockDim.x + threadIdx.x) / 32; query < queries; query += warps) {
    const unsigned among_popular = share[query];
    const unsigned first = query * (documents / queries);
    const unsigned end = length[query];
    const unsigned seed = scrambled(query);
    const uint4 own = document[first * stride];
    unsigned best = 0;
    unsigned best_document = first;
#pragma unroll 1
    for (unsigned pair = lane; pair < end; pair += 32) {
      const unsigned drawn = scrambled(seed + pair);
      const unsigned with =
          drawn >> 24 < among_popular ? drawn % front : (first + pair) % documents;
      const unsigned similarity = product(own, document[with * stride]);
      if (with != first && similarity > best) {
        best = similarity;
        best_document = with;
      }
    }
    score[32 * query + lane] = best;
    nearest[32 * query + lane] = best_document;
  }
}
