// Sums, and what is left of them, go round a ring of GPUs: one kernel on each GPU stores into its neighbour's memory and
// waits for the flags that its other neighbour sets.  The kernel of `collective` steps with by: kernel.
//
// GPU `rank` of `gpus` sends a part in each round.  In rounds below gpus - 1 it is the sum of its own elements and of
// what has arrived; the neighbour's `arrived` has a place for each of these rounds.  In later rounds it goes to where it
// stays.  A block is a channel with elements of its own in each part, which it sends in two slices, as NCCL does, so that
// GPUs add and send at the same time.  The last warp of a block only posts: it waits until a slice has been stored and
// tells the neighbour, while the others begin the next slice.  In a block of one warp, or of parts of one, all work.
//
// `flags` has two words for each block: how many slices have arrived there in all, and how many had when the launch
// began.

constexpr int slices = 2, unroll = 4, warp = 32;

struct Channel {
  int thread, workers, poster;
  unsigned* own;
  unsigned* next;
  unsigned before;

  __device__ bool works() const { return thread < workers; }
  // Waits until that many slices of this launch have arrived; for those that work.
  __device__ void wait(int arrived) const {
    if (thread == 0) {
      unsigned seen;
      do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(own) : "memory");
      } while (static_cast<int>(seen - before) < arrived);
    }
    if (poster == 0) {
      __syncthreads();
    } else {
      asm volatile("bar.sync 1, %0;" ::"r"(workers) : "memory");
    }
  }
  // All have stored a slice: the poster tells the neighbour that so many of this launch are there.
  __device__ void post(int sent) const {
    __syncthreads();
    if (thread == poster) {
      __threadfence_system();
      asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(next), "r"(before + sent) : "memory");
    }
  }
};

__device__ float4 add(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ float add(float a, float b) { return a + b; }

// Elements [begin, end): one + other, or one, goes to `to` and `also`, which may be null.
template <class T>
__device__ void move(const Channel& channel, int begin, int end, const T* one, const T* other, T* to, T* also) {
  for (int first = begin + channel.thread; first < end; first += unroll * channel.workers) {
    T value[unroll], more[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int i = first + u * channel.workers;
      if (i < end) value[u] = __ldcg(one + i);
      if (i < end && other != nullptr) more[u] = __ldcg(other + i);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int i = first + u * channel.workers;
      if (i >= end) break;
      if (other != nullptr) value[u] = add(more[u], value[u]);
      if (to != nullptr) to[i] = value[u];
      if (also != nullptr) also[i] = value[u];
    }
  }
}

template <class T>
__device__ void go_round(const Channel& channel, T* data, T* next_data, const T* arrived, T* next_arrived, int rank,
                         int gpus, int part, int first_round, int end_round) {
  const int sums = gpus - 1;
  const int share = (part + gridDim.x - 1) / gridDim.x;
  const int slice = (share + slices - 1) / slices;
  const int begin = min(part, static_cast<int>(blockIdx.x) * share), end = min(part, begin + share);
  // A reduce-scatter alone ends with a sum that goes nowhere.
  const int last = end_round == sums ? end_round + 1 : end_round;
  for (int round = first_round; round < last; ++round) {
    const int number = (rank + 2 * gpus - round - 1) % gpus;
    T* const own = data + number * part;
    const bool is_sum = round > 0 && round <= sums && first_round < sums;
    const T* const other = is_sum ? arrived + (round - 1) * part : nullptr;
    T* const stays = round == sums && is_sum ? own : nullptr;
    T* const to = round < sums ? next_arrived + round * part : round < end_round ? next_data + number * part : nullptr;
    for (int s = 0; s < slices; ++s) {
      const int from = min(end, begin + s * slice);
      if (channel.works()) {
        if (round > first_round) channel.wait((round - first_round - 1) * slices + s + 1);
        move(channel, from, min(end, from + slice), own, other, to, stays);
      }
      if (to != nullptr) channel.post((round - first_round) * slices + s + 1);
    }
  }
}

extern "C" __global__ void ring_kernel(float* data, float* next_data, float* arrived, float* next_arrived,
                                       unsigned* flags, unsigned* next_flags, int rank, int gpus, int part,
                                       int first_round, int end_round) {
  unsigned* const own = flags + 2 * blockIdx.x;
  const int threads = blockDim.x;
  const int poster = threads > warp && threads % warp == 0 ? threads - warp : 0;
  const Channel channel{static_cast<int>(threadIdx.x), poster == 0 ? threads : poster, poster, own,
                        next_flags + 2 * blockIdx.x, own[1]};
  if (part % 4 == 0) {
    go_round(channel, reinterpret_cast<float4*>(data), reinterpret_cast<float4*>(next_data),
             reinterpret_cast<const float4*>(arrived), reinterpret_cast<float4*>(next_arrived), rank, gpus, part / 4,
             first_round, end_round);
  } else {
    go_round(channel, data, next_data, arrived, next_arrived, rank, gpus, part, first_round, end_round);
  }
  if (!channel.works()) return;
  const int all = (end_round - first_round) * slices;
  channel.wait(all);
  if (channel.thread == 0) own[1] = channel.before + all;
}
