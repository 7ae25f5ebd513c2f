// Graphs that are made by capturing streams, with a branch, launched several times.
#include <cstdio>

__global__ void add(int* to, const int* from, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}

int main() {
  constexpr int count = 1000;
  int *a, *b, in[count], out[count];
  cudaMalloc(&a, sizeof in);
  cudaMalloc(&b, sizeof in);
  for (int i = 0; i < count; ++i) in[i] = i;
  cudaStream_t main_stream, branch;
  cudaEvent_t fork, joined;
  cudaStreamCreate(&main_stream);
  cudaStreamCreate(&branch);
  cudaEventCreate(&fork);
  cudaEventCreate(&joined);
  cudaMemset(b, 0, sizeof in);
  cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(a, in, sizeof in, cudaMemcpyHostToDevice, main_stream);
  cudaEventRecord(fork, main_stream);
  cudaStreamWaitEvent(branch, fork, 0);
  add<<<8, 128, 0, branch>>>(b, a, count);
  cudaEventRecord(joined, branch);
  cudaStreamWaitEvent(main_stream, joined, 0);
  add<<<8, 128, 0, main_stream>>>(b, a, count);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamEndCapture(main_stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  for (int round = 0; round < 3; ++round) {
    in[0] = round;
    cudaGraphLaunch(executable, main_stream);
    cudaStreamSynchronize(main_stream);
  }
  cudaMemcpy(out, b, sizeof out, cudaMemcpyDeviceToHost);
  bool right = out[0] == 2 * (0 + 1 + 2);
  for (int i = 1; i < count; ++i) right &= out[i] == 6 * i;
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  std::printf("graphs %s, out[1] %d\n", right ? "right" : "wrong", out[1]);
  return right ? 0 : 1;
}
