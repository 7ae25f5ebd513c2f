// A layer of a network for one part of a batch: a thread per element of the result.  In a round
// stage k of the pipeline has the part with number round - k, if there is such a part.  The first
// stage reads its part of the whole batch, the last one writes its part of the whole result.
extern "C" __global__ void stage(const float* __restrict__ in, const float* __restrict__ layer,
                                 float* __restrict__ out, int width, int rows, int round, int k,
                                 int parts, int is_first, int is_last) {
  const int part = round - k;
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (part < 0 || part >= parts || column >= width) return;
  const float* const from = in + (is_first ? part * rows * width : 0) + row * width;
  float sum = 0;
  for (int i = 0; i < width; ++i) sum += from[i] * layer[i * width + column];
  out[(is_last ? part * rows * width : 0) + row * width + column] = sum > 0 ? sum : 0;
}
