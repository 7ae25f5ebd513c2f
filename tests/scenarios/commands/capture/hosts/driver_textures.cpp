// Textures as the driver's interface has them: an array that is written by a copy of an area, a
// texture object of it, a texture reference of the module with linear memory and then with an
// array, and a surface object.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using Address = std::uint64_t;
using Handle = void*;

struct ArrayDescription {
  std::size_t width, height;
  int format;
  unsigned channels;
};
struct ArrayEnd {
  std::size_t x, y;
  int type;
  const void* host;
  Address device;
  Handle array;
  std::size_t pitch;
};
struct Copy2D {
  ArrayEnd source, target;
  std::size_t width, height;
};
struct Resource {
  int type = 0;
  union {
    Handle array;
    int reserved[32];
  };
  unsigned flags = 0;
};
struct Texture {
  int addressing[3] = {1, 1, 1}, filter = 0;
  unsigned flags = 0, anisotropy = 0;
  int level_filter = 0;
  float levels[3] = {}, border[4] = {};
  int reserved[12] = {};
};

extern "C" {
int cuInit(unsigned flags);
int cuDeviceGet(int* device, int number);
int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleLoadFatBinary(Handle* module, const void* image);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuModuleGetTexRef(Handle* reference, Handle module, const char* name);
int cuMemAlloc_v2(Address* address, std::size_t bytes);
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes);
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes);
int cuMemcpy2D_v2(const Copy2D* copy);
int cuMemcpyAtoH_v2(void* to, Handle array, std::size_t offset, std::size_t bytes);
int cuArrayCreate_v2(Handle* array, const ArrayDescription* description);
int cuArrayGetDescriptor_v2(ArrayDescription* description, Handle array);
int cuArrayDestroy(Handle array);
int cuTexObjectCreate(std::uint64_t* handle, const Resource*, const Texture*, const void* view);
int cuTexObjectDestroy(std::uint64_t handle);
int cuSurfObjectCreate(std::uint64_t* handle, const Resource*);
int cuTexRefSetAddress_v2(std::size_t* offset, Handle reference, Address memory, std::size_t bytes);
int cuTexRefSetFormat(Handle reference, int format, int channels);
int cuTexRefSetArray(Handle reference, Handle array, unsigned flags);
int cuTexRefSetFlags(Handle reference, unsigned flags);
int cuTexRefSetAddressMode(Handle reference, int dimension, int mode);
int cuTexRefSetFilterMode(Handle reference, int mode);
int cuTexRefGetFlags(unsigned* flags, Handle reference);
int cuLaunchKernel(Handle function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned shared, Handle stream, void** arguments, void** packed);
}

static const char* text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .texref picture;
.visible .entry fetch(.param .u64 handle, .param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  cvt.rn.f32.s32 %f1, %r1;
  cvt.rn.f32.s32 %f2, %r2;
  add.f32 %f1, %f1, 0f3F000000;
  add.f32 %f2, %f2, 0f3F000000;
  tex.2d.v4.f32.f32 {%f1, %f3, %f4, %f5}, [%rd1, {%f1, %f2}];
  mov.u32 %r3, %ntid.x;
  mad.lo.s32 %r1, %r2, %r3, %r1;
  mul.wide.s32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f1;
  ret;
}
.visible .entry fetch_reference(.param .u64 to)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [picture, {%r1}];
  mul.wide.s32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
}
.visible .entry fetch_plane(.param .u64 to)
{
  .reg .b32 %r<4>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [to];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.s32 %f1, %r1;
  mov.f32 %f2, 0f3F800000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f2}, [picture, {%f1, %f2}];
  mul.wide.s32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f3;
  ret;
}
.visible .entry raise(.param .u64 handle)
{
  .reg .b32 %r<5>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  shl.b32 %r3, %r1, 2;
  suld.b.2d.b32.trap {%r4}, [%rd1, {%r3, %r2}];
  mov.b32 %f1, %r4;
  add.f32 %f2, %f1, 0f42C80000;
  mov.b32 %r4, %f2;
  sust.b.2d.b32.trap [%rd1, {%r3, %r2}], {%r4};
  ret;
}
)";

static constexpr unsigned width = 8, height = 4;
static bool right = true;

static void expect(bool holds, const char* what) {
  if (!holds) std::printf("wrong: %s\n", what);
  right &= holds;
}
static void done(int error, const char* what) {
  expect(error == 0, what);
}
#define DO(call) done(call, #call)

