// Parboil's sgemm (mysgemmNT): C = alpha * A * B' + beta * C, column major.  128 threads hold 16 columns of C each in
// registers; 8 x 16 elements of B are staged in shared memory.  Its loops are left to the compilers, as published.
constexpr int columns = 16, depth = 8, rows = columns * depth;

extern "C" __global__ void sgemm(const float* a, int lda, const float* b, int ldb, float* c, int ldc, int k,
                                 float alpha, float beta) {
  __shared__ float staged[depth][columns];
  float sum[columns];
  for (int i = 0; i < columns; ++i) sum[i] = 0.0f;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int m = blockIdx.x * rows + thread, n = blockIdx.y * columns + threadIdx.x;
  for (int i = 0; i < k; i += depth) {
    staged[threadIdx.y][threadIdx.x] = b[n + (i + threadIdx.y) * ldb];
    __syncthreads();
    for (int j = 0; j < depth; ++j) {
      const float element = a[m + (i + j) * lda];
      for (int column = 0; column < columns; ++column)
        sum[column] = fmaf(element, staged[j][column], sum[column]);
    }
    __syncthreads();
  }
  const int place = ldc * blockIdx.y * columns + m;
  for (int i = 0; i < columns; ++i) c[place + i * ldc] = fmaf(alpha, sum[i], c[place + i * ldc] * beta);
}
