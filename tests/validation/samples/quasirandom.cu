// quasirandomGenerator of the CUDA samples: 128 x 3 threads, a row of the constant table for each dimension, 31 bits
// of each position.
constexpr int dimensions = 3, bits = 31;
__constant__ unsigned table[dimensions][bits];

extern "C" __global__ void quasirandom(float* out, unsigned seed, unsigned n) {
  const unsigned* row = &table[threadIdx.y][0];
  const unsigned first = blockDim.x * blockIdx.x + threadIdx.x, threads = blockDim.x * gridDim.x;
  for (unsigned at = first; at < n; at += threads) {
    unsigned result = 0;
    unsigned data = seed + at;
    for (int bit = 0; bit < bits; ++bit, data >>= 1)
      if ((data & 1) != 0) result ^= row[bit];
    out[threadIdx.y * n + at] = static_cast<float>(result + 1) * (1.0f / 0x80000001u);
  }
}