static void launch(Handle module, const char* name, unsigned threads_x, unsigned threads_y,
                   void** arguments) {
  Handle function = nullptr;
  DO(cuModuleGetFunction(&function, module, name));
  DO(cuLaunchKernel(function, 1, 1, 1, threads_x, threads_y, 1, 0, nullptr, arguments, nullptr));
}

int main(int count, char** words) {
  int device = 0;
  Handle context = nullptr, module = nullptr, array = nullptr, reference = nullptr;
  DO(cuInit(0));
  DO(cuDeviceGet(&device, 0));
  DO(cuCtxCreate_v2(&context, 0, device));
  if (count > 1) {
    std::ifstream file(words[1], std::ios::binary);
    const std::vector<char> image(std::istreambuf_iterator<char>(file), {});
    DO(cuModuleLoadFatBinary(&module, image.data()));
  } else {
    DO(cuModuleLoadData(&module, text));
  }
  const ArrayDescription shape{width, height, 0x20, 1};
  ArrayDescription told{};
  DO(cuArrayCreate_v2(&array, &shape));
  DO(cuArrayGetDescriptor_v2(&told, array));
  expect(told.width == width && told.height == height && told.format == 0x20 && told.channels == 1,
         "its shape");

  std::vector<float> texels(width * height), got(texels.size());
  for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i * i);
  Copy2D copy{};
  copy.source = {0, 0, 1, texels.data(), 0, nullptr, width * sizeof(float)};
  copy.target = {0, 0, 3, nullptr, 0, array, 0};
  copy.width = width * sizeof(float);
  copy.height = height;
  DO(cuMemcpy2D_v2(&copy));

  Resource resource;
  std::memset(resource.reserved, 0, sizeof resource.reserved);
  resource.array = array;
  std::uint64_t texture = 0, surface = 0;
  Address memory = 0;
  DO(cuTexObjectCreate(&texture, &resource, new Texture, nullptr));
  DO(cuMemAlloc_v2(&memory, got.size() * sizeof(float)));
  void* both[] = {&texture, &memory};
  launch(module, "fetch", width, height, both);
  DO(cuMemcpyDtoH_v2(got.data(), memory, got.size() * sizeof(float)));
  expect(got == texels, "what a texture object fetches");

  DO(cuSurfObjectCreate(&surface, &resource));
  void* one[] = {&surface};
  launch(module, "raise", width, height, one);
  DO(cuMemcpyAtoH_v2(got.data(), array, 0, got.size() * sizeof(float)));
  for (std::size_t i = 0; i < got.size(); ++i)
    expect(got[i] == texels[i] + 100, "what a surface holds");

  Address whole = 0;
  std::vector<int> numbers(32), fetched(32);
  for (int i = 0; i < 32; ++i) numbers[static_cast<std::size_t>(i)] = 7 * i - 50;
  DO(cuMemAlloc_v2(&whole, sizeof(int) * 32));
  DO(cuMemcpyHtoD_v2(whole, numbers.data(), sizeof(int) * 32));
  DO(cuModuleGetTexRef(&reference, module, "picture"));
  DO(cuTexRefSetFormat(reference, 0x0a, 1));
  DO(cuTexRefSetFlags(reference, 1));
  DO(cuTexRefSetAddress_v2(nullptr, reference, whole, sizeof(int) * 32));
  void* to[] = {&memory};
  launch(module, "fetch_reference", 32, 1, to);
  DO(cuMemcpyDtoH_v2(fetched.data(), memory, sizeof(int) * 32));
  expect(fetched == numbers, "what a reference to linear memory fetches");

  DO(cuTexRefSetArray(reference, array, 1));
  DO(cuTexRefSetFilterMode(reference, 1));
  DO(cuTexRefSetAddressMode(reference, 0, 3));
  DO(cuTexRefSetFlags(reference, 0));
  unsigned flags = 9;
  DO(cuTexRefGetFlags(&flags, reference));
  expect(flags == 0, "flags that were set");
  launch(module, "fetch_plane", width, 1, to);
  DO(cuMemcpyDtoH_v2(got.data(), memory, width * sizeof(float)));
  for (unsigned x = 0; x < width;
       ++x) {  // between two rows and two columns, of which the first is the border
    const auto at = [&](unsigned column, unsigned row) {
      return texels[row * width + column] + 100;
    };
    const float left = x == 0 ? 0 : at(x - 1, 0) + at(x - 1, 1);
    expect(got[x] == (left + at(x, 0) + at(x, 1)) / 4, "what a reference to an array mixes");
  }
  DO(cuTexObjectDestroy(texture));
  DO(cuArrayDestroy(array));
  std::printf("driver textures %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
