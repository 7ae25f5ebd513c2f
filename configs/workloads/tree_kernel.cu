// Sums go up two trees of GPUs, and down again: one kernel on each GPU stores into the memory of its parent and of its
// children, and waits for the flags that they set.  The kernel of `collective` steps with algorithm: tree, by: kernel.
//
// Blocks with even numbers belong to the first tree, odd ones to the second; a block has elements of its own.  They go in
// chunks of 32 KiB, so that a GPU sends one up while another comes down.  For that half of a block's threads go up and the
// other half down; at the root, and in a broadcast, there is one way only and all threads take it.  What a child sends has a place in its parent's `arrived`; what comes down goes to where it stays.  The last
// warp of a half only posts: it waits until a chunk has been stored and tells the other GPUs, while the others begin the
// next one.  In a half of one warp, or of parts of one, all work.
//
// `flags` has four words for each block: how many chunks the first child, the second child and the parent have sent in
// all, and how many had been there when the launch began.

constexpr int unroll = 4, warp = 32, words = 4, chunk = 32768 / sizeof(float);

// What a GPU has to do with one tree; null where it has no parent or no such child.
template <class T>
struct Tree {
  T* parent;  // its place for what this GPU sends
  unsigned* parent_flags;
  T* child[2];
  unsigned* child_flags[2];
};

// The threads of a block that go one way.
struct Team {
  int thread, threads, workers, barrier;

  __device__ static Team of(int thread, int threads, int barrier) {
    return {thread, threads, threads > warp && threads % warp == 0 ? threads - warp : threads, barrier};
  }
  __device__ bool works() const { return thread < workers; }
  __device__ void meet() const {
    if (barrier == 0) {
      __syncthreads();
    } else {
      asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
    }
  }
  __device__ void meet_workers() const {
    if (workers == threads) {
      meet();
    } else {
      asm volatile("bar.sync %0, %1;" ::"r"(barrier + 1), "r"(workers) : "memory");
    }
  }
  // Waits until the counts at both flags, which may be null, have come to `count`; for those that work.
  __device__ void wait(const unsigned* one, const unsigned* other, unsigned count) const {
    if (thread == 0) {
      wait(one, count);
      wait(other, count);
    }
    meet_workers();
  }
  // All have stored a chunk: the poster tells who gets it.
  __device__ void post(unsigned* one, unsigned* other, unsigned count) const {
    meet();
    if (thread != (workers == threads ? 0 : workers)) return;
    __threadfence_system();
    post(one, count);
    post(other, count);
  }

 private:
  __device__ static void wait(const unsigned* flag, unsigned count) {
    if (flag == nullptr) return;
    unsigned seen;
    do {
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    } while (static_cast<int>(seen - count) < 0);
  }
  __device__ static void post(unsigned* flag, unsigned count) {
    if (flag != nullptr) asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(count) : "memory");
  }
};

