// What a program gets that hands pointers and handles to the runtime that are none: the error that
// hardware gives, and it goes on.  No kernels of its own.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

using Handle = void*;
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct Copy3D {
  void* source_array;
  Position source_position;
  Pitched source;
  void* target_array;
  Position target_position;
  Pitched target;
  Extent extent;
  int kind;
};
struct FillNode {
  void* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};

extern "C" {
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int cudaMallocHost(void** pointer, std::size_t bytes);
int cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
int cudaMalloc3D(Pitched* pitched, Extent extent);
int cudaMallocAsync(void** pointer, std::size_t bytes, Handle stream);
int cudaFree(void* pointer);
int cudaFreeHost(void* pointer);
int cudaFreeAsync(void* pointer, Handle stream);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, Handle stream);
int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t width, std::size_t height, int kind);
int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, int kind, Handle stream);
int cudaMemcpy3D(const Copy3D* copy);
int cudaMemcpy3DAsync(const Copy3D* copy, Handle stream);
int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                       int kind);
int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                         int kind);
int cudaMemset(void* to, int value, std::size_t bytes);
int cudaMemsetAsync(void* to, int value, std::size_t bytes, Handle stream);
int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height);
int cudaMemset3D(Pitched to, int value, Extent extent);
int cudaMemGetInfo(std::size_t* left, std::size_t* total);
int cudaPointerGetAttributes(void* attributes, const void* pointer);
int cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
int cudaHostUnregister(void* pointer);
int cudaStreamCreate(Handle* stream);
int cudaStreamDestroy(Handle stream);
int cudaStreamSynchronize(Handle stream);
int cudaStreamQuery(Handle stream);
int cudaStreamGetFlags(Handle stream, unsigned* flags);
int cudaStreamWaitEvent(Handle stream, Handle event, unsigned flags);
int cudaStreamBeginCapture(Handle stream, int mode);
int cudaStreamEndCapture(Handle stream, Handle* graph);
int cudaLaunchHostFunc(Handle stream, void (*function)(void*), void* data);
int cudaEventCreate(Handle* event);
int cudaEventCreateWithFlags(Handle* event, unsigned flags);
int cudaEventDestroy(Handle event);
int cudaEventRecord(Handle event, Handle stream);
int cudaEventSynchronize(Handle event);
int cudaEventQuery(Handle event);
int cudaEventElapsedTime(float* milliseconds, Handle from, Handle to);
int cudaGraphCreate(Handle* graph, unsigned flags);
int cudaGraphAddMemsetNode(Handle* node, Handle graph, const Handle* before, std::size_t count,
                           const FillNode* p);
int cudaGraphInstantiate(Handle* executable, Handle graph, unsigned long long flags);
int cudaGraphLaunch(Handle executable, Handle stream);
int cudaGraphDestroy(Handle graph);
int cudaGetDevice(int* device);
int cudaGetDeviceCount(int* count);
int cudaGetDeviceProperties(void* properties, int device);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaDriverGetVersion(int* version);
int cudaLaunchKernel(const void* function, std::uint64_t, std::uint64_t, void** arguments,
                     std::size_t shared, Handle stream);
int cudaGetLastError();
}

constexpr int host_to_device = 1, device_to_host = 2, device_to_device = 3, by_address = 4;
constexpr int invalid_value = 1, invalid_pitch = 12, invalid_symbol = 13, invalid_direction = 21;
constexpr int invalid_function = 98, invalid_handle = 400;

static int wrong = 0;

static void expect(const char* what, int got, int wanted) {
  const int kept = cudaGetLastError();
  if (got == wanted && kept == wanted) return;
  std::printf("%s: %d, kept %d, not %d\n", what, got, kept, wanted);
  ++wrong;
}
#define EXPECT(call, error) expect(#call, call, error)

