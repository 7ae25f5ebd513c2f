// Tensor maps of the driver's interface: what it refuses, and a kernel that copies a tile by two of
// them.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using Address = std::uint64_t;
using Handle = void*;

struct alignas(64) Map {
  std::uint32_t words[32];
};

extern "C" {
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(Handle* context, int device);
int cuCtxSetCurrent(Handle context);
int cuCtxSynchronize();
int cuModuleLoadData(Handle* module, const void* image);
int cuModuleGetFunction(Handle* function, Handle module, const char* name);
int cuMemAlloc_v2(Address* address, std::size_t bytes);
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes);
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes);
int cuLaunchKernel(Handle function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned shared, Handle stream, void** arguments, void** packed);
int cuGetProcAddress_v2(const char* name, void** address, int version, std::uint64_t flags,
                        int* result);
int cuTensorMapReplaceAddress(Map* map, void* address);
}
using Encode = int (*)(Map*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                       const std::uint32_t*, const std::uint32_t*, int, int, int, int);

static const char* text = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry move(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u32 x)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  .shared .align 1024 .b8 room[4096];
  .shared .align 8 .b64 gate;
  ld.param.u32 %r1, [x];
  mov.b64 %d1, from;
  cvta.param.u64 %d2, %d1;
  mov.b64 %d3, to;
  cvta.param.u64 %d4, %d3;
  mov.u32 %r2, room;
  mbarrier.init.shared.b64 [gate], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 %d5, [gate], 4096;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d2, {%r1, 8}], [gate];
wait:
  mbarrier.try_wait.shared.b64 %p1, [gate], %d5;
  @!%p1 bra wait;
  fence.proxy.async.shared::cta;
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d4, {0, 0}], [%r2];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
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

int main() {
  constexpr int columns = 64, rows = 40;
  Handle context = nullptr, module = nullptr, function = nullptr;
  void* found = nullptr;
  int result = -1;
  IS_DONE(cuInit(0));
  IS_DONE(cuDevicePrimaryCtxRetain(&context, 0));
  IS_DONE(cuCtxSetCurrent(context));
  IS_DONE(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &found, 12000, 0, &result));
  const auto encode = reinterpret_cast<Encode>(found);
  IS_DONE(cuModuleLoadData(&module, text));
  IS_DONE(cuModuleGetFunction(&function, module, "move"));
  Address in = 0, elsewhere = 0, out = 0;
  IS_DONE(cuMemAlloc_v2(&in, 4 * columns * rows));
  IS_DONE(cuMemAlloc_v2(&elsewhere, 4 * columns * rows));
  IS_DONE(cuMemAlloc_v2(&out, 4 * 32 * 32));
  std::vector<std::uint32_t> values(columns * rows), got(32 * 32);
  for (int i = 0; i < columns * rows; ++i) values[i] = 7 * i + 1;
  IS_DONE(cuMemcpyHtoD_v2(in, values.data(), 4 * values.size()));

  Map from, to;
  std::uint64_t sizes[] = {columns, rows}, stride = 4 * columns, small[] = {32, 32},
                small_stride = 128;
  std::uint32_t box[] = {32, 32}, steps[] = {1, 1};
  const auto map_with = [&](int type, int interleave, int swizzle) {
    return encode(&from, type, 2, reinterpret_cast<void*>(elsewhere), sizes, &stride, box, steps,
                  interleave, swizzle, 2, 0);
  };
  IS_DONE(map_with(2, 0, 3));
  IS_DONE(cuTensorMapReplaceAddress(&from, reinterpret_cast<void*>(in)));
  expect(from.words[0] == static_cast<std::uint32_t>(in) && from.words[2] == 0x46110,
         "the words of the map");
  IS_DONE(encode(&to, 2, 2, reinterpret_cast<void*>(out), small, &small_stride, box, steps, 0, 3, 0,
                 0));
  const Map kept = from;
  expect(map_with(2, 0, 2) == 1, "rows of 128 bytes and a swizzle of 64");
  expect(map_with(2, 1, 0) == 801, "interleaved layouts");
  expect(map_with(13, 0, 0) == 1, "packed types");
  box[1] = 257;
  expect(map_with(2, 0, 3) == 1, "a box of 257 rows");
  box[1] = 32;
  stride = 4 * columns + 8;
  expect(map_with(2, 0, 3) == 1, "a stride of no 16 bytes");
  expect(std::memcmp(&kept, &from, sizeof from) == 0, "what failed wrote nothing");

  unsigned x = 48;
  void* arguments[] = {&from, &to, &x};
  IS_DONE(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  IS_DONE(cuCtxSynchronize());
  IS_DONE(cuMemcpyDtoH_v2(got.data(), out, 4 * got.size()));
  bool right = true;
  for (int y = 0; y < 32; ++y)
    for (int i = 0; i < 32; ++i)
      right = right && got[32 * y + i] == (x + i < columns ? values[(8 + y) * columns + x + i] : 0);
  expect(right, "the tile");
  if (failures == 0) std::printf("tensor maps right\n");
  return failures;
}
