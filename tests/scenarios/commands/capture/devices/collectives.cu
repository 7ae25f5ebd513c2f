// All collectives of NCCL over the devices that there are: communicators of one thread with groups, and of a thread each.
// Kernels ahead of the calls, in the same streams, make what is sent.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <thread>
#include <vector>

#include "nccl.h"

template <class T>
__global__ void number(T* values, int count, int first, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = static_cast<T>(static_cast<float>(first + step * i));
}

static int devices = 0;
static bool right = true;

#define CALL(call)                                                               \
  do {                                                                           \
    const int error = static_cast<int>(call);                                    \
    if (error != 0) std::printf("%s: %d\n", #call, error), right = false;        \
  } while (false)

static void expect(const char* what, double got, double wanted) {
  if (got == wanted) return;
  if (right) std::printf("%s: %g, not %g\n", what, got, wanted);
  right = false;
}

struct Rank {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  void *send = nullptr, *receive = nullptr;
};

constexpr std::size_t room = 1 << 16;

template <class T>
static std::vector<T> left(const Rank& rank, int device, std::size_t count) {
  std::vector<T> values(count);
  CALL(cudaSetDevice(device));
  CALL(cudaMemcpyAsync(values.data(), rank.receive, count * sizeof(T), cudaMemcpyDeviceToHost, rank.stream));
  CALL(cudaStreamSynchronize(rank.stream));
  return values;
}

// Rank k has k + 1 + i in its i-th element; the call is made for all ranks in a group.
template <class T, class Make>
static void together(std::vector<Rank>& ranks, int count, const Make& make) {
  for (int d = 0; d < devices; ++d) {
    CALL(cudaSetDevice(d));
    number<T><<<(count + 127) / 128, 128, 0, ranks[d].stream>>>(static_cast<T*>(ranks[d].send), count, d + 1, 1);
  }
  CALL(ncclGroupStart());
  for (int d = 0; d < devices; ++d) CALL(make(ranks[d], d));
  CALL(ncclGroupEnd());
}

template <class T>
static void sums(std::vector<Rank>& ranks, ncclDataType_t type, int count) {
  const int all = devices * (devices + 1) / 2;
  together<T>(ranks, count, [&](Rank& r, int) {
    return ncclAllReduce(r.send, r.receive, count, type, ncclSum, r.comm, r.stream);
  });
  for (int d = 0; d < devices; ++d) {
    const std::vector<T> got = left<T>(ranks[d], d, count);
    for (int i = 0; i < count; ++i) expect("all_reduce", static_cast<float>(got[i]), all + devices * i);
  }
}

static void operators(std::vector<Rank>& ranks) {
  constexpr int count = 33;
  double product = 1;
  for (int d = 0; d < devices; ++d) product *= d + 1;
  const double wanted[] = {product, static_cast<double>(devices), 1, (devices + 1) / 2.0};
  const ncclRedOp_t reductions[] = {ncclProd, ncclMax, ncclMin, ncclAvg};
  for (int k = 0; k < 4; ++k) {
    together<double>(ranks, count, [&](Rank& r, int) {
      return ncclAllReduce(r.send, r.receive, count, ncclDouble, reductions[k], r.comm, r.stream);
    });
    expect("operator", left<double>(ranks[devices - 1], devices - 1, 1)[0], wanted[k]);
  }
}

static void others(std::vector<Rank>& ranks) {
  constexpr int count = 1001, root = 1;
  const int all = devices * (devices + 1) / 2;
  together<float>(ranks, count, [&](Rank& r, int) {
    return ncclBroadcast(r.send, r.receive, count, ncclFloat, root, r.comm, r.stream);
  });
  for (int d = 0; d < devices; ++d) expect("broadcast", left<float>(ranks[d], d, count)[1000], root + 1001);
  together<float>(ranks, count, [&](Rank& r, int) {
    return ncclReduce(r.send, r.receive, count, ncclFloat, ncclSum, root, r.comm, r.stream);
  });
  const auto sum = left<float>(ranks[root], root, count);
  for (int i = 0; i < count; ++i) expect("reduce", sum[i], all + devices * i);
  together<float>(ranks, count, [&](Rank& r, int) {
    return ncclAllGather(r.send, r.receive, count, ncclFloat, r.comm, r.stream);
  });
  for (int d = 0; d < devices; ++d) {
    const auto got = left<float>(ranks[d], d, count * devices);
    for (int i = 0; i < count * devices; ++i) expect("all_gather", got[i], i / count + 1 + i % count);
  }
  together<float>(ranks, count * devices, [&](Rank& r, int) {
    return ncclReduceScatter(r.send, r.receive, count, ncclFloat, ncclSum, r.comm, r.stream);
  });
  for (int d = 0; d < devices; ++d) {
    const auto got = left<float>(ranks[d], d, count);
    for (int i = 0; i < count; ++i) expect("reduce_scatter", got[i], all + devices * (d * count + i));
  }
  // Each rank sends its d-th piece to rank d, itself included.
  together<float>(ranks, 8 * devices, [&](Rank& r, int) {
    int error = 0;
    for (int peer = 0; peer < devices; ++peer) {
      error |= ncclSend(static_cast<float*>(r.send) + 8 * peer, 8, ncclFloat, peer, r.comm, r.stream);
      error |= ncclRecv(static_cast<float*>(r.receive) + 8 * peer, 8, ncclFloat, peer, r.comm, r.stream);
    }
    return error;
  });
  for (int d = 0; d < devices; ++d) {
    const auto got = left<float>(ranks[d], d, 8 * devices);
    for (int i = 0; i < 8 * devices; ++i) expect("all to all", got[i], i / 8 + 1 + 8 * d + i % 8);
  }
}

// In place, with the buffer that is sent.
static void in_place(std::vector<Rank>& ranks, int count) {
  std::vector<Rank> same = ranks;
  for (Rank& rank : same) rank.receive = rank.send;
  together<int>(same, count, [&](Rank& r, int) {
    return ncclAllReduce(r.send, r.send, count, ncclInt, ncclSum, r.comm, r.stream);
  });
  for (int d = 0; d < devices; ++d) {
    const auto got = left<int>(same[d], d, count);
    for (int i = 0; i < count; ++i) expect("in place", got[i], devices * (devices + 1) / 2 + devices * i);
  }
}

static void of_threads() {
  ncclUniqueId id;
  CALL(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  for (int d = 0; d < devices; ++d)
    threads.emplace_back([d, id] {
      Rank own;
      int rank = -1, count = 0, device = -1;
      CALL(cudaSetDevice(d));
      CALL(ncclCommInitRank(&own.comm, devices, id, d));
      CALL(ncclCommUserRank(own.comm, &rank));
      CALL(ncclCommCount(own.comm, &count));
      CALL(ncclCommCuDevice(own.comm, &device));
      expect("rank", rank, d);
      expect("count", count, devices);
      expect("device", device, d);
      CALL(cudaMalloc(&own.send, 4096));
      own.receive = own.send;
      number<int><<<8, 128>>>(static_cast<int*>(own.send), 1000, d, 0);
      CALL(ncclAllReduce(own.send, own.send, 1000, ncclInt, ncclSum, own.comm, nullptr));
      CALL(cudaDeviceSynchronize());
      expect("threads", left<int>(own, d, 1000)[999], devices * (devices - 1) / 2);
      CALL(ncclCommDestroy(own.comm));
    });
  for (std::thread& thread : threads) thread.join();
}

int main() {
  CALL(cudaGetDeviceCount(&devices));
  std::vector<Rank> ranks(devices);
  std::vector<ncclComm_t> comms(devices);
  CALL(ncclCommInitAll(comms.data(), devices, nullptr));
  for (int d = 0; d < devices; ++d) {
    CALL(cudaSetDevice(d));
    ranks[d].comm = comms[d];
    CALL(cudaStreamCreate(&ranks[d].stream));
    CALL(cudaMalloc(&ranks[d].send, room));
    CALL(cudaMalloc(&ranks[d].receive, room));
  }
  sums<float>(ranks, ncclFloat, 1000);
  sums<double>(ranks, ncclDouble, 7);
  sums<int>(ranks, ncclInt, 1);
  sums<long long>(ranks, ncclInt64, 515);
  sums<signed char>(ranks, ncclInt8, 9);
  sums<unsigned char>(ranks, ncclUint8, 9);
  sums<unsigned>(ranks, ncclUint32, 65);
  sums<unsigned long long>(ranks, ncclUint64, 65);
  sums<__half>(ranks, ncclHalf, 33);
  sums<__nv_bfloat16>(ranks, ncclBfloat16, 33);
  operators(ranks);
  others(ranks);
  in_place(ranks, 4099);
  for (Rank& rank : ranks) CALL(ncclCommDestroy(rank.comm));
  of_threads();
  std::printf("collectives %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
