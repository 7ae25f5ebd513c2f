// A short task as a real-time tenant launches it: blocks of 256 threads with few registers and 2
// KiB of shared memory in which words are mixed round after round.
constexpr int threads = 256;
constexpr int words = 2 * threads;

extern "C" __global__ void urgent(const unsigned* __restrict__ in, unsigned* __restrict__ out,
                                  int rounds) {
  __shared__ unsigned word[words];
  const int t = threadIdx.x;
  word[t] = in[blockIdx.x * threads + t];
  word[t + threads] = t;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    __syncthreads();
    const unsigned first = word[(t * 5 + round) % words];
    const unsigned second = word[(t * 3 + 1) % words];
    __syncthreads();
    word[t] = first * 1664525u + second;
    word[t + threads] = second ^ (first >> 7);
  }
  out[blockIdx.x * threads + t] = word[t] ^ word[t + threads];
}
