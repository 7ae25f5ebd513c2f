// Turns features stored point by point into features stored coordinate by coordinate: a thread per
// point reads with a stride of a point's size and writes side by side with its neighbours.
extern "C" __global__ void invert_mapping(const float* __restrict__ of_point,
                                          float* __restrict__ of_feature, int points,
                                          int features) {
  const int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= points) return;
#pragma unroll 4
  for (int f = 0; f < features; ++f) {
    of_feature[f * points + point] = of_point[point * features + f];
  }
}
