// One training step of a fully connected layer. Forward: a block per hidden unit sums inputs times
// weights through a tree in shared memory and applies the logistic function. Backward: a thread
// per weight, with momentum.
constexpr int block = 256;

extern "C" __global__ void backprop_forward(const float* __restrict__ input,
                                            const float* __restrict__ weight,
                                            float* __restrict__ hidden, int inputs) {
  __shared__ float sums[block];
  const float* mine = weight + blockIdx.x * inputs;
  float sum = 0.0f;
#pragma unroll 4
  for (int i = threadIdx.x; i < inputs; i += block) sum = fmaf(input[i], mine[i], sum);
  sums[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int half = block / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) hidden[blockIdx.x] = 1.0f / (1.0f + __expf(-sums[0]));
}

extern "C" __global__ void backprop_adjust(const float* __restrict__ input,
                                           const float* __restrict__ hidden,
                                           const float* __restrict__ target,
                                           float* __restrict__ weight, float* __restrict__ change,
                                           int inputs, float rate, float momentum) {
  const int unit = blockIdx.y;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= inputs) return;
  const float output = hidden[unit];
  const float delta = (output * (1.0f - output)) * (target[unit] - output);
  const int w = unit * inputs + i;
  const float step = fmaf(rate * delta, input[i], momentum * change[w]);
  weight[w] += step;
  change[w] = step;
}
