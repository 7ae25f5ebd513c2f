// Latency of each line of a buffer that is in L2: each line holds its own address, and one thread loads it, past L1, once and
// then again and again.  Where L2 has two halves, two latencies show: of the first load if a half keeps what it has loaded
// from the other one, else of all.
using Address = unsigned long long;

// `filled`: words of each line that are written: of a sector with less than four the rest stays in memory.
extern "C" __global__ void fill(Address* lines, int count, int words, int filled) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  for (int word = 0; word < filled; ++word) lines[i * words + word] = reinterpret_cast<Address>(lines + i * words);
}
// The clock when this load is there.
__device__ __forceinline__ long long clock_after(Address loaded) {
  long long now;
  asm volatile("{\n.reg .pred there;\nsetp.ne.u64 there, %1, 0;\nmov.u64 %0, 0;\n@there mov.u64 %0, %%clock64;\n}"
               : "=l"(now)
               : "l"(loaded)
               : "memory");
  return now;
}
__device__ __forceinline__ Address load(Address at) {
  Address loaded;
  asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(loaded) : "l"(at) : "memory");
  return loaded;
}
// `words`: of 8 bytes, from one line to the next; the first `warm_up` lines only bring their page.
extern "C" __global__ void probe(const Address* lines, long long* first, long long* again, int count, int words, int warm_up,
                                 int hops) {
  for (int i = 0; i < warm_up + count; ++i) {
    Address at = reinterpret_cast<Address>(lines + i * words);
    const long long begin = clock_after(at);
    at = load(at);
    const long long middle = clock_after(at);
    for (int hop = 0; hop < hops; ++hop) at = load(at);
    const long long end = clock_after(at);
    if (i < warm_up) continue;
    first[i - warm_up] = middle - begin;
    again[i - warm_up] = end - middle;
  }
}
