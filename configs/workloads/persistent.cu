// Persistent threads: a fixed number of blocks, each taking chunks of work from a global counter
// until none is left. The work - steps of the Collatz sequence - differs widely between items.
extern "C" __global__ void persistent(unsigned* __restrict__ steps, unsigned* next_chunk,
                                      unsigned n) {
  __shared__ unsigned chunk;
  while (true) {
    if (threadIdx.x == 0) chunk = atomicAdd(next_chunk, 1u);
    __syncthreads();
    const unsigned first = chunk * blockDim.x;
    __syncthreads();
    if (first >= n) return;
    const unsigned item = first + threadIdx.x;
    if (item < n) {
      unsigned long long value = item + 1;
      unsigned count = 0;
      while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        ++count;
      }
      steps[item] = count;
    }
  }
}
