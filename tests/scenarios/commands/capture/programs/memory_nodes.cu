// Memory that graphs allocate and free: captured from a stream, made node by node, kept between
// launches, freed by the program.
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void add(int* a, int v) {
  a[threadIdx.x] += v;
}

static int wrong = 0;
static void expect(const char* what, cudaError_t got, cudaError_t wanted = cudaSuccess) {
  if (got == wanted) return;
  std::printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
  cudaGetLastError();
  ++wrong;
}
#define EXPECT(call, ...) expect(#call, call, ##__VA_ARGS__)

static unsigned long long of(cudaGraphMemAttributeType what) {
  unsigned long long value = 0;
  EXPECT(cudaDeviceGetGraphMemAttribute(0, what, &value));
  return value;
}

// Allocated and freed within the graph, which can be launched again and again.
static void captured(cudaStream_t stream, int* result) {
  int* temporary = nullptr;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT(cudaMallocAsync(&temporary, 128, stream));
  EXPECT(cudaMemsetAsync(temporary, 0, 128, stream));
  add<<<1, 32, 0, stream>>>(temporary, 4);
  EXPECT(cudaMemcpyAsync(result, temporary, 128, cudaMemcpyDeviceToDevice, stream));
  EXPECT(cudaFreeAsync(temporary, stream));
  EXPECT(cudaStreamEndCapture(stream, &graph));
  EXPECT(cudaGraphInstantiate(&executable, graph, 0));
  for (int round = 0; round < 3; ++round) EXPECT(cudaGraphLaunch(executable, stream));
  EXPECT(cudaStreamSynchronize(stream));
  int got[32];
  EXPECT(cudaMemcpy(got, result, sizeof got, cudaMemcpyDeviceToHost));
  for (const int value : got) wrong += value != 4;
  size_t nodes = 0;
  EXPECT(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::vector<cudaGraphNode_t> all(nodes);
  EXPECT(cudaGraphGetNodes(graph, all.data(), &nodes));
  cudaGraphNodeType first, last;
  EXPECT(cudaGraphNodeGetType(all.front(), &first));
  EXPECT(cudaGraphNodeGetType(all.back(), &last));
  wrong += nodes != 5 || first != cudaGraphNodeTypeMemAlloc || last != cudaGraphNodeTypeMemFree;
  EXPECT(cudaGraphExecDestroy(executable));
  EXPECT(cudaGraphDestroy(graph));
}

// Allocated by the graph, freed by the program between two launches, and at the last not at all.
static void kept(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t executable, freeing;
  cudaGraphNode_t allocating, filling, kernel;
  EXPECT(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = 128;
  EXPECT(cudaGraphAddMemAllocNode(&allocating, graph, nullptr, 0, &memory));
  int* const numbers = static_cast<int*>(memory.dptr);
  cudaMemsetParams fill = {numbers, 0, 0, 4, 32, 1};
  EXPECT(cudaGraphAddMemsetNode(&filling, graph, &allocating, 1, &fill));
  int plus = 9;
  void* arguments[] = {const_cast<int**>(&numbers), &plus};
  cudaKernelNodeParams how = {reinterpret_cast<void*>(add), 1, 32, 0, arguments, nullptr};
  EXPECT(cudaGraphAddKernelNode(&kernel, graph, &filling, 1, &how));
  cudaMemAllocNodeParams told;
  EXPECT(cudaGraphMemAllocNodeGetParams(allocating, &told));
  wrong += told.dptr != numbers || told.bytesize != 128;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0));
  EXPECT(cudaFree(numbers), cudaErrorInvalidValue);  // there is none yet
  EXPECT(cudaGraphLaunch(executable, stream));
  wrong += of(cudaGraphMemAttrUsedMemCurrent) != 128;
  EXPECT(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue);  // it is still there
  cudaGetLastError();
  int got[32];
  EXPECT(cudaMemcpy(got, numbers, sizeof got, cudaMemcpyDeviceToHost));
  for (const int value : got) wrong += value != 9;
  EXPECT(cudaFreeAsync(numbers, stream));
  wrong += of(cudaGraphMemAttrUsedMemCurrent) != 0 || of(cudaGraphMemAttrReservedMemCurrent) != 128;
  EXPECT(cudaGraphLaunch(executable, stream));
  EXPECT(cudaFree(numbers));
  EXPECT(cudaGraphExecDestroy(executable));
  EXPECT(cudaGraphInstantiate(&freeing, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int round = 0; round < 3; ++round) EXPECT(cudaGraphLaunch(freeing, stream));
  EXPECT(cudaGraphExecDestroy(freeing));
  EXPECT(cudaGraphDestroy(graph));
  EXPECT(cudaMemcpy(got, numbers, sizeof got, cudaMemcpyDeviceToHost));  // outlives its graph
  for (const int value : got) wrong += value != 9;
  EXPECT(cudaFree(numbers));
  wrong += of(cudaGraphMemAttrReservedMemCurrent) != 0;
}

int main() {
  cudaStream_t stream;
  int* result = nullptr;
  EXPECT(cudaStreamCreate(&stream));
  EXPECT(cudaMalloc(&result, 128));
  captured(stream, result);
  kept(stream);
  EXPECT(cudaDeviceGraphMemTrim(0));
  std::printf("memory_nodes %s\n", wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}
