// Compile for: sm_90a
// Products of a warp group, one behind the other: cycles of the second half of them, from issue to issue, and cycles of
// one alone with its wait.  As Luo et al. 2024 measure wgmma by columns.
#define S4 "%0, %1, %2, %3"
#define S8 S4 ", %4, %5, %6, %7"
#define S16 S8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define S32 S16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define S64 \
  S32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define S128 \
  S64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95" \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define F4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F8(d, i) F4(d, i), F4(d, i + 4)
#define F16(d, i) F8(d, i), F8(d, i + 8)
#define F32(d, i) F16(d, i), F16(d, i + 16)
#define F64(d, i) F32(d, i), F32(d, i + 32)
#define F128(d, i) F64(d, i), F64(d, i + 64)

__device__ unsigned long long descriptor(const void* pointer) {
  constexpr unsigned long long swizzle_128 = 1ULL << 62, stride = 1024 / 16;
  return swizzle_128 | stride << 32 | static_cast<unsigned>(__cvta_generic_to_shared(pointer)) >> 4;
}

// Calls multiply(d) `rounds` times; thread 0 writes both numbers.
template <int registers, class Multiply>
__device__ void measure(long long* cycles, int rounds, Multiply multiply) {
  float d[registers] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  const long long alone = clock64();
  multiply(d);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  const long long ended = clock64();
#pragma unroll 16
  for (int i = 0; i < rounds / 2; ++i) multiply(d);
  const long long half = clock64();
#pragma unroll 16
  for (int i = 0; i < rounds / 2; ++i) multiply(d);
  const long long last = clock64();
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  if (threadIdx.x == 0) {
    cycles[0] = last - half;
    cycles[1] = ended - alone;
  }
}

#define FROM_SHARED(columns, count, a, b)                                                       \
  extern "C" __global__ void wgmma_shared_##columns(long long* cycles, int rounds) {            \
    extern __shared__ __align__(1024) char room[];                                              \
    const unsigned long long left = descriptor(room), right = descriptor(room + 8192);          \
    measure<count>(cycles, rounds, [&](float(&d)[count]) {                                      \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.f16.f16 {" S##count    \
                   "}, %" #a ", %" #b ", 1, 1, 1, 0, 0;"                                        \
                   : F##count(d, 0)                                                             \
                   : "l"(left), "l"(right));                                                    \
    });                                                                                         \
  }
FROM_SHARED(8, 4, 4, 5)
FROM_SHARED(16, 8, 8, 9)
FROM_SHARED(32, 16, 16, 17)
FROM_SHARED(64, 32, 32, 33)
FROM_SHARED(128, 64, 64, 65)
FROM_SHARED(256, 128, 128, 129)

#define FROM_REGISTERS(columns, count, a0, a1, a2, a3, b)                                       \
  extern "C" __global__ void wgmma_registers_##columns(long long* cycles, int rounds) {         \
    extern __shared__ __align__(1024) char room[];                                              \
    const unsigned long long right = descriptor(room);                                          \
    const unsigned a = threadIdx.x;                                                             \
    measure<count>(cycles, rounds, [&](float(&d)[count]) {                                      \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.f16.f16 {" S##count    \
                   "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b ", 1, 1, 1, 0;"          \
                   : F##count(d, 0)                                                             \
                   : "r"(a), "r"(a), "r"(a), "r"(a), "l"(right));                               \
    });                                                                                         \
  }
FROM_REGISTERS(16, 8, 8, 9, 10, 11, 12)
FROM_REGISTERS(32, 16, 16, 17, 18, 19, 20)
FROM_REGISTERS(64, 32, 32, 33, 34, 35, 36)
FROM_REGISTERS(128, 64, 64, 65, 66, 67, 68)
