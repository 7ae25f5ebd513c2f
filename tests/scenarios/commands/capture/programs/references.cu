// Texture and surface references, which nvcc no longer compiles: the module's text and what nvcc 11 made around it.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

const char text[] = R"(.version 7.8
.target sm_75
.address_size 64
.global .texref picture;
.global .texref values;
.global .surfref board;
.visible .entry fetch(.param .u64 to)
{
  .reg .pred %p<2>;
  .reg .b32 %r<12>;
  .reg .f32 %f<12>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.s32 %f1, %r1;
  mul.f32 %f1, %f1, 0f3E800000;
  mov.f32 %f2, 0f3F400000;
  tex.2d.v4.u32.f32 {%r8, %r9, %r10, %r11}, [picture, {%f1, %f2}];
  mov.b32 %f3, %r8;
  tex.1d.v4.s32.s32 {%r3, %r4, %r5, %r6}, [values, {%r1}];
  shl.b32 %r7, %r1, 2;
  sust.b.1d.b32.zero [board, {%r7}], {%r3};
  mad.wide.u32 %rd2, %r1, 8, %rd1;
  st.global.f32 [%rd2], %f3;
  st.global.b32 [%rd2+4], %r3;
  ret;
}
)";

/// As texture_types.h of CUDA 11 has it.
struct Reference {
  int normalized, filter, addressing[3];
  cudaChannelFormatDesc format;
  int rest[24];
};
Reference picture, values;
cudaChannelFormatDesc board;
char kernel;

/// A fat binary of the text alone, as nvcc writes it.
std::vector<char> fat_binary() {
  const std::uint64_t bytes = (sizeof text + 7) / 8 * 8;
  std::vector<char> binary(16 + 64 + bytes);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    std::memcpy(binary.data() + at, &value, size);
  };
  put(0, 0xba55ed50, 4), put(4, 1, 2), put(6, 16, 2), put(8, 64 + bytes, 8);
  put(16, 1, 2), put(20, 64, 4), put(24, bytes, 8), put(44, 75, 4);
  std::memcpy(binary.data() + 80, text, sizeof text);
  return binary;
}

template <class Function>
Function* entry(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

int main() {
  static const std::vector<char> binary = fat_binary();
  struct {
    int magic = 0x466243b1, version = 1;
    const void* data = binary.data();
    void* more = nullptr;
  } static wrapper;
  cudaFree(nullptr);
  void** const module = entry<void**(void*)>("__cudaRegisterFatBinary")(&wrapper);
  entry<void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*)>(
      "__cudaRegisterFunction")(module, &kernel, nullptr, "fetch", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  const auto register_texture =
      entry<void(void**, const void*, const char*, const char*, int, int, int)>("__cudaRegisterTexture");
  register_texture(module, &picture, "picture", "::picture", 2, 1, 0);
  register_texture(module, &values, "values", "::values", 1, 0, 0);
  const auto register_surface =
      entry<void(void**, const void*, const char*, const char*, int, int)>("__cudaRegisterSurface");
  register_surface(module, &board, "board", "::board", 1, 0);

  const unsigned char texels[2][2] = {{0, 255}, {51, 255}};
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>(), words = cudaCreateChannelDesc<int>();
  cudaArray_t array, written;
  cudaMallocArray(&array, &bytes, 2, 2);
  cudaMallocArray(&written, &words, 6, 0, cudaArraySurfaceLoadStore);
  cudaMemcpy2DToArray(array, 0, 0, texels, 2, 2, 2, cudaMemcpyHostToDevice);
  picture.normalized = 1;
  picture.addressing[0] = picture.addressing[1] = cudaAddressModeWrap;
  const int numbers[5] = {3, 1, 4, 1, 5};
  int* from = nullptr;
  cudaMalloc(&from, sizeof numbers);
  cudaMemcpy(from, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  std::size_t offset = 1;
  bool right =
      entry<cudaError_t(const void*, cudaArray_t, const cudaChannelFormatDesc*)>("cudaBindTextureToArray")(
          &picture, array, &bytes) == cudaSuccess &&
      entry<cudaError_t(std::size_t*, const void*, const void*, const cudaChannelFormatDesc*, std::size_t)>(
          "cudaBindTexture")(&offset, &values, from, &words, sizeof numbers) == cudaSuccess &&
      entry<cudaError_t(const void*, cudaArray_t, const cudaChannelFormatDesc*)>("cudaBindSurfaceToArray")(
          &board, written, &words) == cudaSuccess &&
      offset == 0;

  struct Pair {
    float fraction;
    int number;
  } got[8], *to = nullptr;
  cudaMalloc(&to, sizeof got);
  void* arguments[] = {&to};
  right &= cudaLaunchKernel(static_cast<const void*>(&kernel), dim3(1), dim3(8), arguments, 0, nullptr) == cudaSuccess;
  cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
  int stored[6];
  cudaMemcpy2DFromArray(stored, sizeof stored, written, 0, 0, sizeof stored, 1, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; ++i) {
    right &= got[i].fraction == texels[1][i / 2 % 2] / 255.0f;
    right &= got[i].number == (i < 5 ? numbers[i] : 0);
    right &= i >= 6 || stored[i] == got[i].number;
  }
  std::printf("references %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
