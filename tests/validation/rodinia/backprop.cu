// The two kernels of Rodinia's backprop (layer of `inputs` x 16 hidden units): launch shapes, loads, stores, barriers
// and operations as published; fused multiply-adds are spelled out.
constexpr int side = 16;
constexpr float rate = 0.3f, momentum = 0.3f;

__device__ __forceinline__ int weight_of(int hidden, int row, int column) {
  return (hidden + 1) * (row + 1) + column + 1;
}

// A block for 16 inputs: products with 16 units' weights, summed in a tree that leaves its steps to %.
extern "C" __global__ void forward(const float* input, float* weights, float* partial, int hidden) {
  __shared__ float node[side];
  __shared__ float products[side][side];
  const int tx = threadIdx.x, ty = threadIdx.y, block = blockIdx.y;
  const int mine = weight_of(hidden, side * block + ty, tx);
  if (tx == 0) node[ty] = input[side * block + ty + 1];
  __syncthreads();
  products[ty][tx] = weights[mine];
  __syncthreads();
  products[ty][tx] = products[ty][tx] * node[ty];
  __syncthreads();
  for (int level = 1; level <= __log2f(side); ++level) {
    const int step = static_cast<int>(__powf(2, level));
    if (ty % step == 0) products[ty][tx] = products[ty][tx] + products[ty + step / 2][tx];
    __syncthreads();
  }
  weights[mine] = products[ty][tx];
  __syncthreads();
  if (tx == 0) partial[block * hidden + ty] = products[tx][ty];
}

extern "C" __global__ void adjust(const float* delta, int hidden, const float* layer,
                                  float* weights, float* old) {
  const int tx = threadIdx.x, ty = threadIdx.y, block = blockIdx.y;
  const int mine = weight_of(hidden, side * block + ty, tx);
  const int unit = tx + 1, node = side * block + ty + 1;
  weights[mine] += fmaf(rate * delta[unit], layer[node], momentum * old[mine]);
  old[mine] = fmaf(rate * delta[unit], layer[node], momentum * old[mine]);
  __syncthreads();
  if (ty == 0 && block == 0) {
    weights[unit] += fmaf(rate, delta[unit], momentum * old[unit]);
    old[unit] = fmaf(rate, delta[unit], momentum * old[unit]);
  }
}
