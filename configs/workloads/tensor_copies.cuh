// Barriers of mbarrier, and copies of tensor tiles that complete them.  Needs sm_90a.
#pragma once

namespace copies {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// --- Barriers of mbarrier ---

__device__ __forceinline__ void init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// --- Stages of tiles, which are filled in turn ---

template <int stages>
struct Stage {
  int number = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++number < stages) return;
    number = 0;
    parity ^= 1;
  }
};
// Barriers of each stage: its tiles are there, and all of `readers` have read them.
template <int stages>
struct StageBarriers {
  unsigned full, empty;
  __device__ __forceinline__ unsigned full_of(const Stage<stages>& s) const {
    return full + 8 * s.number;
  }
  __device__ __forceinline__ unsigned empty_of(const Stage<stages>& s) const {
    return empty + 8 * s.number;
  }
  __device__ __forceinline__ void init_all(unsigned readers) const {
    for (Stage<stages> stage; stage.parity == 0; stage.advance()) {
      init(full_of(stage), 1);
      init(empty_of(stage), readers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
};

// --- Copies of tensor tiles ---

// `bytes`, a multiple of 16, that stand side by side.
__device__ __forceinline__ void load_bytes(unsigned to, const void* from, unsigned bytes,
                                           unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

struct alignas(64) TensorMap {
  unsigned words[32];
};
__device__ __forceinline__ void expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void load_tile(unsigned to, const TensorMap* map, int x, int y,
                                          unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void load_tile(unsigned to, const TensorMap* map, int x, int y, int z,
                                          unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3, %4}], [%5];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void store_tile(const TensorMap* map, int x, int y, int z,
                                           unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          map),
      "r"(x), "r"(y), "r"(z), "r"(from)
      : "memory");
}
__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// All tiles that this thread stores have been read: others can stand where they stood.
__device__ __forceinline__ void wait_until_stores_are_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
// All tiles that this thread stores are in memory.
__device__ __forceinline__ void finish_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace copies
