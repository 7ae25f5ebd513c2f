// Pitched and three-dimensional memory, and copies and fills of rows.
#include <cstdio>
#include <cstring>

__global__ void negate(char* base, std::size_t pitch, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height) base[y * pitch + x] = -base[y * pitch + x];
}

int main() {
  constexpr int width = 40, height = 6, depth = 2;
  signed char in[depth][height][width], out[depth][height][width];
  for (int z = 0; z < depth; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) in[z][y][x] = z * 50 + y + x;
  cudaPitchedPtr volume;
  cudaMalloc3D(&volume, make_cudaExtent(width, height, depth));
  cudaMemset3D(volume, 9, make_cudaExtent(width, height, depth));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in, width, width, height);
  copy.dstPtr = volume;
  copy.extent = make_cudaExtent(width, height, depth);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  negate<<<height * depth, 64>>>(static_cast<char*>(volume.ptr), volume.pitch, width, height * depth);
  cudaMemset2D(volume.ptr, volume.pitch, 77, 3, height);
  cudaMemcpy2D(out, width, volume.ptr, volume.pitch, width, height * depth, cudaMemcpyDeviceToHost);
  bool right = volume.pitch >= width;
  for (int z = 0; z < depth; ++z)
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        right &= out[z][y][x] == (z == 0 && x < 3 ? 77 : -in[z][y][x]);
  std::printf("forms %s, last %d\n", right ? "right" : "wrong", out[1][5][39]);
  return right ? 0 : 1;
}