static void copies(void* device, void* host, void* freed) {
  void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  for (void* bad : {static_cast<void*>(nullptr), nowhere}) {
    EXPECT(cudaMemcpy(device, bad, 16, host_to_device), invalid_value);
    EXPECT(cudaMemcpy(device, bad, 16, by_address), invalid_value);
    EXPECT(cudaMemcpy(bad, device, 16, device_to_host), invalid_value);
    EXPECT(cudaMemcpy(bad, host, 16, host_to_device), invalid_value);
    EXPECT(cudaMemcpy(host, bad, 16, device_to_host), invalid_value);
    EXPECT(cudaMemcpy(device, bad, 16, device_to_device), invalid_value);
    EXPECT(cudaMemcpyAsync(device, bad, 16, host_to_device, nullptr), invalid_value);
    EXPECT(cudaMemcpyAsync(bad, device, 16, device_to_host, nullptr), invalid_value);
    EXPECT(cudaMemcpy2D(device, 16, bad, 16, 8, 2, host_to_device), invalid_value);
    EXPECT(cudaMemcpy2DAsync(bad, 16, device, 16, 8, 2, device_to_host, nullptr), invalid_value);
    EXPECT(cudaMemset(bad, 1, 16), invalid_value);
    EXPECT(cudaMemsetAsync(bad, 1, 16, nullptr), invalid_value);
    EXPECT(cudaMemset2D(bad, 16, 1, 8, 2), invalid_value);
    EXPECT(cudaMemset3D({bad, 16, 16, 2}, 1, {8, 2, 2}), invalid_value);
    Copy3D copy{};
    copy.source = {bad, 16, 16, 1};
    copy.target = {device, 16, 16, 1};
    copy.extent = {16, 1, 1};
    copy.kind = host_to_device;
    EXPECT(cudaMemcpy3D(&copy), invalid_value);
  }
  EXPECT(cudaMemcpy(device, host, 16, 17), invalid_direction);
  EXPECT(cudaMemcpy2D(device, 4, host, 16, 8, 2, host_to_device), invalid_pitch);
  EXPECT(cudaMemcpy3D(nullptr), invalid_value);
  EXPECT(cudaMemcpy3DAsync(nullptr, nullptr), invalid_value);
  EXPECT(cudaMemcpy(freed, host, 16, host_to_device), invalid_value);
  EXPECT(cudaMemcpy(host, freed, 16, device_to_host), invalid_value);
  EXPECT(cudaMemset(freed, 0, 16), invalid_value);
  EXPECT(cudaMemcpy(device, host, std::size_t{1} << 40, host_to_device), invalid_value);
  EXPECT(cudaMemcpyToSymbol(nullptr, host, 4, 0, host_to_device), invalid_symbol);
  EXPECT(cudaMemcpyFromSymbol(host, host, 4, 0, device_to_host), invalid_symbol);
  EXPECT(cudaMemcpy(nullptr, nullptr, 0, host_to_device), 0);
}

static void memory(void* device, void* host, void* managed, void* freed) {
  char room[2048];
  std::size_t size = 0;
  EXPECT(cudaMalloc(nullptr, 16), invalid_value);
  EXPECT(cudaMallocManaged(nullptr, 16, 1), invalid_value);
  EXPECT(cudaMallocHost(nullptr, 16), invalid_value);
  EXPECT(cudaMallocPitch(&device, nullptr, 16, 16), invalid_value);
  EXPECT(cudaMalloc3D(nullptr, {16, 1, 1}), invalid_value);
  EXPECT(cudaMallocAsync(nullptr, 16, nullptr), invalid_value);
  EXPECT(cudaFree(nullptr), 0);
  EXPECT(cudaFreeHost(nullptr), 0);
  EXPECT(cudaFree(freed), invalid_value);
  EXPECT(cudaFree(static_cast<char*>(device) + 4), invalid_value);
  EXPECT(cudaFree(host), invalid_value);
  EXPECT(cudaFreeHost(device), invalid_value);
  EXPECT(cudaFree(room), invalid_value);
  EXPECT(cudaFreeAsync(nullptr, nullptr), invalid_value);
  EXPECT(cudaMemset(managed, 1, 1 << 20), invalid_value);
  EXPECT(cudaMemGetInfo(nullptr, &size), invalid_value);
  EXPECT(cudaPointerGetAttributes(nullptr, device), invalid_value);
  EXPECT(cudaPointerGetAttributes(room, nullptr), 0);
  EXPECT(cudaHostGetDevicePointer(nullptr, host, 0), invalid_value);
  EXPECT(cudaHostGetDevicePointer(&device, room, 0), invalid_value);
  EXPECT(cudaHostRegister(nullptr, 16, 0), invalid_value);
  EXPECT(cudaHostRegister(reinterpret_cast<void*>(std::uintptr_t{0x1000}), 16, 0), invalid_value);
  EXPECT(cudaHostUnregister(room), 713);
  EXPECT(cudaGetDevice(nullptr), invalid_value);
  EXPECT(cudaGetDeviceCount(nullptr), invalid_value);
  EXPECT(cudaGetDeviceProperties(nullptr, 0), invalid_value);
  EXPECT(cudaDeviceGetAttribute(nullptr, 16, 0), invalid_value);
  EXPECT(cudaDriverGetVersion(nullptr), invalid_value);
}

