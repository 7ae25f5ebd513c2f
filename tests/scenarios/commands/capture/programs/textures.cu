// Texture objects: of arrays, of pitched and of linear memory, in one to three dimensions and in layers.
#include <cstdio>
#include <cstring>

constexpr int width = 8, height = 4;

__global__ void scale(cudaTextureObject_t picture, float* to, float step) {
  const int x = threadIdx.x, y = threadIdx.y;
  to[y * blockDim.x + x] = tex2D<float>(picture, (x + 0.5f) * step, (y + 0.5f) * step);
}

__global__ void gather(cudaTextureObject_t values, const int* where, float4* to) {
  to[threadIdx.x] = tex1Dfetch<float4>(values, where[threadIdx.x]);
}

__global__ void colours(cudaTextureObject_t fractions, cudaTextureObject_t numbers, float4* to, int* sums) {
  const float x = threadIdx.x / 4.0f - 0.5f;
  to[threadIdx.x] = tex2D<float4>(fractions, x, 0.25f);
  const char4 number = tex2D<char4>(numbers, x, 0.25f);
  sums[threadIdx.x] = number.x + 10 * number.y + 100 * number.z + 1000 * number.w;
}

__global__ void volumes(cudaTextureObject_t volume, cudaTextureObject_t layers, short* to) {
  const int z = threadIdx.x;
  to[2 * z] = tex3D<short>(volume, 1, 1, z - 1);
  to[2 * z + 1] = tex2DLayered<short>(layers, 0, 1, z);
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                               cudaTextureReadMode read, cudaTextureAddressMode mode, bool normalized) {
  cudaTextureDesc how;
  std::memset(&how, 0, sizeof how);
  for (cudaTextureAddressMode& dimension : how.addressMode) dimension = mode;
  how.filterMode = filter;
  how.readMode = read;
  how.normalizedCoords = normalized;
  how.borderColor[0] = how.borderColor[3] = 1;
  cudaTextureObject_t texture = 0;
  if (cudaCreateTextureObject(&texture, &resource, &how, nullptr) != cudaSuccess) std::printf("no texture\n");
  return texture;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

template <class T>
T* on_device(std::size_t count) {
  T* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(T));
  return pointer;
}

/// Between texels of a slope everything is on the slope.
bool a_picture_is_enlarged() {
  float texels[height][width], got[2 * height][2 * width];
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) texels[y][x] = 16 * y + x;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &format, width, height);
  cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels[0], sizeof texels[0], height, cudaMemcpyHostToDevice);
  const cudaTextureObject_t picture = texture_of(resource_of(array), cudaFilterModeLinear, cudaReadModeElementType,
                                                 cudaAddressModeClamp, false);
  float* to = on_device<float>(4 * width * height);
  scale<<<1, dim3(2 * width, 2 * height)>>>(picture, to, 0.5f);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  bool right = true;
  const auto held = [](float value, float most) { return value < 0 ? 0 : value > most ? most : value; };
  for (int y = 0; y < 2 * height; ++y)
    for (int x = 0; x < 2 * width; ++x)
      right &= got[y][x] == 16 * held(y * 0.5f - 0.25f, height - 1) + held(x * 0.5f - 0.25f, width - 1);
  cudaDestroyTextureObject(picture);
  cudaFreeArray(array);
  return right;
}

