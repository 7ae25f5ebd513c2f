// Caches: a chain of loads through `slots` places (latency), and loads of what caches hold (bandwidth, bank conflicts).
using Address = unsigned long long;

// Every place points to the one `step` places on, modulo their number, which shares no factor with it.
extern "C" __global__ void link(Address* chain, int slots, int spacing, int step) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += gridDim.x * blockDim.x)
    chain[static_cast<Address>(i) * spacing] = reinterpret_cast<Address>(
        chain + static_cast<Address>((i + static_cast<long long>(step)) % slots) * spacing);
}

extern "C" __global__ void follow(Address* chain, long long* cycles, int warm_up, int hops) {
  Address at = reinterpret_cast<Address>(chain);
#pragma unroll 1
  for (int i = 0; i < warm_up; ++i) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
  const long long start = clock64();
#pragma unroll 8
  for (int i = 0; i < hops; ++i) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at));
  *cycles = clock64() - start + (at == 0);
}

// Each block of 1024 threads sums its `n` doubles, a multiple of 8192 (all blocks the same ones if `apart` is 0), once to
// warm up, and then `rounds` times; eight loads follow each other without a branch.
extern "C" __global__ void sums(const double* data, double* out, long long* cycles, int n, int apart, int rounds) {
  data += static_cast<Address>(blockIdx.x) * apart;
  double sum = 0;
  long long start = 0;
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = clock64();
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 8 * 1024) {
#pragma unroll
      for (int part = 0; part < 8; ++part) sum += data[i + part * 1024];
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Loads of words `stride` apart that L1 holds; all warps of the block the same ones.
extern "C" __global__ void strided(const unsigned* data, unsigned* out, long long* cycles, int stride, int rounds) {
  const unsigned* mine = data + (threadIdx.x % 32) * stride;
  unsigned sum = 0;
  long long start = 0;
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = clock64();
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      unsigned word;
      asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(word) : "l"(mine));
      sum += word;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - start;
  out[threadIdx.x] = sum;
}
