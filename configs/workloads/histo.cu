// Histogram of many bins that saturates at 255. Three kernels: the range of bins that occur at all;
// the counts, each block in shared memory for one slice of the bins; the saturated result. Counters
// of a block are 16 bits wide, two to a word: the thread that fills one spills it.
constexpr int slice = 2048;     // bins per block
constexpr unsigned spill = 64;  // from this count on a counter is emptied
constexpr unsigned full = 0xffffffffu;

// range[0] and range[1] become the smallest and the largest bin of the input.
extern "C" __global__ void histo_prescan(const int* __restrict__ data, int* range, int n) {
  int smallest = 0x7fffffff;
  int largest = -1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    smallest = min(smallest, data[i]);
    largest = max(largest, data[i]);
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    smallest = min(smallest, __shfl_xor_sync(full, smallest, mask));
    largest = max(largest, __shfl_xor_sync(full, largest, mask));
  }
  if (threadIdx.x % 32 == 0) {
    atomicMin(&range[0], smallest);
    atomicMax(&range[1], largest);
  }
}

// A block counts its share of the input for slice blockIdx.y. At most 65000 elements per block:
// others may count on before a counter that is full has been emptied.
extern "C" __global__ void histo_main(const int* __restrict__ data, const int* __restrict__ range,
                                      unsigned* counts, int n) {
  __shared__ unsigned pairs[slice / 2];
  const int first = blockIdx.y * slice;
  if (first > range[1] || first + slice <= range[0]) return;
  for (int i = threadIdx.x; i < slice / 2; i += blockDim.x) pairs[i] = 0;
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = data[i] - first;
    if (bin < 0 || bin >= slice) continue;
    const int shift = bin % 2 * 16;
    const unsigned before = atomicAdd(&pairs[bin / 2], 1u << shift) >> shift & 0xffffu;
    if (before == spill - 1) {
      atomicSub(&pairs[bin / 2], spill << shift);
      atomicAdd(&counts[first + bin], spill);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < slice; i += blockDim.x) {
    const unsigned rest = pairs[i / 2] >> (i % 2 * 16) & 0xffffu;
    if (rest != 0) atomicAdd(&counts[first + i], rest);
  }
}

// Four bins per thread. Leaves counts and range as the next round needs them.
extern "C" __global__ void histo_final(uint4* counts, uchar4* __restrict__ result, int* range,
                                       int bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) {
    range[0] = 0x7fffffff;
    range[1] = -1;
  }
  if (4 * i >= bins) return;
  const uint4 count = counts[i];
  result[i] =
      make_uchar4(min(count.x, 255u), min(count.y, 255u), min(count.z, 255u), min(count.w, 255u));
  counts[i] = make_uint4(0, 0, 0, 0);
}
