// Launches with the attribute of programmatic stream serialization, by the driver's interface.
#include <cstdint>
#include <cstdio>
#include <cstring>

using Handle = void*;

extern "C" {
int cuInit(unsigned flags);
int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes);
int cuMemsetD32_v2(std::uint64_t to, unsigned value, std::size_t count);
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes);
int cuLaunchKernelEx(const void* how, Handle function, void** arguments, void** packed);
}

struct Attribute {
  int id;
  int padding;
  char value[64];
};
struct Configuration {
  unsigned blocks[3], threads[3], shared;
  Handle stream;
  Attribute* attributes;
  unsigned count;
};

static const char* text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry add(.param .u64 to)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  griddepcontrol.launch_dependents;
  ld.param.u64 %d1, [to];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d1, %d1, %d2;
  griddepcontrol.wait;
  ld.global.u32 %r4, [%d1];
  add.u32 %r4, %r4, 1;
  st.global.u32 [%d1], %r4;
  ret;
}
)";

static int launch(Handle function, std::uint64_t to, int id, int value) {
  Attribute attribute = {id, 0, {}};
  std::memcpy(attribute.value, &value, sizeof value);
  const Configuration how = {{1, 1, 1}, {32, 1, 1}, 0, nullptr, &attribute, 1};
  void* arguments[] = {&to};
  return cuLaunchKernelEx(&how, function, arguments, nullptr);
}

int main() {
  constexpr int serialization = 6, event = 7, success = 0, not_supported = 801;
  Handle context, module, function;
  std::uint64_t to = 0;
  int result[32] = {};
  bool right = cuInit(0) == success && cuCtxCreate_v2(&context, 0, 0) == success &&
               cuModuleLoadData(&module, text) == success &&
               cuModuleGetFunction(&function, module, "add") == success &&
               cuMemAlloc_v2(&to, sizeof result) == success && cuMemsetD32_v2(to, 0, 32) == success;
  right &= launch(function, to, serialization, 0) == success;
  right &= launch(function, to, serialization, 1) == success;
  right &= launch(function, to, serialization, 1) == success;
  right &= launch(function, to, event, 1) == not_supported;
  right &= cuMemcpyDtoH_v2(result, to, sizeof result) == success;
  for (const int number : result) right &= number == 3;
  std::printf("launches %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