__device__ float4 add(float4 a, float4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
__device__ float add(float a, float b) { return a + b; }

// Elements [begin, end): own + one + other, as far as these are not null, goes to all of `to` that are not null.
template <class T>
__device__ void move(const Team& team, int begin, int end, const T* own, const T* one, const T* other, T* const (&to)[3]) {
  for (int first = begin + team.thread; first < end; first += unroll * team.workers) {
    T value[unroll], more[unroll], most[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int i = first + u * team.workers;
      if (i < end) value[u] = __ldcg(own + i);
      if (i < end && one != nullptr) more[u] = __ldcg(one + i);
      if (i < end && other != nullptr) most[u] = __ldcg(other + i);
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int i = first + u * team.workers;
      if (i >= end) break;
      if (one != nullptr) value[u] = add(value[u], more[u]);
      if (other != nullptr) value[u] = add(value[u], most[u]);
#pragma unroll
      for (int k = 0; k < 3; ++k)
        if (to[k] != nullptr) to[k][i] = value[u];
    }
  }
}

// What a team does with each of its chunks: it waits for the flags, adds what has arrived, and stores it at all of `to`.
// All of these may be null.
template <class T>
struct Way {
  const unsigned *flag, *other_flag;
  const T *arrived, *other_arrived;
  T* to[3];
  unsigned *told, *other_told;
};

// One block's elements on one GPU.
template <class T>
struct Walk {
  Tree<T> tree;
  T* data;
  const T* arrived;
  unsigned* flags;
  unsigned before;
  int count, begin, end, sums;

  __device__ int step() const { return chunk * sizeof(float) / sizeof(T); }
  // Up from its children to its parent; from its children to itself and back at the root.
  __device__ Way<T> up() const {
    const bool one = sums && tree.child[0] != nullptr, other = sums && tree.child[1] != nullptr;
    const Way<T> way{one ? flags : nullptr,
                     other ? flags + 1 : nullptr,
                     one ? arrived : nullptr,
                     other ? arrived + count : nullptr,
                     {tree.parent, nullptr, nullptr},
                     tree.parent_flags,
                     nullptr};
    if (tree.parent != nullptr) return way;
    return {way.flag,
            way.other_flag,
            way.arrived,
            way.other_arrived,
            {sums ? data : nullptr, tree.child[0], tree.child[1]},
            tree.child_flags[0],
            tree.child_flags[1]};
  }
  __device__ Way<T> down() const {
    return {flags + 2, nullptr, nullptr, nullptr, {nullptr, tree.child[0], tree.child[1]}, tree.child_flags[0],
            tree.child_flags[1]};
  }
  __device__ void go(const Team& team, const Way<T>& way) const {
    const bool moves = way.to[0] != nullptr || way.to[1] != nullptr || way.to[2] != nullptr;
    unsigned number = before;
#pragma unroll 1
    for (int from = begin; from < end; from += step()) {
      ++number;
      if (team.works()) {
        if (way.flag != nullptr || way.other_flag != nullptr) team.wait(way.flag, way.other_flag, number);
        if (moves) move(team, from, min(end, from + step()), data, way.arrived, way.other_arrived, way.to);
      }
      if (way.told != nullptr || way.other_told != nullptr) team.post(way.told, way.other_told, number);
    }
  }
  __device__ void go_all_ways() const {
    const int threads = blockDim.x, half = threads / 2;
    const bool has_up = tree.parent == nullptr || sums, has_down = tree.parent != nullptr;
    const bool by_halves = has_up && has_down && threads % (2 * warp) == 0;
    const bool is_second = threadIdx.x >= half;
    const Team team = by_halves ? Team::of(threadIdx.x - (is_second ? half : 0), half, is_second ? 4 : 2)
                                : Team::of(threadIdx.x, threads, 0);
    const bool goes_up = by_halves ? !is_second : has_up, goes_down = by_halves ? is_second : has_down;
#pragma unroll 1
    for (int way = goes_up ? 0 : 1; way < (goes_down ? 2 : 1); ++way) go(team, way == 0 ? up() : down());
  }
};

template <class T>
__device__ void walk(float* data, const float* arrived, unsigned* flags, const Tree<float>& tree, int count, int sums) {
  const int share = (count + gridDim.x - 1) / gridDim.x;
  const int begin = min(count, static_cast<int>(blockIdx.x) * share);
  const Tree<T> here{reinterpret_cast<T*>(tree.parent),
                     tree.parent_flags,
                     {reinterpret_cast<T*>(tree.child[0]), reinterpret_cast<T*>(tree.child[1])},
                     {tree.child_flags[0], tree.child_flags[1]}};
  const Walk<T> elements{here,   reinterpret_cast<T*>(data),     reinterpret_cast<const T*>(arrived), flags, flags[3], count,
                         begin, min(count, begin + share), sums};
  elements.go_all_ways();
  __syncthreads();
  if (threadIdx.x == 0) flags[3] = elements.before + (share + elements.step() - 1) / elements.step();
}

__device__ unsigned* of_block(unsigned* flags) { return flags == nullptr ? nullptr : flags + words * blockIdx.x; }

extern "C" __global__ void tree_kernel(float* data, const float* arrived, unsigned* flags,  //
                                       float* parent, unsigned* parent_flags, float* child0, unsigned* child0_flags,
                                       float* child1, unsigned* child1_flags,  //
                                       float* other_parent, unsigned* other_parent_flags, float* other_child0,
                                       unsigned* other_child0_flags, float* other_child1, unsigned* other_child1_flags,
                                       int count, int sums) {
  const bool is_first = blockIdx.x % 2 == 0;
  const Tree<float> tree{
      is_first ? parent : other_parent,
      of_block(is_first ? parent_flags : other_parent_flags),
      {is_first ? child0 : other_child0, is_first ? child1 : other_child1},
      {of_block(is_first ? child0_flags : other_child0_flags), of_block(is_first ? child1_flags : other_child1_flags)}};
  if (count % 4 == 0) {
    walk<float4>(data, arrived, of_block(flags), tree, count / 4, sums);
  } else {
    walk<float>(data, arrived, of_block(flags), tree, count, sums);
  }
}
