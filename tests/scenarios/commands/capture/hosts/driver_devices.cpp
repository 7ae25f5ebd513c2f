// Several devices by the driver's interface: a context for each, copies between them, a kernel of
// one that reads memory of the other.
#include <cstdint>
#include <cstdio>
#include <vector>

using Address = std::uint64_t;
using Handle = void*;

extern "C" {
int cuInit(unsigned flags);
int cuDeviceGet(int* device, int number);
int cuDeviceGetCount(int* count);
int cuDeviceCanAccessPeer(int* can, int from, int to);
int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
int cuCtxSetCurrent(Handle context);
int cuCtxGetDevice(int* device);
int cuCtxSynchronize();
int cuCtxEnablePeerAccess(Handle peer, unsigned flags);
int cuDevicePrimaryCtxRetain(Handle* context, int device);
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuMemAlloc_v2(Address* address, std::size_t bytes);
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes);
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes);
int cuMemcpyPeer(Address to, Handle to_context, Address from, Handle from_context,
                 std::size_t bytes);
int cuLaunchKernel(Handle function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned shared, Handle stream, void** arguments, void** packed);
}

static const char* text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d2, [from];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  ld.global.u32 %r2, [%d1];
  ld.global.u32 %r3, [%d2];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%d1], %r2;
  ret;
}
)";

int main() {
  constexpr int count = 64;
  constexpr std::size_t bytes = count * sizeof(int);
  int devices = 0, device = -1, can = 0, last = -1;
  cuInit(0);
  cuDeviceGetCount(&devices);
  bool right =
      devices == 2 && cuDeviceGet(&last, 1) == 0 && last == 1 && cuDeviceGet(&last, 2) == 101;
  cuDeviceCanAccessPeer(&can, 0, 1);
  Handle contexts[2], module, add;
  Address memory[2];
  cuDevicePrimaryCtxRetain(&contexts[0], 0);
  cuCtxCreate_v2(&contexts[1], 0, 1);
  std::vector<int> values(count);
  for (int d = 0; d < 2; ++d) {
    cuCtxSetCurrent(contexts[d]);
    right &= cuCtxGetDevice(&device) == 0 && device == d;
    cuMemAlloc_v2(&memory[d], bytes);
    for (int i = 0; i < count; ++i) values[i] = 100 * d + i;
    cuMemcpyHtoD_v2(memory[d], values.data(), bytes);
  }
  cuCtxSetCurrent(contexts[0]);
  right &= cuCtxEnablePeerAccess(contexts[1], 0) == 0 && can == 1;
  cuModuleLoadData(&module, text);
  cuModuleGetFunction(&add, module, "add");
  void* arguments[] = {&memory[0], &memory[1]};
  cuLaunchKernel(add, 1, 1, 1, count, 1, 1, 0, nullptr, arguments, nullptr);
  right &= cuMemcpyPeer(memory[1], contexts[1], memory[0], contexts[0], bytes) == 0;
  cuCtxSetCurrent(contexts[1]);
  cuMemcpyDtoH_v2(values.data(), memory[1], bytes);
  right &= cuCtxSynchronize() == 0;
  for (int i = 0; i < count; ++i) right &= values[i] == 100 + 2 * i;
  std::printf("driver_devices %s, values[1] %d\n", right ? "right" : "wrong", values[1]);
  return right ? 0 : 1;
}
