// The driver's interface: a module as text and as a file, contexts, memory, streams, a graph,
// entries by name.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using Address = std::uint64_t;
using Handle = void*;

extern "C" {
int cuInit(unsigned flags);
int cuDeviceGet(int* device, int number);
int cuDeviceGetCount(int* count);
int cuDeviceGetName(char* name, int bytes, int device);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDeviceTotalMem_v2(std::size_t* bytes, int device);
int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
int cuCtxGetCurrent(Handle* context);
int cuCtxPopCurrent_v2(Handle* context);
int cuCtxSynchronize();
int cuCtxDestroy_v2(Handle context);
int cuDevicePrimaryCtxRetain(Handle* context, int device);
int cuCtxSetCurrent(Handle context);
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleLoad(Handle* module, const char* name);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, Handle module, const char* name);
int cuFuncGetAttribute(int* value, int attribute, Handle function);
int cuMemAlloc_v2(Address* address, std::size_t bytes);
int cuMemFree_v2(Address address);
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes);
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes);
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Handle stream);
int cuMemsetD32_v2(Address to, unsigned value, std::size_t count);
int cuMemsetD16_v2(Address to, unsigned short value, std::size_t count);
int cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address address);
int cuStreamCreate(Handle* stream, unsigned flags);
int cuStreamSynchronize(Handle stream);
int cuEventCreate(Handle* event, unsigned flags);
int cuEventRecord(Handle event, Handle stream);
int cuStreamBeginCapture_v2(Handle stream, int mode);
int cuStreamEndCapture(Handle stream, Handle* graph);
int cuGraphInstantiateWithFlags(Handle* executable, Handle graph, unsigned long long flags);
int cuGraphLaunch(Handle executable, Handle stream);
int cuLaunchKernel(Handle function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned shared, Handle stream, void** arguments, void** packed);
int cuGetErrorName(int error, const char** name);
int cuGetErrorString(int error, const char** text);
int cuGetProcAddress_v2(const char* name, void** address, int version, std::uint64_t flags,
                        int* result);
int cuMemCreate(void*, std::size_t, const void*, unsigned long long);
}

static const char* text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 to, .param .u32 plus)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [to];
  ld.param.u32 %r1, [plus];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r3, [factor];
  ld.global.u32 %r4, [%d1];
  mad.lo.u32 %r4, %r4, %r3, %r1;
  st.global.u32 [%d1], %r4;
  ret;
}
)";

static int failures = 0;

static void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

#define IS_DONE(call) expect((call) == 0, #call)

static void ask_device() {
  int count = 0, device = -1, sms = 0;
  char name[64];
  std::size_t bytes = 0;
  IS_DONE(cuDeviceGetCount(&count));
  IS_DONE(cuDeviceGet(&device, 0));
  IS_DONE(cuDeviceGetName(name, sizeof name, device));
  IS_DONE(cuDeviceGetAttribute(&sms, 16, device));
  IS_DONE(cuDeviceTotalMem_v2(&bytes, device));
  expect(count == 1 && device == 0 && sms == 80 && std::strcmp(name, "Lockstep v100") == 0 &&
             bytes > 0,
         "device");
}

static void ask_errors() {
  const char *name = nullptr, *sentence = nullptr;
  IS_DONE(cuGetErrorName(2, &name));
  IS_DONE(cuGetErrorString(2, &sentence));
  expect(std::strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY") == 0 &&
             std::strcmp(sentence, "out of memory") == 0,
         "names");
  expect(cuGetErrorName(12345, &name) == 1 && name == nullptr, "a name of no error");
  expect(cuMemCreate(nullptr, 0, nullptr, 0) == 801, "an entry that is not there");
}

static void use_memory(Address memory) {
  Address base = 0;
  std::size_t bytes = 0;
  unsigned short halves[37];
  IS_DONE(cuMemGetAddressRange_v2(&base, &bytes, memory + 8));
  expect(base == memory && bytes == 128, "range");
  IS_DONE(cuMemsetD16_v2(memory + 2, 0x1234, 36));
  IS_DONE(cuMemcpyDtoH_v2(halves, memory + 2, 72));
  for (int i = 0; i < 36; ++i) expect(halves[i] == 0x1234, "halves");
  expect(cuMemsetD32_v2(memory + 2, 0, 1) == 1, "words at an odd place");
}

