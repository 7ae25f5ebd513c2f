// quasirandomGenerator's second kernel, of the CUDA samples: Moro's approximation (1995) of the inverse cumulative
// normal distribution, for evenly spaced arguments.
template <int count>
__device__ float polynomial(float x, const float (&factors)[count]) {
  float sum = factors[count - 1];
#pragma unroll
  for (int i = count - 2; i >= 0; --i) sum = fmaf(sum, x, factors[i]);
  return sum;
}

__device__ float inverse_normal(unsigned position) {
  constexpr float a[4] = {2.50662823884f, -18.61500062529f, 41.39119773534f, -25.44106049637f};
  constexpr float b[4] = {-8.4735109309f, 23.08336743743f, -21.06224101826f, 3.13082909833f};
  constexpr float c[9] = {0.337475482272615f,    0.976169019091719f,     0.160797971491821f,
                          2.76438810333863e-2f,  3.8405729373609e-3f,    3.951896511919e-4f,
                          3.21767881768e-5f,     2.888167364e-7f,        3.960315187e-7f};
  bool lower = false;
  if (position >= 0x80000000u) {
    position = 0xffffffffu - position;
    lower = true;
  }
  const float x = fmaf(position, 1.0f / 4294967296.0f, 0.5f / 4294967296.0f), y = x - 0.5f;
  float z;
  if (x > 0.08f) {
    z = y * y;
    const float above = y * polynomial(z, a), below = fmaf(polynomial(z, b), z, 1.0f);
    z = above / below;
  } else {
    z = -polynomial(__logf(-__logf(x)), c);
  }
  return lower ? -z : z;
}

extern "C" __global__ void inverse(float* out, unsigned count) {
  const unsigned apart = 0xffffffffu / (count + 1), threads = blockDim.x * gridDim.x;
  for (unsigned at = blockDim.x * blockIdx.x + threadIdx.x; at < count; at += threads)
    out[at] = inverse_normal((at + 1) * apart);
}
