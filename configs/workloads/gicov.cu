// Detection of round cells: at every pixel the gradients on circles of several radii are projected
// on the circle's normal; the score is the square of their mean over their variance, the best of
// all radii (gradient inverse coefficient of variation). Then every pixel takes the best score in a
// disc around it.
constexpr int smallest_radius = 3;

// Directions and, for each circle, the pixels that they hit.
extern "C" __global__ void gicov_table(float* __restrict__ cosine, float* __restrict__ sine,
                                       int* __restrict__ dx, int* __restrict__ dy, int directions) {
  const int k = threadIdx.x;
  const float angle = 6.2831853f * (static_cast<float>(k) + 0.3f) / static_cast<float>(directions);
  const float across = cosf(angle);
  const float down = sinf(angle);
  const float radius = static_cast<float>(smallest_radius + blockIdx.x);
  dx[blockIdx.x * directions + k] = __float2int_rn(radius * across);
  dy[blockIdx.x * directions + k] = __float2int_rn(radius * down);
  if (blockIdx.x == 0) {
    cosine[k] = across;
    sine[k] = down;
  }
}

// Pixels so near the border that a circle leaves the image score 0.
extern "C" __global__ void gicov(const float* __restrict__ gradient_x,
                                 const float* __restrict__ gradient_y,
                                 const float* __restrict__ cosine, const float* __restrict__ sine,
                                 const int* __restrict__ dx, const int* __restrict__ dy,
                                 float* __restrict__ score, int width, int height, int circles,
                                 int directions) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int border = smallest_radius + circles - 1;
  float best = 0.0f;
  if (x >= border && x < width - border && y >= border && y < height - border) {
    const float count = static_cast<float>(directions);
#pragma unroll 1
    for (int circle = 0; circle < circles; ++circle) {
      float sum = 0.0f;
      float squares = 0.0f;
#pragma unroll 4
      for (int k = 0; k < directions; ++k) {
        const int at = circle * directions + k;
        const int pixel = (y + dy[at]) * width + x + dx[at];
        const float along = fmaf(gradient_x[pixel], cosine[k], gradient_y[pixel] * sine[k]);
        sum += along;
        squares = fmaf(along, along, squares);
      }
      const float mean = sum / count;
      const float variance = fmaf(-mean, sum, squares) / (count - 1.0f);
      best = fmaxf(best, mean * mean / variance);
    }
  }
  score[y * width + x] = best;
}

extern "C" __global__ void gicov_dilate(const float* __restrict__ score,
                                        float* __restrict__ dilated, int width, int height,
                                        int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float best = 0.0f;
#pragma unroll 1
  for (int down = -radius; down <= radius; ++down) {
    const int row = y + down;
    if (row < 0 || row >= height) continue;
#pragma unroll 1
    for (int across = -radius; across <= radius; ++across) {
      const int column = x + across;
      const bool in_disc = across * across + down * down <= radius * radius;
      if (in_disc && column >= 0 && column < width) {
        best = fmaxf(best, score[row * width + column]);
      }
    }
  }
  dilated[y * width + x] = best;
}
