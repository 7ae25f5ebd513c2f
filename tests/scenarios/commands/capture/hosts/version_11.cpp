// What programs built with CUDA 11 rely on: structures as short as they were, nothing written
// behind them, and entries that had other parameters or are gone.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaFree(void* pointer);
int cudaGetDeviceProperties(void* to, int device);
int cudaPointerGetAttributes(void* to, const void* pointer);
int cudaCreateTextureObject(std::uint64_t* handle, const void* resource, const void* texture,
                            const void* view);
int cudaGetTextureObjectResourceDesc(void* to, std::uint64_t handle);
int cudaGetTextureObjectTextureDesc(void* to, std::uint64_t handle);
int cudaGraphCreate(void** graph, unsigned flags);
int cudaGraphInstantiate(void** executable, void* graph, void** node, char* log,
                         std::size_t log_bytes);
int cudaGraphExecUpdate(void* executable, void* graph, void** node, int* result);
int cudaGraphLaunch(void* executable, void* stream);
int cudaGetDriverEntryPoint(const char* name, void** address, unsigned long long flags);
int cudaThreadSynchronize();
int cudaThreadExit();
int cudaRuntimeGetVersion(int* version);
int cudaMemset(void* to, int value, std::size_t bytes);
}

static bool right = true;
static void expect(bool holds, const char* what) {
  if (!holds) std::printf("wrong: %s\n", what);
  right &= holds;
}

/// So many bytes, and whether those behind them stay as they are.
class Structure {
 public:
  explicit Structure(std::size_t bytes) : bytes_(bytes), content_(bytes + 256, mark) {}
  char* begin() { return content_.data(); }
  bool is_kept() const {
    for (std::size_t i = bytes_; i < content_.size(); ++i)
      if (content_[i] != mark) return false;
    return true;
  }
  template <class T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, content_.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  void put(std::size_t offset, const T& value) {
    std::memcpy(content_.data() + offset, &value, sizeof value);
  }

 private:
  static constexpr char mark = 0x5a;
  std::size_t bytes_;
  std::vector<char> content_;
};

int main() {
  void* memory = nullptr;
  int version = 0;
  expect(cudaMalloc(&memory, 1024) == 0 && cudaMemset(memory, 1, 1024) == 0, "memory");
  expect(cudaRuntimeGetVersion(&version) == 0 && version == 11000, "the version");

  Structure properties(728), pointer(24), resource(64), resource_back(64), texture(68),
      texture_back(68);
  expect(cudaGetDeviceProperties(properties.begin(), 0) == 0 && properties.is_kept(), "properties");
  expect(properties.at<int>(388) == 80, "the number of SMs");
  expect(cudaPointerGetAttributes(pointer.begin(), memory) == 0 && pointer.is_kept(),
         "attributes of a pointer");
  expect(pointer.at<int>(0) == 2 && pointer.at<void*>(8) == memory, "what a pointer is");

  std::memset(resource.begin(), 0, 64);
  std::memset(texture.begin(), 0, 68);
  resource.put<int>(0, 2);  // linear memory of one channel, float
  resource.put<void*>(8, memory);
  resource.put<int>(16, 32);
  resource.put<int>(32, 2);
  resource.put<std::size_t>(40, 1024);
  std::uint64_t handle = 0;
  expect(cudaCreateTextureObject(&handle, resource.begin(), texture.begin(), nullptr) == 0,
         "a texture");
  expect(cudaGetTextureObjectResourceDesc(resource_back.begin(), handle) == 0 &&
             resource_back.is_kept(),
         "its memory");
  expect(resource_back.at<void*>(8) == memory && resource_back.at<std::size_t>(40) == 1024,
         "where it is");
  expect(
      cudaGetTextureObjectTextureDesc(texture_back.begin(), handle) == 0 && texture_back.is_kept(),
      "its words");

  void *graph = nullptr, *executable = nullptr, *node = &graph, *entry = nullptr;
  int result = 9;
  expect(cudaGraphCreate(&graph, 0) == 0, "a graph");
  expect(cudaGraphInstantiate(&executable, graph, &node, nullptr, 0) == 0, "a graph made ready");
  expect(cudaGraphExecUpdate(executable, graph, &node, &result) == 0 && result == 0 && !node,
         "a graph updated");
  expect(cudaGraphLaunch(executable, nullptr) == 0, "a graph launched");
  expect(cudaGetDriverEntryPoint("cuInit", &entry, 0) == 0 && entry, "an entry of the driver");
  expect(cudaThreadSynchronize() == 0, "a wait");
  expect(cudaFree(memory) == 0 && cudaThreadExit() == 0, "an end");
  std::printf("version 11 %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
