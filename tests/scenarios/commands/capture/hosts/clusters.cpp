// Launches of thread block clusters by the driver's interface.  The first argument: "with", or
// "without" where the GPU has none.
#include <cstdint>
#include <cstdio>
#include <cstring>

using Handle = void*;

extern "C" {
int cuInit(unsigned flags);
int cuCtxCreate_v2(Handle* context, unsigned flags, int device);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes);
int cuMemsetD32_v2(std::uint64_t to, unsigned value, std::size_t count);
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes);
int cuLaunchKernelEx(const void* how, Handle function, void** arguments, void** packed);
int cuFuncSetAttribute(Handle function, int attribute, int value);
int cuFuncGetAttribute(int* value, int attribute, Handle function);
int cuOccupancyMaxActiveClusters(int* clusters, Handle function, const void* how);
int cuOccupancyMaxPotentialClusterSize(int* blocks, Handle function, const void* how);
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
constexpr int success = 0, not_supported = 801, invalid_cluster_size = 912;
constexpr int dimension = 4, policy = 5, preferred = 11;        // attributes of launches
constexpr int must_be_set = 10, width = 11, non_portable = 14;  // of functions
constexpr unsigned blocks = 32;

// Each block writes 100 and its number into the shared memory of the next one of its cluster.
static const char* with_clusters = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry plain(.param .u64 to) { ret; }
.visible .entry made(.param .u64 to) .explicitcluster .reqnctapercluster 4, 1, 1 { ret; }
.visible .entry shift(.param .u64 to)
{
  .reg .b32 %r<9>;
  .reg .b64 %d<4>;
  .shared .b32 word;
  ld.param.u64 %d1, [to];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mov.u32 %r3, %ctaid.x;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  add.u32 %r4, %r1, 1;
  rem.u32 %r4, %r4, %r2;
  mov.u32 %r5, word;
  mapa.shared::cluster.u32 %r6, %r5, %r4;
  add.u32 %r7, %r3, 100;
  st.shared::cluster.u32 [%r6], %r7;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared.u32 %r8, [word];
  mul.wide.u32 %d2, %r3, 4;
  add.s64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r8;
  ret;
}
)";
static const char* without_clusters = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry plain(.param .u64 to) { ret; }
)";

static Attribute with_size(int id, unsigned size) {
  Attribute attribute = {id, 0, {}};
  const unsigned extents[3] = {size, 1, 1};
  std::memcpy(attribute.value, extents, sizeof extents);
  return attribute;
}
static Configuration of(Attribute* attributes, unsigned count) {
  return {{blocks, 1, 1}, {32, 1, 1}, 0, nullptr, attributes, count};
}
static int launch(Handle function, std::uint64_t to, unsigned size) {
  Attribute attributes[] = {with_size(dimension, size), with_size(policy, 1),
                            with_size(preferred, size)};
  const Configuration how = of(attributes, 3);
  void* arguments[] = {&to};
  return cuLaunchKernelEx(&how, function, arguments, nullptr);
}
static int launch_plainly(Handle function, std::uint64_t to) {
  const Configuration how = of(nullptr, 0);
  void* arguments[] = {&to};
  return cuLaunchKernelEx(&how, function, arguments, nullptr);
}
static bool is_shifted(std::uint64_t to, unsigned size) {
  unsigned result[blocks] = {};
  if (cuMemcpyDtoH_v2(result, to, sizeof result) != success) return false;
  for (unsigned block = 0; block < blocks; ++block)
    if (result[block] != 100 + block / size * size + (block + size - 1) % size) return false;
  return true;
}

static bool has_clusters(Handle module, std::uint64_t to) {
  Handle shift, plain, made;
  bool right = cuModuleGetFunction(&shift, module, "shift") == success &&
               cuModuleGetFunction(&plain, module, "plain") == success &&
               cuModuleGetFunction(&made, module, "made") == success;
  for (const unsigned size : {1u, 2u, 8u})
    right &= launch(shift, to, size) == success && is_shifted(to, size);
  right &= launch(shift, to, 3) != success;
  right &=
      launch(shift, to, 0) == invalid_cluster_size && launch(shift, to, 32) == invalid_cluster_size;
  right &= launch(shift, to, 16) == invalid_cluster_size;
  right &= cuFuncSetAttribute(shift, non_portable, 1) == success;
  right &= launch(shift, to, 16) == success && is_shifted(to, 16);
  int value = 0;
  right &= cuFuncGetAttribute(&value, non_portable, shift) == success && value == 1;
  // Kernels that are made for clusters, by their text or by what the program says.
  right &= launch_plainly(made, to) == success && launch(made, to, 4) == success;
  right &= launch(made, to, 2) == invalid_cluster_size;
  right &= cuFuncGetAttribute(&value, width, made) == success && value == 4;
  right &= cuFuncGetAttribute(&value, must_be_set, made) == success && value == 1;
  right &= launch_plainly(plain, to) == success;
  right &= cuFuncSetAttribute(plain, must_be_set, 1) == success;
  right &= launch_plainly(plain, to) == invalid_cluster_size && launch(plain, to, 2) == success;
  for (int axis = 0; axis < 3; ++axis)
    right &= cuFuncSetAttribute(shift, width + axis, axis == 0 ? 2 : 1) == success;
  right &= launch_plainly(shift, to) == success && is_shifted(to, 2);
  right &= launch(shift, to, 4) == invalid_cluster_size;
  for (const unsigned size : {1u, 4u, 8u}) {
    Attribute attribute = with_size(dimension, size);
    Configuration how = of(&attribute, 1);
    how.threads[0] = 1024;
    right &= cuOccupancyMaxActiveClusters(&value, plain, &how) == success;
    std::printf("%u: %d\n", size, value);
  }
  Configuration how = of(nullptr, 0);
  right &= cuOccupancyMaxPotentialClusterSize(&value, plain, &how) == success && value == 8;
  right &= cuOccupancyMaxPotentialClusterSize(&value, shift, &how) == success && value == 16;
  return right;
}

int main(int, char** arguments) {
  const bool with = std::strcmp(arguments[1], "with") == 0;
  Handle context, module, plain;
  std::uint64_t to = 0;
  int launches_clusters = -1;
  bool right = cuInit(0) == success && cuCtxCreate_v2(&context, 0, 0) == success &&
               cuDeviceGetAttribute(&launches_clusters, 120, 0) == success &&
               cuModuleLoadData(&module, with ? with_clusters : without_clusters) == success &&
               cuMemAlloc_v2(&to, 4 * blocks) == success &&
               cuMemsetD32_v2(to, 0, blocks) == success;
  right &= launches_clusters == (with ? 1 : 0);
  if (with) {
    right &= has_clusters(module, to);
  } else {
    right &= cuModuleGetFunction(&plain, module, "plain") == success;
    right &= launch_plainly(plain, to) == success && launch(plain, to, 2) == not_supported;
  }
  std::printf("clusters %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