bool linear_memory_is_read_by_index() {
  float4 values[24], got[32];
  int where[32];
  for (int i = 0; i < 24; ++i) values[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
  for (int i = 0; i < 32; ++i) where[i] = (i * 7 + 20) % 32 - 4;  // some of them outside
  float4 *from = on_device<float4>(24), *to = on_device<float4>(32);
  int* indices = on_device<int>(32);
  cudaMemcpy(from, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy(indices, where, sizeof where, cudaMemcpyHostToDevice);
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = from;
  resource.res.linear.desc = cudaCreateChannelDesc<float4>();
  resource.res.linear.sizeInBytes = sizeof values;
  const cudaTextureObject_t texture =
      texture_of(resource, cudaFilterModePoint, cudaReadModeElementType, cudaAddressModeClamp, false);
  gather<<<1, 32>>>(texture, indices, to);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 32; ++i) {
    const float x = where[i] >= 0 && where[i] < 24 ? where[i] : 0;
    right &= got[i].x == x && got[i].y == 2 * x && got[i].z == 3 * x && got[i].w == 4 * x;
  }
  return right;
}

bool pitched_memory_has_colours() {
  const unsigned char texels[2][8] = {{0, 51, 102, 255, 255, 0, 51, 1}, {9, 9, 9, 9, 9, 9, 9, 9}};
  char* from = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&from, &pitch, sizeof texels[0], 2);
  cudaMemcpy2D(from, pitch, texels, sizeof texels[0], sizeof texels[0], 2, cudaMemcpyHostToDevice);
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = from;
  resource.res.pitch2D.width = 2;
  resource.res.pitch2D.height = 2;
  resource.res.pitch2D.pitchInBytes = pitch;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  const cudaTextureObject_t fractions = texture_of(resource, cudaFilterModePoint, cudaReadModeNormalizedFloat,
                                                   cudaAddressModeBorder, true);
  resource.res.pitch2D.desc = cudaCreateChannelDesc<char4>();
  const cudaTextureObject_t numbers =
      texture_of(resource, cudaFilterModePoint, cudaReadModeElementType, cudaAddressModeWrap, true);
  float4 *to = on_device<float4>(8), got[8];
  int *sums = on_device<int>(8), sum[8];
  colours<<<1, 8>>>(fractions, numbers, to, sums);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy(sum, sums, sizeof sum, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 8; ++i) {
    const bool inside = i >= 2 && i < 6;
    const unsigned char* texel = &texels[0][(i / 2 + 1) % 2 * 4];
    right &= got[i].x == (inside ? texel[0] / 255.0f : 1) && got[i].y == (inside ? texel[1] / 255.0f : 0) &&
             got[i].w == (inside ? texel[3] / 255.0f : 1);
    const auto number = [&](int c) { return static_cast<int>(static_cast<signed char>(texel[c])); };
    right &= sum[i] == number(0) + 10 * number(1) + 100 * number(2) + 1000 * number(3);
  }
  return right;
}

bool slices_are_apart() {
  short texels[3][2][3], got[10];
  for (int i = 0; i < 18; ++i) (&texels[0][0][0])[i] = 100 - 7 * i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<short>();
  cudaArray_t arrays[2];
  cudaMalloc3DArray(&arrays[0], &format, make_cudaExtent(3, 2, 3));
  cudaMalloc3DArray(&arrays[1], &format, make_cudaExtent(3, 2, 3), cudaArrayLayered);
  cudaTextureObject_t textures[2];
  for (int a = 0; a < 2; ++a) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels, sizeof texels[0][0], 3, 2);
    copy.dstArray = arrays[a];
    copy.extent = make_cudaExtent(3, 2, 3);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    textures[a] = texture_of(resource_of(arrays[a]), cudaFilterModePoint, cudaReadModeElementType,
                             cudaAddressModeClamp, false);
  }
  short* to = on_device<short>(10);
  volumes<<<1, 5>>>(textures[0], textures[1], to);
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int z = 0; z < 5; ++z) {
    right &= got[2 * z] == texels[z < 1 ? 0 : z > 3 ? 2 : z - 1][1][1];
    right &= got[2 * z + 1] == texels[z > 2 ? 2 : z][1][0];
  }
  return right;
}

bool descriptions_are_kept() {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
  cudaMallocArray(&array, &format, 5, 0);
  cudaChannelFormatDesc told;
  cudaExtent extent;
  unsigned flags = 7;
  cudaArrayGetInfo(&told, &extent, &flags, array);
  bool right = told.y == 16 && told.z == 0 && told.f == cudaChannelFormatKindFloat && extent.width == 5 &&
               extent.height == 0 && flags == 0;
  const cudaTextureObject_t texture = texture_of(resource_of(array), cudaFilterModeLinear, cudaReadModeElementType,
                                                 cudaAddressModeMirror, true);
  cudaResourceDesc resource;
  cudaTextureDesc how;
  cudaGetTextureObjectResourceDesc(&resource, texture);
  cudaGetTextureObjectTextureDesc(&how, texture);
  right &= resource.res.array.array == array && how.addressMode[2] == cudaAddressModeMirror;
  // Integers are filtered as fractions only.
  const cudaChannelFormatDesc integers = cudaCreateChannelDesc<int>();
  cudaMallocArray(&array, &integers, 5, 5);
  const cudaResourceDesc of_integers = resource_of(array);
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t none = 0;
  right &= cudaCreateTextureObject(&none, &of_integers, &how, nullptr) == cudaErrorInvalidFilterSetting;
  return right;
}

int main() {
  const bool right[] = {a_picture_is_enlarged(), linear_memory_is_read_by_index(), pitched_memory_has_colours(),
                        slices_are_apart(), descriptions_are_kept()};
  bool all = true;
  for (const bool one : right) all &= one;
  std::printf("textures %s: %d%d%d%d%d\n", all ? "right" : "wrong", right[0], right[1], right[2], right[3], right[4]);
  return all ? 0 : 1;
}
