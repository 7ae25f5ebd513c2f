// Graphs made node by node: kernels, copies, fills, host functions, an empty node and a graph within; then changed.
#include <cstdio>

__global__ void add(int* to, int number, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = 2 * to[i] + number;
}

static void note(void* data) { ++*static_cast<int*>(data); }

int main() {
  constexpr int count = 1000;
  static int in[count], out[count];
  int *memory, notes = 0, number = 1;
  cudaMalloc(&memory, sizeof in);
  for (int i = 0; i < count; ++i) in[i] = i;
  cudaGraph_t graph, inner;
  cudaGraphCreate(&graph, 0);
  cudaGraphCreate(&inner, 0);
  void* arguments[] = {&memory, &number, const_cast<int*>(&count)};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(8);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  cudaMemsetParams fill = {};
  fill.dst = memory;
  fill.value = 3;
  fill.elementSize = 4;
  fill.width = 100;
  fill.height = 1;
  cudaHostNodeParams host = {note, &notes};
  // Made in another order than they run: in, fill, (doubled + 1), (doubled + 10) of the graph within, out, note.
  cudaGraphNode_t last, copy_out, copy_in, filled, first_kernel, within, inner_kernel, nothing;
  cudaGraphAddHostNode(&last, graph, nullptr, 0, &host);
  cudaGraphAddMemcpyNode1D(&copy_out, graph, nullptr, 0, out, memory, sizeof out, cudaMemcpyDeviceToHost);
  cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, memory, in, sizeof in, cudaMemcpyHostToDevice);
  cudaGraphAddMemsetNode(&filled, graph, &copy_in, 1, &fill);
  cudaGraphAddKernelNode(&first_kernel, graph, &filled, 1, &kernel);
  number = 10;
  cudaGraphAddKernelNode(&inner_kernel, inner, nullptr, 0, &kernel);
  cudaGraphAddChildGraphNode(&within, graph, &first_kernel, 1, inner);
  cudaGraphAddEmptyNode(&nothing, graph, &within, 1);
  cudaGraphAddDependencies(graph, &nothing, &copy_out, nullptr, 1);
  cudaGraphAddDependencies(graph, &copy_out, &last, nullptr, 1);
  std::size_t nodes = 0, edges = 0, roots = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  cudaGraphGetRootNodes(graph, nullptr, &roots);
  cudaGraphNodeType type;
  cudaGraphNodeGetType(filled, &type);
  bool right = nodes == 7 && edges == 6 && roots == 1 && type == cudaGraphNodeTypeMemset;
  if (!right) std::printf("%zu nodes, %zu edges, %zu roots, type %d\n", nodes, edges, roots, type);
  cudaGraphExec_t executable;
  right &= cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < count; ++i) right &= out[i] == 2 * (2 * (i < 100 ? 3 : i) + 1) + 10;
  number = 100;
  cudaGraphExecKernelNodeSetParams(executable, first_kernel, &kernel);
  fill.value = 7;
  cudaGraphExecMemsetNodeSetParams(executable, filled, &fill);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < count; ++i) right &= out[i] == 2 * (2 * (i < 100 ? 7 : i) + 100) + 10;
  // A whole graph in the place of another, as programs do that capture anew.
  number = 1000;
  cudaGraphKernelNodeSetParams(first_kernel, &kernel);
  cudaGraphExecUpdateResultInfo result;
  right &= cudaGraphExecUpdate(executable, graph, &result) == cudaSuccess;
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  for (int i = 0; i < count; ++i) right &= out[i] == 2 * (2 * (i < 100 ? 3 : i) + 1000) + 10;
  // A circle is refused.
  cudaGraphAddDependencies(graph, &copy_out, &copy_in, nullptr, 1);
  cudaGraphExec_t none;
  right &= cudaGraphInstantiate(&none, graph, 0) == cudaErrorInvalidValue && notes == 3;
  std::printf("graph_nodes %s, out[999] %d\n", right ? "right" : "wrong", out[999]);
  return right ? 0 : 1;
}
