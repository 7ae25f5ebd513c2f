// The first of the two diffusion kernels of Rodinia's srad_v1: a thread per pixel of a column-major image, whose
// coordinates come from a division, neighbours through index arrays, and some of whose arithmetic is in f64.
constexpr int threads = 512;

// Fills the L2 with other data: a profiler empties it before a kernel.
extern "C" __global__ void displace(const float* other, float* never, int sectors) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (i < sectors && other[8 * i] != 0) *never = 1;
}

extern "C" __global__ void srad(const int* north_of, const int* south_of, const int* east_of, const int* west_of,
                                float* north, float* south, float* east, float* west, float q0, float* coefficient,
                                const float* image, int rows, int pixels) {
  const int i = blockIdx.x * threads + threadIdx.x;
  int row = (i + 1) % rows - 1;
  int column = (i + 1) / rows;
  if ((i + 1) % rows == 0) {
    row = rows - 1;
    column = column - 1;
  }
  if (i >= pixels) return;
  const float here = image[i];
  const float n = image[north_of[row] + rows * column] - here;
  const float s = image[south_of[row] + rows * column] - here;
  const float w = image[row + rows * west_of[column]] - here;
  const float e = image[row + rows * east_of[column]] - here;
  const float gradient = fmaf(e, e, fmaf(w, w, fmaf(s, s, n * n))) / (here * here);
  const float laplacian = (((n + s) + w) + e) / here;
  const float numerator = static_cast<float>(fma(-(1.0 / 16.0), static_cast<double>(laplacian * laplacian),
                                                 0.5 * static_cast<double>(gradient)));
  float denominator = static_cast<float>(fma(0.25, static_cast<double>(laplacian), 1.0));
  const float q = numerator / (denominator * denominator);
  denominator = (q - q0) / (q0 * (1 + q0));
  float c = static_cast<float>(1.0 / (1.0 + static_cast<double>(denominator)));
  if (c < 0) {
    c = 0;
  } else if (c > 1) {
    c = 1;
  }
  north[i] = n;
  south[i] = s;
  west[i] = w;
  east[i] = e;
  coefficient[i] = c;
}
