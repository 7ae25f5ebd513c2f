// Sums by atomics, which depend on the order of threads in their last digits, numbers that are made of them, and
// integers beside them.
#include <cmath>
#include <cstdio>
#include <vector>

struct Sums {
  float single;
  unsigned count;
  double twice;
};

__global__ void add(const float* x, Sums* sums, int count) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += x[i];
  atomicAdd(&sums->single, mine);
  atomicAdd(&sums->count, 1u);
  atomicAdd(&sums->twice, 2.0 * mine);
}

__global__ void scale(const float* x, const Sums* sums, float* out, unsigned* whole, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  out[i] = x[i] * sums->single;
  whole[i] = i * sums->count;
}

int main() {
  const int count = 100000, kept = 1000;
  std::vector<float> x(count), scaled(kept);
  double exact = 0;
  for (int i = 0; i < count; ++i) exact += x[i] = std::sin(static_cast<float>(i)) + 0.1f;
  float *on_gpu, *out;
  Sums *sums, got;
  unsigned* whole;
  cudaMalloc(&on_gpu, count * sizeof(float));
  cudaMalloc(&out, kept * sizeof(float));
  cudaMalloc(&whole, kept * sizeof(unsigned));
  cudaMalloc(&sums, sizeof(Sums));
  cudaMemset(sums, 0, sizeof(Sums));
  cudaMemcpy(on_gpu, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  add<<<40, 128>>>(on_gpu, sums, count);
  cudaMemcpy(&got, sums, sizeof got, cudaMemcpyDeviceToHost);
  scale<<<8, 128>>>(on_gpu, sums, out, whole, kept);
  cudaMemcpy(scaled.data(), out, kept * sizeof(float), cudaMemcpyDeviceToHost);
  const bool right = std::fabs(got.single - exact) < 1 && std::fabs(got.twice - 2 * exact) < 1 && got.count == 5120;
  std::printf("%.9g %.17g %u %g: %s\n", got.single, got.twice, got.count, exact, right ? "sums right" : "sums wrong");
  return right ? 0 : 1;
}
