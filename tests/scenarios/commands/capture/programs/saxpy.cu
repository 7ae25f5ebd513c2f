// Device memory, blocking copies, one launch.
#include <cstdio>
#include <vector>

__global__ void saxpy(int count, float scale, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] += scale * x[i];
}

int main() {
  constexpr int count = 5000;
  std::vector<float> x(count), y(count);
  for (int i = 0; i < count; ++i) {
    x[i] = i % 17;
    y[i] = i % 5;
  }
  float *device_x, *device_y;
  cudaMalloc(&device_x, count * sizeof(float));
  cudaMalloc(&device_y, count * sizeof(float));
  cudaMemcpy(device_x, x.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<(count + 127) / 128, 128>>>(count, 2.0f, device_x, device_y);
  cudaMemcpy(y.data(), device_y, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(device_x);
  cudaFree(device_y);
  double sum = 0;
  bool right = true;
  for (int i = 0; i < count; ++i) {
    right &= y[i] == i % 5 + 2.0f * (i % 17);
    sum += y[i];
  }
  std::printf("saxpy %s, sum %.1f\n", right ? "right" : "wrong", sum);
  return right ? 0 : 1;
}
