// Surfaces: an array that kernels write and read by bytes, then as a texture, and copies between arrays.
#include <cstdio>
#include <cstring>

constexpr int width = 6, height = 5;

__global__ void fill(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(make_int2(10 * y + x, -x), surface, x * 8, y, cudaBoundaryModeZero);
}

/// Each texel the sum of its neighbours; outside there is nothing.
__global__ void spread(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = threadIdx.x, y = threadIdx.y;
  int2 sum = make_int2(0, 0);
  for (int side = -1; side <= 1; side += 2) {
    const int2 a = surf2Dread<int2>(from, (x + side) * 8, y, cudaBoundaryModeZero);
    const int2 b = surf2Dread<int2>(from, x * 8, y + side, cudaBoundaryModeClamp);
    sum.x += a.x + b.x;
    sum.y += a.y + b.y;
  }
  surf2Dwrite(sum, to, x * 8, y);
}

__global__ void look(cudaTextureObject_t texture, cudaSurfaceObject_t bytes, int2* to) {
  const int x = threadIdx.x, y = threadIdx.y;
  to[y * width + x] = tex2D<int2>(texture, x, y);
  if (y == 0) surf1Dwrite(static_cast<unsigned char>(200 + x), bytes, x);
}

int main() {
  const cudaChannelFormatDesc pairs = cudaCreateChannelDesc<int2>(), one = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t arrays[3];
  cudaMallocArray(&arrays[0], &pairs, width, height, cudaArraySurfaceLoadStore);
  cudaMallocArray(&arrays[1], &pairs, width, height, cudaArraySurfaceLoadStore);
  cudaMallocArray(&arrays[2], &one, width, 0, cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surfaces[3];
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  for (int i = 0; i < 3; ++i) {
    resource.res.array.array = arrays[i];
    cudaCreateSurfaceObject(&surfaces[i], &resource);
  }
  resource.res.array.array = arrays[1];
  cudaTextureDesc how;
  std::memset(&how, 0, sizeof how);
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  int2 *to = nullptr, got[height][width], first[height][width], part[2][2];
  cudaMalloc(&to, sizeof got);
  unsigned char bytes[width];
  fill<<<1, dim3(width + 2, height + 2)>>>(surfaces[0]);
  spread<<<1, dim3(width, height)>>>(surfaces[0], surfaces[1]);
  look<<<1, dim3(width, height)>>>(texture, surfaces[2], to);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy2DFromArray(first, sizeof first[0], arrays[0], 0, 0, sizeof first[0], height, cudaMemcpyDeviceToHost);
  cudaMemcpy2DFromArray(bytes, width, arrays[2], 0, 0, width, 1, cudaMemcpyDeviceToHost);
  cudaMemcpy2DArrayToArray(arrays[1], 8, 1, arrays[0], 16, 2, 16, 2, cudaMemcpyDeviceToDevice);
  cudaMemcpy2DFromArray(part, sizeof part[0], arrays[1], 8, 1, sizeof part[0], 2, cudaMemcpyDeviceToHost);
  bool right = true;
  const auto value = [](int x, int y) { return x < 0 || x >= width ? 0 : 10 * y + x; };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int up = y > 0 ? y - 1 : 0, down = y < height - 1 ? y + 1 : height - 1;
      right &= first[y][x].x == 10 * y + x && first[y][x].y == -x;
      right &= got[y][x].x == value(x - 1, y) + value(x + 1, y) + value(x, up) + value(x, down);
    }
  for (int x = 0; x < width; ++x) right &= bytes[x] == 200 + x;
  right &= part[1][1].x == 33 && part[0][0].x == 22 && part[0][1].y == -3;
  for (int i = 0; i < 3; ++i) cudaDestroySurfaceObject(surfaces[i]), cudaFreeArray(arrays[i]);
  std::printf("surfaces %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
