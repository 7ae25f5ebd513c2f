// Every GPU sends to each other one at the same time: one kernel on each GPU stores into the memory of all others, and
// waits for the flags that they set.  The kernel of `collective` steps with algorithm: direct, by: kernel.
//
// In sums a GPU first sends each other one the elements of the part that this one adds up, to a place of its own in the
// other's `arrived`.  Then it adds what has arrived from all others to its own elements of its part, and stores the sum
// where it stays, on all GPUs.  Gathers and broadcasts only do the second.  A block has elements of its own in each
// part, which it sends in two slices, so that GPUs add and send at the same time.  The last warp of a block only posts:
// it waits until a slice has been stored and tells the other GPUs, while the others begin the next one.  In a block of
// one warp, or of parts of one, all work.
//
// `flags` has a word for each GPU and each block: how many slices each other GPU has sent in all, and how many they had
// when the launch began.

constexpr int slices = 2, unroll = 4, warp = 32, most_others = 15;

// What a GPU has to do with another one.
struct Other {
  const float* mine;  // this GPU's elements of the part that the other one adds up
  float* arrived;     // the place for them there
  float* data;        // where this GPU's part stays there
  unsigned* flag;     // the first block's word for this GPU there
};
struct Others {
  Other other[most_others];
};

// The threads of a block.
struct Team {
  int thread, workers, poster, others, words;
  unsigned* flags;
  unsigned before;

  __device__ bool works() const { return thread < workers; }
  // Waits until GPUs [first, end) have sent so many slices of this launch; for those that work.
  __device__ void wait(int first, int end, int count) const {
    for (int k = first + thread; k < end; k += workers) {
      unsigned seen;
      do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flags + k) : "memory");
      } while (static_cast<int>(seen - before) < count);
    }
    if (poster == 0) {
      __syncthreads();
    } else {
      asm volatile("bar.sync 1, %0;" ::"r"(workers) : "memory");
    }
  }
  // All have stored a slice: the poster tells the other GPUs that so many of this launch are there.
  __device__ void post(const Others& to, int sent) const {
    __syncthreads();
    if (thread < poster) return;
    const int first = thread - poster, step = poster == 0 ? workers : warp;
    if (first < others) __threadfence_system();
    for (int k = first; k < others; k += step)
      asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(to.other[k].flag + words * blockIdx.x),
                   "r"(before + sent)
                   : "memory");
  }
};

__device__ void add(float4& sum, float4 a) {
  sum = {sum.x + a.x, sum.y + a.y, sum.z + a.z, sum.w + a.w};
}
__device__ void add(float& sum, float a) { sum += a; }

// Elements of a thread: first, first + step, ... below end, `unroll` of them.
struct Elements {
  int first, step, end;

  template <class T>
  __device__ void load(const T* from, T (&value)[unroll]) const {
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      if (first + u * step < end) value[u] = __ldcg(from + first + u * step);
  }
  template <class T>
  __device__ void store(T* to, const T (&value)[unroll]) const {
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      if (first + u * step < end) to[first + u * step] = value[u];
  }
};

template <class T>
struct Part {
  T* own;
  const T* arrived;
  int count, begin, end, slice;

  __device__ Elements first_of(const Team& team, int number) const {
    const int from = min(end, begin + number * slice);
    return {from + team.thread, team.workers, min(end, from + slice)};
  }
  __device__ void send(const Team& team, const Others& to, int number) const {
#pragma unroll 1
    for (int k = 0; k < team.others; ++k)
#pragma unroll 1
      for (Elements at = first_of(team, number); at.first < at.end; at.first += unroll * at.step) {
        T value[unroll];
        at.load(reinterpret_cast<const T*>(to.other[k].mine), value);
        at.store(reinterpret_cast<T*>(to.other[k].arrived), value);
      }
  }
  __device__ void spread(const Team& team, const Others& to, int number, bool sums, bool copies) const {
#pragma unroll 1
    for (Elements at = first_of(team, number); at.first < at.end; at.first += unroll * at.step) {
      T value[unroll];
      at.load(own, value);
      if (sums) {
        T more[unroll];
        at.load(arrived, more);
#pragma unroll 1
        for (int k = 1; k < team.others; ++k) {
          T next[unroll];
          at.load(arrived + k * count, next);
#pragma unroll
          for (int u = 0; u < unroll; ++u) add(value[u], more[u]);
#pragma unroll
          for (int u = 0; u < unroll; ++u) more[u] = next[u];
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) add(value[u], more[u]);
        at.store(own, value);
      }
      if (!copies) continue;
#pragma unroll 1
      for (int k = 0; k < team.others; ++k) at.store(reinterpret_cast<T*>(to.other[k].data), value);
    }
  }
};

// Blocks and slices begin with whole lines of 128 bytes, so that no warp's store goes to one more.
__device__ int whole_warps(int elements) { return (elements + warp - 1) / warp * warp; }

template <class T>
__device__ void go(const Team& team, float* own, const float* arrived, const Others& to, int count, bool sums,
                   bool copies) {
  const int share = whole_warps((count + gridDim.x - 1) / gridDim.x);
  const int begin = min(count, static_cast<int>(blockIdx.x) * share);
  const Part<T> part{reinterpret_cast<T*>(own), reinterpret_cast<const T*>(arrived), count, begin,
                     min(count, begin + share), whole_warps((share + slices - 1) / slices)};
#pragma unroll 1
  for (int s = 0; sums && s < slices; ++s) {
    if (team.works()) part.send(team, to, s);
    team.post(to, s + 1);
  }
#pragma unroll 1
  for (int s = 0; (sums || copies) && s < slices; ++s) {
    if (team.works()) {
      if (sums) team.wait(0, team.others, s + 1);
      part.spread(team, to, s, sums, copies);
    }
    if (copies) team.post(to, slices + s + 1);
  }
}

// `own`: this GPU's part.  Of the others, from the GPU before this one backwards, [first_sender, end_sender) send it
// theirs.
extern "C" __global__ void direct_kernel(float* own, const float* arrived, unsigned* flags,
                                         const __grid_constant__ Others to, int others, int count, int sums, int copies,
                                         int first_sender, int end_sender) {
  const int threads = blockDim.x;
  const int poster = threads > warp && threads % warp == 0 ? threads - warp : 0;
  const int words = others + 1;
  unsigned* const mine = flags + words * blockIdx.x;
  const Team team{
      static_cast<int>(threadIdx.x), poster == 0 ? threads : poster, poster, others, words, mine, mine[others]};
  if (count % 4 == 0) {
    go<float4>(team, own, arrived, to, count / 4, sums, copies);
  } else {
    go<float>(team, own, arrived, to, count, sums, copies);
  }
  if (!team.works()) return;
  team.wait(first_sender, end_sender, 2 * slices);
  if (team.thread == 0) mine[others] = team.before + 2 * slices;
}
