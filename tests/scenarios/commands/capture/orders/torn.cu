// Even blocks store equal numbers as one vector, odd ones load it and count vectors of unequal numbers: plainly, as
// relaxed and as volatile, of two and of four elements.
#include <cstdio>

using Long = unsigned long long;

template <int form>
__device__ void store(Long* to, Long i) {
  if (form == 0) *reinterpret_cast<ulonglong2*>(to) = make_ulonglong2(i, i);
  if (form == 1) asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %1};" ::"l"(to), "l"(i) : "memory");
  if (form == 2) asm volatile("st.volatile.global.v2.u64 [%0], {%1, %1};" ::"l"(to), "l"(i) : "memory");
  if (form == 3)
    asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(to), "r"(static_cast<unsigned>(i)) : "memory");
}

template <int form>
__device__ bool is_torn(const Long* from) {
  Long a = 0, b = 0;
  unsigned c = 0, d = 0, e = 0, f = 0;
  if (form == 0) asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  if (form == 1) asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  if (form == 2) asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  if (form == 3)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(c), "=r"(d), "=r"(e), "=r"(f)
                 : "l"(from)
                 : "memory");
  return a != b || c != d || c != e || c != f;
}

template <int form>
__global__ void pairs(Long* words, int* torn, int count) {
  Long* mine = words + blockIdx.x / 2 * 2;
  int found = 0;
  for (int i = 1; i <= count; ++i) {
    if (blockIdx.x % 2 == 0) store<form>(mine, i);
    if (blockIdx.x % 2 == 1) found += is_torn<form>(mine);
    asm volatile("" ::: "memory");
  }
  if (blockIdx.x % 2 == 1) torn[blockIdx.x / 2] = found;
}

template <int form>
int count_torn() {
  Long* words;
  int *torn, host[4], sum = 0;
  cudaMalloc(&words, 64);
  cudaMalloc(&torn, sizeof host);
  cudaMemset(words, 0, 64);
  pairs<form><<<8, 1>>>(words, torn, 150000);
  cudaMemcpy(host, torn, sizeof host, cudaMemcpyDeviceToHost);
  for (int found : host) sum += found;
  return sum;
}

int main() {
  const int torn[] = {count_torn<0>(), count_torn<1>(), count_torn<2>(), count_torn<3>()};
  const bool right = torn[0] + torn[1] + torn[2] + torn[3] == 0;
  std::printf("%d %d %d %d torn: %s\n", torn[0], torn[1], torn[2], torn[3], right ? "torn right" : "torn wrong");
  return right ? 0 : 1;
}
