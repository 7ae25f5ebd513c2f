// Training steps of a linear model, whose weights are on all GPUs and whose samples are dealt out:
// errors of a GPU's samples, gradients of all weights, and the step along the sum of the gradients,
// one element per thread and grid-stride step.
extern "C" __global__ void errors(const float* __restrict__ samples,
                                  const float* __restrict__ targets,
                                  const float* __restrict__ weights, float* __restrict__ error,
                                  int batch, int features) {
  for (int s = blockIdx.x * blockDim.x + threadIdx.x; s < batch; s += gridDim.x * blockDim.x) {
    float sum = -targets[s];
    for (int f = 0; f < features; ++f) sum += samples[f * batch + s] * weights[f];
    error[s] = sum;
  }
}

extern "C" __global__ void gradients(const float* __restrict__ samples,
                                     const float* __restrict__ error,
                                     float* __restrict__ gradient, int batch, int features) {
  for (int f = blockIdx.x * blockDim.x + threadIdx.x; f < features; f += gridDim.x * blockDim.x) {
    float sum = 0;
    for (int s = 0; s < batch; ++s) sum += samples[f * batch + s] * error[s];
    gradient[f] = sum;
  }
}

extern "C" __global__ void add_part(float* __restrict__ sums, const float* __restrict__ arrived,
                                    int first, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    sums[first + i] += arrived[i];
  }
}

extern "C" __global__ void update(float* __restrict__ weights, const float* __restrict__ gradient,
                                  float rate, int features) {
  for (int f = blockIdx.x * blockDim.x + threadIdx.x; f < features; f += gridDim.x * blockDim.x) {
    weights[f] -= rate * gradient[f];
  }
}
