// Prices of European options by the formula of Black and Scholes, the normal distribution by a
// polynomial of the fifth degree (Abramowitz and Stegun, 26.2.17).
__device__ __forceinline__ float normal_distribution(float d) {
  const float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
  float sum = 1.330274429f;
  sum = fmaf(sum, k, -1.821255978f);
  sum = fmaf(sum, k, 1.781477937f);
  sum = fmaf(sum, k, -0.356563782f);
  sum = fmaf(sum, k, 0.319381530f);
  const float tail = 0.39894228f * expf(-0.5f * d * d) * (sum * k);
  return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float* __restrict__ price,
                                         const float* __restrict__ strike,
                                         const float* __restrict__ years, float* __restrict__ call,
                                         float* __restrict__ put, float rate, float volatility,
                                         int options) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= options) return;
  const float s = price[i];
  const float x = strike[i];
  const float t = years[i];
  const float spread = volatility * sqrtf(t);
  const float drift = fmaf(0.5f * volatility, volatility, rate) * t;
  const float d1 = (logf(s / x) + drift) / spread;
  const float d2 = d1 - spread;
  const float below_1 = normal_distribution(d1);
  const float below_2 = normal_distribution(d2);
  const float discounted = x * expf(-rate * t);
  call[i] = fmaf(s, below_1, -discounted * below_2);
  put[i] = fmaf(discounted, 1.0f - below_2, -s * (1.0f - below_1));
}
