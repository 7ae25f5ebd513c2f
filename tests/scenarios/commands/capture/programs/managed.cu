// Managed memory that CPU and GPU use in turn, and a managed variable.
#include <cstdio>

__managed__ int rounds = 0;

__global__ void step(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * 3 + rounds;
}

__global__ void next() { rounds += 1; }

int main() {
  constexpr int count = 3000;
  int *values, expected[count];
  cudaMallocManaged(&values, count * sizeof(int));
  for (int i = 0; i < count; ++i) values[i] = expected[i] = i;
  for (int round = 0; round < 3; ++round) {
    step<<<(count + 255) / 256, 256>>>(values, count);
    next<<<1, 1>>>();
    cudaDeviceSynchronize();
    values[7] += 100;  // the CPU writes between launches
    for (int i = 0; i < count; ++i) expected[i] = expected[i] * 3 + round;
    expected[7] += 100;
  }
  // System calls on pages that the GPU used last.
  int copy[8] = {};
  std::FILE* file = std::tmpfile();
  bool right = rounds == 3 && std::fwrite(values, sizeof(int), count, file) == count;
  std::rewind(file);
  right &= std::fread(copy, sizeof(int), 8, file) == 8 && copy[7] == expected[7];
  step<<<1, 1>>>(values, 0);
  std::rewind(file);
  right &= std::fread(values, sizeof(int), count, file) == count;
  std::fclose(file);
  for (int i = 0; i < count; ++i) right &= values[i] == expected[i];
  std::printf("managed %s, rounds %d, values[7] %d\n", right ? "right" : "wrong", rounds, values[7]);
  cudaFree(values);
  return right ? 0 : 1;
}
