// Speckle-reducing anisotropic diffusion of an image, two kernels per iteration: the diffusion
// coefficient of each pixel from its local gradient and Laplacian, then the update by the
// divergence. Differences to the four neighbours travel through global memory.
__device__ __forceinline__ int at(int row, int column, int width) {
  return row * width + column;
}

extern "C" __global__ void srad_coefficient(const float* __restrict__ image,
                                            float* __restrict__ north, float* __restrict__ south,
                                            float* __restrict__ west, float* __restrict__ east,
                                            float* __restrict__ coefficient, int width, int height,
                                            float q0_squared) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = at(y, x, width);
  const float here = image[i];
  const float n = image[at(max(y - 1, 0), x, width)] - here;
  const float s = image[at(min(y + 1, height - 1), x, width)] - here;
  const float w = image[at(y, max(x - 1, 0), width)] - here;
  const float e = image[at(y, min(x + 1, width - 1), width)] - here;
  const float inverse = 1.0f / here;
  const float laplacian = ((n + s) + (w + e)) * inverse;
  const float squares = fmaf(n, n, fmaf(s, s, fmaf(w, w, e * e)));
  const float gradient = squares * (inverse * inverse);
  const float numerator = fmaf(0.5f, gradient, -0.0625f * (laplacian * laplacian));
  const float root = fmaf(0.25f, laplacian, 1.0f);
  const float q_squared = numerator / (root * root);
  const float excess = (q_squared - q0_squared) / (q0_squared * (1.0f + q0_squared));
  north[i] = n;
  south[i] = s;
  west[i] = w;
  east[i] = e;
  coefficient[i] = __saturatef(1.0f / (1.0f + excess));
}

extern "C" __global__ void srad_update(float* __restrict__ image, const float* __restrict__ north,
                                       const float* __restrict__ south,
                                       const float* __restrict__ west,
                                       const float* __restrict__ east,
                                       const float* __restrict__ coefficient, int width, int height,
                                       float lambda) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = at(y, x, width);
  const float here = coefficient[i];
  const float below = coefficient[at(min(y + 1, height - 1), x, width)];
  const float right = coefficient[at(y, min(x + 1, width - 1), width)];
  const float vertical = fmaf(here, north[i], below * south[i]);
  const float horizontal = fmaf(here, west[i], right * east[i]);
  image[i] = fmaf(0.25f * lambda, vertical + horizontal, image[i]);
}
