// mergeSortShared of the CUDA samples: a block sorts 1024 pairs in shared memory.  In each round a thread finds the
// place of one key of either half among those of the other half, by halving.
constexpr unsigned limit = 1024;

template <bool equal_first>
__device__ unsigned place_among(unsigned key, const unsigned* keys, unsigned count, unsigned stride) {
  if (count == 0) return 0;
  unsigned place = 0;
  for (; stride > 0; stride >>= 1) {
    const unsigned next = min(place + stride, count), last = keys[next - 1];
    if (equal_first ? last <= key : last < key) place = next;
  }
  return place;
}

extern "C" __global__ void sort(unsigned* to_keys, unsigned* to_values, const unsigned* from_keys,
                                const unsigned* from_values, unsigned length) {
  __shared__ unsigned keys[limit], values[limit];
  const unsigned thread = threadIdx.x, half = limit / 2, mine = blockIdx.x * limit + thread;
  keys[thread] = from_keys[mine];
  values[thread] = from_values[mine];
  keys[thread + half] = from_keys[mine + half];
  values[thread + half] = from_values[mine + half];
  for (unsigned stride = 1; stride < length; stride <<= 1) {
    const unsigned low = thread & (stride - 1);
    unsigned *base_keys = keys + 2 * (thread - low), *base_values = values + 2 * (thread - low);
    __syncthreads();
    const unsigned key_a = base_keys[low], value_a = base_values[low];
    const unsigned key_b = base_keys[low + stride], value_b = base_values[low + stride];
    const unsigned place_a = place_among<false>(key_a, base_keys + stride, stride, stride) + low;
    const unsigned place_b = place_among<true>(key_b, base_keys, stride, stride) + low;
    __syncthreads();
    base_keys[place_a] = key_a;
    base_values[place_a] = value_a;
    base_keys[place_b] = key_b;
    base_values[place_b] = value_b;
  }
  __syncthreads();
  to_keys[mine] = keys[thread];
  to_values[mine] = values[thread];
  to_keys[mine + half] = keys[thread + half];
  to_values[mine + half] = values[thread + half];
}
