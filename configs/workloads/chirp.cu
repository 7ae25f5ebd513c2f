// Samples of a linear chirp with the library's full-range sine and cosine: beyond a phase of
// 105615 their argument reduction takes the slow path, which uses an array in local memory.
extern "C" __global__ void chirp(float* __restrict__ in_phase, float* __restrict__ quadrature,
                                 float rate, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float phase = rate * static_cast<float>(i * i);
  in_phase[i] = cosf(phase);
  quadrature[i] = sinf(phase);
}