static void handles(void* device) {
  Handle stream = nullptr, gone = nullptr, event = nullptr, gone_event = nullptr, untimed = nullptr;
  float time = 0;
  unsigned flags = 0;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&gone);
  cudaStreamDestroy(gone);
  cudaEventCreate(&event);
  cudaEventCreateWithFlags(&untimed, 2);
  cudaEventCreate(&gone_event);
  cudaEventDestroy(gone_event);
  EXPECT(cudaStreamCreate(nullptr), invalid_value);
  EXPECT(cudaStreamDestroy(nullptr), invalid_handle);
  EXPECT(cudaStreamDestroy(gone), invalid_handle);
  EXPECT(cudaStreamSynchronize(gone), invalid_handle);
  EXPECT(cudaStreamQuery(gone), invalid_handle);
  EXPECT(cudaStreamGetFlags(gone, &flags), invalid_handle);
  EXPECT(cudaStreamGetFlags(stream, nullptr), invalid_value);
  EXPECT(cudaMemsetAsync(device, 0, 16, gone), invalid_handle);
  EXPECT(cudaMallocAsync(&device, 16, gone), invalid_handle);
  EXPECT(cudaStreamWaitEvent(stream, nullptr, 0), invalid_handle);
  EXPECT(cudaStreamWaitEvent(stream, gone_event, 0), invalid_handle);
  EXPECT(cudaStreamBeginCapture(gone, 0), invalid_value);
  EXPECT(cudaStreamEndCapture(stream, &gone), invalid_value);
  EXPECT(cudaLaunchHostFunc(stream, nullptr, nullptr), invalid_value);
  EXPECT(cudaEventCreate(nullptr), invalid_value);
  for (Handle bad : {static_cast<Handle>(nullptr), gone_event}) {
    EXPECT(cudaEventDestroy(bad), invalid_handle);
    EXPECT(cudaEventRecord(bad, stream), invalid_handle);
    EXPECT(cudaEventSynchronize(bad), invalid_handle);
    EXPECT(cudaEventQuery(bad), invalid_handle);
    EXPECT(cudaEventElapsedTime(&time, event, bad), invalid_handle);
  }
  EXPECT(cudaEventRecord(event, stream), 0);
  EXPECT(cudaEventRecord(untimed, stream), 0);
  EXPECT(cudaEventElapsedTime(&time, event, untimed), invalid_handle);
  EXPECT(cudaEventElapsedTime(nullptr, event, event), invalid_value);
  EXPECT(cudaLaunchKernel(nullptr, 0x100000001, 1, nullptr, 0, nullptr), invalid_function);
}

static void graphs() {
  Handle graph = nullptr, node = nullptr, executable = nullptr;
  cudaGraphCreate(&graph, 0);
  EXPECT(cudaGraphCreate(nullptr, 0), invalid_value);
  EXPECT(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr), invalid_value);
  EXPECT(cudaGraphAddMemsetNode(&node, nullptr, nullptr, 0, nullptr), invalid_value);
  EXPECT(cudaGraphInstantiate(&executable, nullptr, 0), invalid_value);
  EXPECT(cudaGraphInstantiate(nullptr, graph, 0), invalid_value);
  EXPECT(cudaGraphLaunch(nullptr, nullptr), invalid_value);
  EXPECT(cudaGraphDestroy(nullptr), invalid_value);
}

int main() {
  void *device = nullptr, *host = nullptr, *managed = nullptr, *freed = nullptr;
  if (cudaMalloc(&device, 4096) != 0 || cudaMallocHost(&host, 4096) != 0 ||
      cudaMallocManaged(&managed, 4096, 1) != 0 || cudaMalloc(&freed, 4096) != 0 ||
      cudaFree(freed) != 0)
    return 1;
  copies(device, host, freed);
  memory(device, host, managed, freed);
  handles(device);
  graphs();
  unsigned char got[16] = {};
  if (cudaMemset(device, 7, 16) != 0 || cudaMemcpy(got, device, 16, device_to_host) != 0) ++wrong;
  for (const unsigned char byte : got) wrong += byte != 7;
  std::printf("mistakes %s\n", wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}
