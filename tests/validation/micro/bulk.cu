// Compile for: sm_90a
// Bulk copies from global to shared memory, one after the other: one thread of a block begins a copy, waits for its bytes
// at an mbarrier, and begins the next.  As HPMLL/NVIDIA-Hopper-Benchmark measures latency and throughput by size.
__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void copy_and_wait(void* to, const char* from, unsigned bytes, unsigned long long* barrier, unsigned parity) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// Cycles of the second half of `rounds` copies, `apart` bytes from each other in the block's own piece of memory.
extern "C" __global__ void bulk_chain(const char* in, long long* cycles, int bytes, int apart, int rounds) {
  __shared__ alignas(128) char room[16384];
  __shared__ unsigned long long barrier;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
  const char* from = in + static_cast<long long>(blockIdx.x) * apart * rounds;
  long long begin = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i == rounds / 2) begin = clock64();
    copy_and_wait(room, from + static_cast<long long>(i) * apart, bytes, &barrier, i & 1);
  }
  cycles[blockIdx.x] = clock64() - begin;
}
