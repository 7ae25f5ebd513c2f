// Latency microbenchmark: loads whose address is the value of the load before. The chain holds
// addresses, so that nothing but the load stands between two hops.
using Address = unsigned long long;

// The chain links `slots` (a power of two) elements that stand `spacing` elements apart: slot i
// points to slot (multiplier * i + increment) mod slots. multiplier = increment = 1 walks through
// memory in order; multiplier = 1 mod 4 with an odd increment visits every slot once, scattered.
extern "C" __global__ void pointer_chase_build(Address* chain, unsigned slots, unsigned spacing,
                                               unsigned multiplier, unsigned increment) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= slots) return;
  const unsigned next = (multiplier * i + increment) & (slots - 1);
  chain[static_cast<Address>(i) * spacing] =
      reinterpret_cast<Address>(chain + static_cast<Address>(next) * spacing);
}

template <class Load>
__device__ __forceinline__ void chase(Address* chain, unsigned* reached, long long* cycles,
                                      int warm_up, int hops, Load load) {
  Address at = reinterpret_cast<Address>(chain);
#pragma unroll 1
  for (int i = 0; i < warm_up; ++i) at = load(at);
  const long long start = clock64();
#pragma unroll 8
  for (int i = 0; i < hops; ++i) at = load(at);
  *reached = static_cast<unsigned>((at - reinterpret_cast<Address>(chain)) / 8);
  *cycles = clock64() - start;
}

// Loads may hit in L1.
extern "C" __global__ void pointer_chase(Address* chain, unsigned* reached, long long* cycles,
                                         int warm_up, int hops) {
  chase(chain, reached, cycles, warm_up, hops,
        [](Address at) { return __ldca(reinterpret_cast<const Address*>(at)); });
}

// Loads bypass L1.
extern "C" __global__ void pointer_chase_l2(Address* chain, unsigned* reached, long long* cycles,
                                            int warm_up, int hops) {
  chase(chain, reached, cycles, warm_up, hops,
        [](Address at) { return __ldcg(reinterpret_cast<const Address*>(at)); });
}
