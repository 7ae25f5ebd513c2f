// binomialOptions of the CUDA samples: a block an option, a thread 16 of the 2048 last nodes.  Each step moves a node
// from thread to thread through shared memory; a thread whose nodes all lie outside of the tree has nothing to add up.
constexpr int steps = 2048, threads = 128, each = steps / threads;

struct Option {
  float price, strike, step_drift, up, down;
};
__constant__ Option options[1024];

__device__ float at_the_end(const Option& o, int node) {
  return fmaxf(fmaf(o.price, __expf(o.step_drift * fmaf(2.0f, node, -steps)), -o.strike), 0.0f);
}

extern "C" __global__ void binomial(float* values) {
  __shared__ float first[threads + 1];
  const int thread = threadIdx.x;
  const Option o = options[blockIdx.x];
  float node[each + 1];
#pragma unroll
  for (int i = 0; i < each; ++i) node[i] = at_the_end(o, thread * each + i);
  if (thread == 0) first[threads] = at_the_end(o, steps);
  const int last = max(0, thread * each - 1);
  for (int step = steps; step > 0; --step) {
    first[thread] = node[0];
    __syncthreads();
    node[each] = first[thread + 1];
    __syncthreads();
    if (step > last) {
#pragma unroll
      for (int i = 0; i < each; ++i) node[i] = fmaf(o.up, node[i + 1], o.down * node[i]);
    }
  }
  if (thread == 0) values[blockIdx.x] = node[0];
}
