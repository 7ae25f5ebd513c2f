// Tracking of points on a moving wall through a sequence of images: a block per point looks for the
// displacement at which the point's template correlates best with its surroundings, in many short
// phases with barriers between them, moves the point there and blends the template with what it
// found. Pixels are integers, so that the sums are exact.
constexpr int side = 10;                // pixels of a template in each direction
constexpr int reach = 6;                // pixels a point can move in each direction
constexpr int wide = side + 2 * reach;  // pixels of the surroundings
constexpr int span = 2 * reach + 1;
constexpr int places = span * span;
constexpr int threads = 256;
constexpr int pixels = side * side;

// Templates are taken from the first image. A point is the corner of its template.
extern "C" __global__ void heartwall_start(const unsigned char* __restrict__ frames,
                                           const int* __restrict__ x, const int* __restrict__ y,
                                           int* __restrict__ templates, int width) {
  const int t = threadIdx.x;
  if (t >= pixels) return;
  const int row = y[blockIdx.x] + t / side;
  const int column = x[blockIdx.x] + t % side;
  templates[blockIdx.x * pixels + t] = frames[row * width + column];
}

extern "C" __global__ void heartwall_track(const unsigned char* __restrict__ frames, int* x, int* y,
                                           int* templates, float* __restrict__ score, int width,
                                           int height, int frame) {
  __shared__ int wanted[pixels];
  __shared__ int around[wide][wide + 1];
  __shared__ int sum[wide + 1][wide + 2];  // of all pixels above and to the left
  __shared__ int squares[wide + 1][wide + 2];
  __shared__ int total;
  __shared__ float best_score[threads];
  __shared__ int best_place[threads];
  const int t = threadIdx.x;
  const int left = x[blockIdx.x] - reach;
  const int top = y[blockIdx.x] - reach;
  const unsigned char* image = frames + frame * width * height;
  if (t == 0) total = 0;
  for (int i = t; i < wide * wide; i += threads) {
    const int row = min(max(top + i / wide, 0), height - 1);
    const int column = min(max(left + i % wide, 0), width - 1);
    around[i / wide][i % wide] = image[row * width + column];
  }
  __syncthreads();
  if (t < pixels) {
    wanted[t] = templates[blockIdx.x * pixels + t];
    atomicAdd(&total, wanted[t]);
  }
  // Running sums along the rows, then along the columns.
  if (t <= wide) sum[0][t] = squares[0][t] = sum[t][0] = squares[t][0] = 0;
  if (t < wide) {
    int of_row = 0;
    int of_squares = 0;
#pragma unroll 1
    for (int column = 0; column < wide; ++column) {
      const int pixel = around[t][column];
      of_row += pixel;
      of_squares += pixel * pixel;
      sum[t + 1][column + 1] = of_row;
      squares[t + 1][column + 1] = of_squares;
    }
  }
  __syncthreads();
  if (t < wide) {
#pragma unroll 1
    for (int row = 1; row < wide; ++row) {
      sum[row + 1][t + 1] += sum[row][t + 1];
      squares[row + 1][t + 1] += squares[row][t + 1];
    }
  }
  __syncthreads();
  // The correlation at one displacement per thread.
  best_score[t] = -3.0e38f;
  best_place[t] = t;
  if (t < places) {
    const int dy = t / span;
    const int dx = t % span;
    int products = 0;
#pragma unroll 1
    for (int row = 0; row < side; ++row) {
#pragma unroll
      for (int column = 0; column < side; ++column) {
        products += wanted[row * side + column] * around[dy + row][dx + column];
      }
    }
    const int here =
        sum[dy + side][dx + side] - sum[dy][dx + side] - sum[dy + side][dx] + sum[dy][dx];
    const int here_squared = squares[dy + side][dx + side] - squares[dy][dx + side] -
                             squares[dy + side][dx] + squares[dy][dx];
    const int covariance = pixels * products - total * here;
    const int variance = pixels * here_squared - here * here;
    best_score[t] = static_cast<float>(covariance) / sqrtf(static_cast<float>(max(variance, 1)));
  }
  // The first of the best.
#pragma unroll 1
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      const float other = best_score[t + half];
      const int place = best_place[t + half];
      if (other > best_score[t] || (other == best_score[t] && place < best_place[t])) {
        best_score[t] = other;
        best_place[t] = place;
      }
    }
  }
  __syncthreads();
  const int dy = best_place[0] / span;
  const int dx = best_place[0] % span;
  if (t < pixels) {
    const int found = around[dy + t / side][dx + t % side];
    templates[blockIdx.x * pixels + t] = (3 * wanted[t] + found + 2) / 4;
  }
  if (t == 0) {
    x[blockIdx.x] = min(max(left + dx, 0), width - side);
    y[blockIdx.x] = min(max(top + dy, 0), height - side);
    score[blockIdx.x] = best_score[0];
  }
}
