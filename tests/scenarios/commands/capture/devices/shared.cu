// Managed memory that two devices change in turn, and the CPU in between.
#include <cstdio>

__global__ void twice(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = 2 * values[i] + 1;
}

int main() {
  constexpr int count = 5000, blocks = (count + 127) / 128;
  int* values = nullptr;
  cudaMallocManaged(&values, count * sizeof(int));
  for (int i = 0; i < count; ++i) values[i] = i;
  cudaMemAdvise(values, count * sizeof(int), cudaMemAdviseSetPreferredLocation, cudaMemLocation{cudaMemLocationTypeDevice, 1});
  cudaMemPrefetchAsync(values, count * sizeof(int), cudaMemLocation{cudaMemLocationTypeDevice, 1}, 0, nullptr);
  for (int round = 0; round < 2; ++round) {
    for (int device = 0; device < 2; ++device) {
      cudaSetDevice(device);
      twice<<<blocks, 128>>>(values, count);
      cudaDeviceSynchronize();
    }
    values[round] += 1000;
  }
  bool right = true;
  for (int i = 2; i < count; ++i) right &= values[i] == 16 * i + 15;
  right &= values[1] == 16 * 1 + 15 + 1000 && values[0] == 4 * (3 + 1000) + 3;
  std::printf("shared %s, values[3] %d\n", right ? "right" : "wrong", values[3]);
  return right ? 0 : 1;
}
