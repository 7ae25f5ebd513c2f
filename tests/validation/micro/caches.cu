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

// Each block of 1024 threads sums its `n` doubles, a multiple of 8192 (all blocks the same ones if `apart` is 0), once
// to warm up, and then `rounds` times; eight loads follow each other without a branch.
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

__device__ unsigned load(const unsigned* from) {
  unsigned value;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(from));
  return value;
}
__device__ Address load(const Address* from) {
  Address value;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(from));
  return value;
}
// Loads of elements that L1 holds.  Lanes of `wide` threads in a row are `across` elements apart, and rows `down`; each
// thread loads eight elements that are four apart (te42kyfo/gpu-benches, gpu-strides).  The first row is left out.
template <class T>
__device__ void place(const T* data, T* out, long long* cycles, int wide, int across, int down, int rounds) {
  const T* mine = data + threadIdx.x % wide * across + (threadIdx.x / wide % 32 + 1) * down;
  T sum = 0;
  long long start = 0;
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = clock64();
    }
#pragma unroll
    for (int i = 0; i < 32; i += 4) sum += load(mine + i);
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - start;
  out[threadIdx.x] = sum;
}

// Elements of four or eight bytes.
extern "C" __global__ void strided(const Address* data, Address* out, long long* cycles, int bytes, int wide,
                                   int across, int down, int rounds) {
  if (bytes == 4)
    place(reinterpret_cast<const unsigned*>(data), reinterpret_cast<unsigned*>(out), cycles, wide, across, down,
          rounds);
  else
    place(data, out, cycles, wide, across, down, rounds);
}

// Numbers from 0 to 2^bits - 1 change places: a Feistel network of three rounds.
__device__ unsigned mixed(unsigned number, unsigned bits) {
  const unsigned low_bits = bits / 2, low_mask = (1u << low_bits) - 1, high_mask = (1u << (bits - low_bits)) - 1;
  unsigned low = number & low_mask, high = number >> low_bits;
  for (unsigned round = 1; round <= 3; ++round) {
    low ^= ((high * 0x9e3779b9u + round * 0x85ebca6bu) >> 13) & low_mask;
    high ^= ((low * 0xc2b2ae35u + round * 0x27d4eb2fu) >> 13) & high_mask;
  }
  return high << low_bits | low;
}

// The place that a chain in no order comes to as its `i`-th.
__device__ Address drawn(unsigned i, unsigned slots, unsigned bits) {
  do i = mixed(i, bits);
  while (i >= slots);
  return i;
}

// Every place points to another one; the chain comes to each of them once a round, in no order (gpu-latency).
extern "C" __global__ void draw(Address* chain, int slots, int spacing, int bits) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += gridDim.x * blockDim.x)
    chain[drawn(i, slots, bits) * spacing] =
        reinterpret_cast<Address>(chain + drawn((i + 1) % slots, slots, bits) * spacing);
}

template <int n>
__device__ void sum_of(const float* data, float* out, long long* cycles, int zero, int rounds) {
  data += threadIdx.x;
  float sum = 0;
  long long start = 0;
#pragma unroll 1
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1) {
      __syncthreads();
      start = clock64();
    }
    data += zero;
#pragma unroll(n / 256 >= 64 ? 32 : n / 256)
    for (int i = 0; i < n; i += 256) sum += data[i];
    sum *= 1.3f;
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Blocks of 256 threads, all with the same floats, of which a thread loads every 256th (gpu-cache).  `zero` keeps the
// compiler from loading them once.
extern "C" __global__ void cached(const float* data, float* out, long long* cycles, int kib, int zero, int rounds) {
  switch (kib) {
#define CASE(size) \
  case size: return sum_of<(size) * 256>(data, out, cycles, zero, rounds);
    CASE(100)
    CASE(116)
    CASE(124)
    CASE(128)
    CASE(148)
    CASE(172)
    CASE(204)
    CASE(236)
    CASE(524)
  }
}

// Blocks of 1024 threads, `parts` of which in a row read 512 KiB each of the same data; others come to it from L2
// (gpu-l2-cache).
extern "C" __global__ void shared_by_blocks(const double* data, double* out, int parts) {
  double sum = 0;
  for (int i = 0; i < 32; ++i) {
    const double* from = data + (1024 * parts * i + blockIdx.x % parts * 1024) * 2 + threadIdx.x;
    sum += from[0] * from[1024];
  }
  if (sum == 23.12) out[threadIdx.x] = sum;
}
