// Forward transforms of the CUDA samples' dct8x8.  The second one: a block of 8 x 4 x 2 threads takes 32 x 16 pixels
// through shared memory, a thread a column and then a row of eight.
constexpr int width = 32, height = 16, pitch = width + 1;

__device__ __forceinline__ void transform(float* line, int step) {
  constexpr float a = 1.387039845322148f, b = 1.306562964876377f, c = 1.175875602419359f,
                  d = 0.785694958387102f, e = 0.541196100146197f, f = 0.275899379282943f,
                  norm = 0.3535533905932737f;
  float x[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = line[i * step];
  const float p07 = x[0] + x[7], p16 = x[1] + x[6], p25 = x[2] + x[5], p34 = x[3] + x[4];
  const float m07 = x[0] - x[7], m61 = x[6] - x[1], m25 = x[2] - x[5], m43 = x[4] - x[3];
  const float p0734 = p07 + p34, m0734 = p07 - p34, p1625 = p16 + p25, m1625 = p16 - p25;
  line[0] = norm * (p0734 + p1625);
  line[2 * step] = norm * fmaf(b, m0734, e * m1625);
  line[4 * step] = norm * (p0734 - p1625);
  line[6 * step] = norm * fmaf(e, m0734, -(b * m1625));
  line[step] = norm * fmaf(-f, m43, fmaf(d, m25, fmaf(-c, m61, a * m07)));
  line[3 * step] = norm * fmaf(d, m43, fmaf(-a, m25, fmaf(f, m61, c * m07)));
  line[5 * step] = norm * fmaf(-c, m43, fmaf(f, m25, fmaf(a, m61, d * m07)));
  line[7 * step] = norm * fmaf(a, m43, fmaf(c, m25, fmaf(d, m61, f * m07)));
}

extern "C" __global__ void dct(float* to, const float* from, int stride) {
  __shared__ float block[height * pitch];
  const int row = threadIdx.y * 8 + threadIdx.x, column = threadIdx.z * 8;
  const int place = (blockIdx.y * height + column) * stride + blockIdx.x * width + row;
  from += place;
  to += place;
  float* mine = block + column * pitch + row;
#pragma unroll
  for (int i = 0; i < 8; ++i) mine[i * pitch] = from[i * stride];
  __syncthreads();
  transform(mine, pitch);
  __syncthreads();
  transform(block + (column + threadIdx.x) * pitch + threadIdx.y * 8, 1);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i * stride] = mine[i * pitch];
}

// The first one: a block of 8 x 8 threads takes as many pixels, once by columns and once by rows; a thread adds up one
// element of the product with the matrix of cosines, which stands in constant memory: a row for each place, a column
// for each frequency.
__constant__ float cosines[64] = {
    0.3535534f, 0.4903926f, 0.4619398f, 0.4157348f, 0.3535534f, 0.2777851f, 0.1913417f, 0.0975452f,
    0.3535534f, 0.4157348f, 0.1913417f, -0.0975452f, -0.3535534f, -0.4903926f, -0.4619398f, -0.2777851f,
    0.3535534f, 0.2777851f, -0.1913417f, -0.4903926f, -0.3535534f, 0.0975452f, 0.4619398f, 0.4157348f,
    0.3535534f, 0.0975452f, -0.4619398f, -0.2777851f, 0.3535534f, 0.4157348f, -0.1913417f, -0.4903926f,
    0.3535534f, -0.0975452f, -0.4619398f, 0.2777851f, 0.3535534f, -0.4157348f, -0.1913417f, 0.4903926f,
    0.3535534f, -0.2777851f, -0.1913417f, 0.4903926f, -0.3535534f, -0.0975452f, 0.4619398f, -0.4157348f,
    0.3535534f, -0.4157348f, 0.1913417f, 0.0975452f, -0.3535534f, 0.4903926f, -0.4619398f, 0.2777851f,
    0.3535534f, -0.4903926f, 0.4619398f, -0.4157348f, 0.3535534f, -0.2777851f, 0.1913417f, -0.0975452f};

extern "C" __global__ void dct_by_matrix(float* to, const float* from, int stride) {
  __shared__ float first[64], second[64];
  const int x = threadIdx.x, y = threadIdx.y, mine = y * 8 + x;
  const int place = (blockIdx.y * 8 + y) * stride + blockIdx.x * 8 + x;
  first[mine] = from[place];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = fmaf(cosines[i * 8 + y], first[i * 8 + x], sum);
  second[mine] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = fmaf(second[y * 8 + i], cosines[i * 8 + x], sum);
  first[mine] = sum;
  __syncthreads();
  to[place] = first[mine];
}
