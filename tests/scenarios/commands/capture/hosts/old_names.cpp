// The driver's interface by the names that it had before some of them were numbered, as programs
// find them that look the library up at run time.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

using Handle = void*;
using Address = std::uint64_t;

extern "C" int cuInit(unsigned flags);

static int missing = 0;

template <class Function>
static Function find(const char* name) {
  static void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library ? ::dlsym(library, name) : nullptr;
  if (!found) {
    std::printf("missing %s\n", name);
    ++missing;
  }
  return reinterpret_cast<Function>(found);
}

// Every name that a driver of today has with and without a number.
static const char* names[] = {"cuCtxCreate",
                              "cuCtxDestroy",
                              "cuCtxPopCurrent",
                              "cuCtxPushCurrent",
                              "cuDeviceGetUuid",
                              "cuDevicePrimaryCtxRelease",
                              "cuDevicePrimaryCtxReset",
                              "cuDevicePrimaryCtxSetFlags",
                              "cuDeviceTotalMem",
                              "cuEventDestroy",
                              "cuGraphAddKernelNode",
                              "cuGraphExecKernelNodeSetParams",
                              "cuGraphExecUpdate",
                              "cuGraphInstantiate",
                              "cuGraphKernelNodeGetParams",
                              "cuGraphKernelNodeSetParams",
                              "cuMemAlloc",
                              "cuMemAllocHost",
                              "cuMemAllocPitch",
                              "cuMemFree",
                              "cuMemGetAddressRange",
                              "cuMemGetInfo",
                              "cuMemHostGetDevicePointer",
                              "cuMemHostRegister",
                              "cuMemcpy2D",
                              "cuMemcpy2DAsync",
                              "cuMemcpy2DUnaligned",
                              "cuMemcpy3D",
                              "cuMemcpy3DAsync",
                              "cuMemcpyBatchAsync",
                              "cuMemcpyDtoD",
                              "cuMemcpyDtoDAsync",
                              "cuMemcpyDtoH",
                              "cuMemcpyDtoHAsync",
                              "cuMemcpyHtoD",
                              "cuMemcpyHtoDAsync",
                              "cuMemsetD16",
                              "cuMemsetD2D16",
                              "cuMemsetD2D32",
                              "cuMemsetD2D8",
                              "cuMemsetD32",
                              "cuMemsetD8",
                              "cuModuleGetGlobal",
                              "cuStreamBeginCapture",
                              "cuStreamDestroy",
                              "cuArrayCreate",
                              "cuMemcpyAtoH",
                              "cuTexRefSetAddress",
                              "cuTexRefSetAddress2D"};

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "nothing") == 0) return cuInit(0);
  for (const char* name : names) find<void*>(name);
  Handle context = nullptr, popped = nullptr, stream = nullptr, event = nullptr;
  Address memory = 0;
  int numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6}, got[8] = {};
  int status = cuInit(0);
  status |= find<int (*)(Handle*, unsigned, int)>("cuCtxCreate")(&context, 0, 0);
  status |= find<int (*)(Address*, std::size_t)>("cuMemAlloc")(&memory, sizeof numbers);
  status |= find<int (*)(Address, const void*, std::size_t)>("cuMemcpyHtoD")(memory, numbers,
                                                                             sizeof numbers);
  status |= find<int (*)(Address, unsigned, std::size_t)>("cuMemsetD32")(memory, 7, 2);
  status |= find<int (*)(void*, Address, std::size_t)>("cuMemcpyDtoH")(got, memory, sizeof numbers);
  status |= find<int (*)(Handle*, unsigned)>("cuStreamCreate")(&stream, 0);
  status |= find<int (*)(Handle*, unsigned)>("cuEventCreate")(&event, 0);
  status |= find<int (*)(Handle)>("cuEventDestroy")(event);
  status |= find<int (*)(Handle)>("cuStreamDestroy")(stream);
  status |= find<int (*)(Address)>("cuMemFree")(memory);
  status |= find<int (*)(Handle*)>("cuCtxPopCurrent")(&popped);
  status |= find<int (*)(Handle)>("cuCtxPushCurrent")(popped);
  status |= find<int (*)(Handle)>("cuCtxDestroy")(context);
  const bool right = status == 0 && missing == 0 && popped == context && got[0] == 7 &&
                     got[1] == 7 && std::memcmp(got + 2, numbers + 2, 24) == 0;
  std::printf("old names %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
