// Softmax over rows as PyTorch 2.0 computes it (cunn_SoftMaxForward): a block a row, which it reads three times, for the
// maximum, for the sum of exponentials, and for what it writes.
//
// Each time threads first take an element each, if the row does not begin at a multiple of 16 bytes; then four elements
// each, as long as all threads have four; then one by one.  What threads have found goes through shared memory: a lane of
// the first warp takes the values of each warp one after the other, and the first thread those of the lanes.
struct Row {
  int shift, columns;  // elements between the last multiple of 16 bytes and the row
};

__device__ int shift_of(const float* row) { return static_cast<int>(reinterpret_cast<unsigned long long>(row) % 16 / 4); }

// Calls one(element) and four(first of four) for the elements of a thread; elements count from the row's begin.
template <class One, class Four>
__device__ void for_each(const Row& row, One one, Four four) {
  const int me = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  int begin = 0;
  if (row.shift > 0) {
    if (me >= row.shift) one(me - row.shift);
    begin = threads - row.shift;
  }
  const int size = row.columns - begin, last = size % (4 * threads);
  for (int i = me; 4 * i < size - last; i += threads) four(begin + 4 * i);
  for (int i = begin + size - last + me; i < row.columns; i += threads) one(i);
}

template <class Combine>
__device__ float of_block(float* values, float value, float neutral, Combine combine) {
  const int me = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / 32;
  __syncthreads();
  values[me] = value;
  __syncthreads();
  if (me < warps) {
    float of_warp = neutral;
#pragma unroll
    for (int i = 0; i < 32; ++i) of_warp = combine(of_warp, values[32 * me + i]);
    __syncwarp((1u << warps) - 1);
    values[me] = of_warp;
  }
  __syncthreads();
  if (me == 0) {
    float of_all = neutral;
    for (int i = 0; i < warps; ++i) of_all = combine(of_all, values[i]);
    values[0] = of_all;
  }
  __syncthreads();
  return values[0];
}

template <class Combine>
__device__ float reduced(const float* from, const Row& row, float neutral, Combine combine) {
  float value = neutral;
  for_each(
      row, [&](int at) { value = combine(value, from[at]); },
      [&](int at) {
        const float4 x = *reinterpret_cast<const float4*>(from + at);
        value = combine(combine(combine(combine(value, x.x), x.y), x.z), x.w);
      });
  return value;
}

extern "C" __global__ void softmax(float* to, const float* from, int columns) {
  extern __shared__ float values[];
  constexpr float least = -3.402823466e+38f;
  from += static_cast<long long>(blockIdx.x) * columns;
  to += static_cast<long long>(blockIdx.x) * columns;
  const Row row = {shift_of(from), columns};
  const auto larger = [](float a, float b) { return fmaxf(a, b); };
  const float largest = of_block(values, reduced(from, row, least, larger), least, larger);
  const float mine = reduced(from, row, 0, [&](float sum, float x) { return sum + expf(x - largest); });
  const float sum = of_block(values, mine, 0, [](float a, float b) { return a + b; });
  const auto result = [&](float x) { return expf(x - largest) / sum; };
  for_each(
      row, [&](int at) { to[at] = result(from[at]); },
      [&](int at) {
        const float4 x = *reinterpret_cast<const float4*>(from + at);
        *reinterpret_cast<float4*>(to + at) = {result(x.x), result(x.y), result(x.z), result(x.w)};
      });
}