static void launch_all(Handle function, Address memory, Address factor) {
  unsigned plus = 5, got[32];
  void* arguments[] = {&memory, &plus};
  Handle stream, graph, executable, event;
  IS_DONE(cuMemsetD32_v2(memory, 7, 32));
  IS_DONE(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments,
                         nullptr));  // 7 * 3 + 5 = 26
  struct {
    Address to;
    unsigned plus;
  } buffer = {memory, 1};
  std::size_t bytes = sizeof buffer;
  void* packed[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &bytes,
                    nullptr};
  IS_DONE(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, packed));  // 79
  const unsigned two = 2;
  IS_DONE(cuMemcpyHtoD_v2(factor, &two, sizeof two));
  IS_DONE(cuStreamCreate(&stream, 1));
  IS_DONE(cuEventCreate(&event, 0));
  IS_DONE(cuStreamBeginCapture_v2(stream, 0));
  IS_DONE(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
  IS_DONE(cuStreamEndCapture(stream, &graph));
  IS_DONE(cuGraphInstantiateWithFlags(&executable, graph, 0));
  IS_DONE(cuGraphLaunch(executable, stream));  // 163
  IS_DONE(cuGraphLaunch(executable, stream));  // 331
  IS_DONE(cuEventRecord(event, stream));
  IS_DONE(cuMemcpyDtoHAsync_v2(got, memory, sizeof got, stream));
  IS_DONE(cuStreamSynchronize(stream));
  for (const unsigned value : got) expect(value == 331, "scaled");
}

static void find_entries() {
  int (*synchronize)() = nullptr;
  int result = -1;
  IS_DONE(cuGetProcAddress_v2("cuCtxSynchronize", reinterpret_cast<void**>(&synchronize), 12000, 0,
                              &result));
  expect(result == 0 && synchronize && synchronize() == 0, "an entry by name");
  void* newer = nullptr;
  IS_DONE(cuGetProcAddress_v2("cuMemAlloc", &newer, 12000, 0, &result));
  expect(newer != nullptr, "a version of an entry by its plain name");
  IS_DONE(cuGetProcAddress_v2("cuNothing", &newer, 12000, 0, &result));
  expect(newer == nullptr && result == 1, "an entry that is nowhere");
}

int main(int count, char** arguments) {
  IS_DONE(cuInit(0));
  ask_device();
  Handle context, current = nullptr, module, function = nullptr, none;
  IS_DONE(cuCtxCreate_v2(&context, 0, 0));
  IS_DONE(cuCtxGetCurrent(&current));
  expect(current == context, "current context");
  const int loaded =
      count > 1 ? cuModuleLoad(&module, arguments[1]) : cuModuleLoadData(&module, text);
  if (loaded != 0) {
    std::printf("cannot load: error %d\n", loaded);
    return 1;
  }
  IS_DONE(cuModuleGetFunction(&function, module, "scale"));
  expect(cuModuleGetFunction(&none, module, "nothing") == 500, "a kernel that is not there");
  Address memory = 0, factor = 0;
  std::size_t bytes = 0;
  IS_DONE(cuModuleGetGlobal_v2(&factor, &bytes, module, "factor"));
  expect(bytes == 4 && cuModuleGetGlobal_v2(&factor, &bytes, module, "nothing") == 500,
         "variables");
  IS_DONE(cuModuleGetGlobal_v2(&factor, &bytes, module, "factor"));
  int registers = 0;
  IS_DONE(cuFuncGetAttribute(&registers, 4, function));
  expect(registers > 0, "registers");
  IS_DONE(cuMemAlloc_v2(&memory, 128));
  use_memory(memory);
  launch_all(function, memory, factor);
  ask_errors();
  find_entries();
  IS_DONE(cuCtxSynchronize());
  IS_DONE(cuMemFree_v2(memory));
  IS_DONE(cuCtxDestroy_v2(context));
  std::printf("driver %s\n", failures == 0 ? "right" : "wrong");
  return failures;
}
