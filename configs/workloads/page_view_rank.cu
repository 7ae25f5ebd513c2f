// Ranks of the pages that were asked for, summed up by server. Warps are persistent: a warp takes
// one server's log after the other, a record per thread. Some servers are asked for front pages by
// visitors, so all their warps read the same few pages; some by robots that walk through all pages
// in order; some by both.
constexpr unsigned every_record = 256;

__device__ __forceinline__ unsigned scrambled(unsigned number) {
  number = (number ^ number >> 16) * 0x7feb352du;
  number = (number ^ number >> 15) * 0x846ca68bu;
  return number ^ number >> 16;
}

// Of a server: visitors' share of its records, in 256ths, and how many records its log has.
extern "C" __global__ void rank_servers(unsigned* __restrict__ share, unsigned* __restrict__ length,
                                        int servers, unsigned visited, unsigned both,
                                        unsigned visited_records, unsigned other_records) {
  const int server = blockIdx.x * blockDim.x + threadIdx.x;
  if (server >= servers) return;
  const unsigned drawn = scrambled(server) % 100;
  share[server] = drawn < visited ? every_record : drawn < visited + both ? every_record / 2 : 0;
  length[server] = drawn < visited ? visited_records : other_records;
}

extern "C" __global__ void rank_views(const unsigned* __restrict__ log,
                                      const unsigned* __restrict__ share,
                                      const unsigned* __restrict__ length,
                                      const unsigned* __restrict__ rank, unsigned* __restrict__ sum,
                                      int servers, unsigned longest, unsigned front, unsigned pages,
                                      unsigned page_words) {
  const int warps = gridDim.x * blockDim.x / 32;
  const unsigned lane = threadIdx.x % 32;
  for (int server = (blockIdx.x * blockDim.x + threadIdx.x) / 32; server < servers;
       server += warps) {
    const unsigned visited = share[server];
    const unsigned first = server * (pages / servers);
    const unsigned end = length[server];
    unsigned total = 0;
#pragma unroll 1
    for (unsigned record = lane; record < end; record += 32) {
      const unsigned asked = log[server * longest + record];
      const bool by_visitor = asked >> 24 < visited;
      const unsigned page = by_visitor ? asked % front : (first + record) % pages;
      total += rank[page * page_words];
    }
    sum[32 * server + lane] = total;
  }
}
