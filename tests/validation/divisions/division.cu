// Divisions one behind the other, in as many warps as an SM has: what one of them costs the SM.
template <class T>
__device__ void divide(T* values, T by, int rounds, unsigned* cycles) {
  const int mine = blockIdx.x * blockDim.x + threadIdx.x;
  T value = values[mine];
  __syncthreads();
  const unsigned begin = clock();
#pragma unroll 4
  for (int i = 0; i < rounds; ++i) value /= by;
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock() - begin;
  values[mine] = value;
}

extern "C" __global__ void divide_f32(float* values, float by, int rounds, unsigned* cycles) {
  divide(values, by, rounds, cycles);
}
extern "C" __global__ void divide_f64(double* values, double by, int rounds, unsigned* cycles) {
  divide(values, by, rounds, cycles);
}
