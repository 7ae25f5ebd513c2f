// Products of matrices: fragments of half precision, small integers, so that any order gives the same sums.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>
#include <vector>

constexpr int size = 48, tile = 16;

__global__ void multiply(const half* a, const half* b, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, tile, tile, tile, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, tile, tile, tile, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, tile, tile, tile, float> sum;
  const int row = blockIdx.y * tile, column = blockIdx.x * tile;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < size; k += tile) {
    wmma::load_matrix_sync(left, a + row * size + k, size);
    wmma::load_matrix_sync(right, b + column * size + k, size);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + row * size + column, sum, size, wmma::mem_row_major);
}

int main() {
  std::vector<half> a(size * size), b(size * size);
  std::vector<float> c(size * size);
  for (int i = 0; i < size * size; ++i) {
    a[i] = __float2half(static_cast<float>(i % 7 - 3));
    b[i] = __float2half(static_cast<float>(i % 5 - 2));
  }
  half *device_a, *device_b;
  float* device_c;
  cudaMalloc(&device_a, a.size() * sizeof(half));
  cudaMalloc(&device_b, b.size() * sizeof(half));
  cudaMalloc(&device_c, c.size() * sizeof(float));
  cudaMemcpy(device_a, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(device_b, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  multiply<<<dim3(size / tile, size / tile), 32>>>(device_a, device_b, device_c);
  cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      int sum = 0;
      for (int k = 0; k < size; ++k) sum += ((row * size + k) % 7 - 3) * ((column * size + k) % 5 - 2);
      right &= c[row * size + column] == static_cast<float>(sum);
    }
  std::printf("matrices %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
