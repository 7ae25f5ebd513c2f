// Calls of NCCL that a program gets wrong, or that are not there: each says what it answers.
#include <cstdio>

#include "nccl.h"

static void tell(const char* what, ncclResult_t result) { std::printf("%s: %d\n", what, result); }

int main() {
  ncclComm_t comms[2], one;
  float *there[2], *host = nullptr;
  const int same[] = {0, 0};
  tell("same device twice", ncclCommInitAll(comms, 2, same));
  tell("three devices of two", ncclCommInitAll(comms, 3, nullptr));
  tell("init", ncclCommInitAll(comms, 2, nullptr));
  for (int d = 0; d < 2; ++d) {
    cudaSetDevice(d);
    cudaMalloc(&there[d], 4096);
  }
  cudaMallocManaged(&host, 4096);
  ncclGroupStart();
  for (int d = 0; d < 2; ++d)
    ncclAllReduce(there[d], there[d], 10 + 10 * d, ncclFloat, ncclSum, comms[d], nullptr);
  tell("other lengths", ncclGroupEnd());
  ncclGroupStart();
  for (int d = 0; d < 2; ++d) ncclAllReduce(host, host, 10, ncclFloat, ncclSum, comms[d], nullptr);
  tell("managed memory", ncclGroupEnd());
  ncclGroupStart();
  for (int d = 0; d < 2; ++d)
    ncclAllReduce(there[d], there[d], 2000, ncclFloat, ncclSum, comms[d], nullptr);
  tell("too short", ncclGroupEnd());
  ncclGroupStart();
  ncclAllReduce(there[0], there[0], 4, ncclFloat, ncclSum, comms[0], nullptr);
  ncclBroadcast(there[1], there[1], 4, ncclFloat, 0, comms[1], nullptr);
  tell("another call", ncclGroupEnd());
  ncclGroupStart();
  ncclSend(there[0], 4, ncclFloat, 1, comms[0], nullptr);
  ncclRecv(there[1], 5, ncclFloat, 0, comms[1], nullptr);
  tell("other message", ncclGroupEnd());
  tell("alone", ncclAllReduce(there[0], there[0], 4, ncclFloat, ncclSum, comms[0], nullptr));
  tell("no such rank", ncclBcast(there[0], 4, ncclFloat, 2, comms[0], nullptr));
  tell("fp8", ncclBcast(there[0], 4, ncclFloat8e4m3, 0, comms[0], nullptr));
  ncclRedOp_t own = ncclSum;
  tell("own operator", ncclRedOpCreatePreMulSum(&own, host, ncclFloat, 0, comms[0]));
  ncclUniqueId id{};
  tell("id of nobody", ncclCommInitRank(&one, 2, id, 0));
  std::printf("text: %s\n", ncclGetErrorString(ncclInvalidUsage));
  cudaIpcMemHandle_t handle;
  std::printf("ipc: %d\n", cudaIpcGetMemHandle(&handle, there[0]));
  return 0;
}
