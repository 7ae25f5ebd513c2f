// Lattice Boltzmann, D3Q19, single relaxation time, in a periodic box with obstacles that bounce
// the flow back. One thread per cell pulls its 19 distributions from the neighbours, keeps them in
// registers, relaxes them and writes them; distribution i of cell c is at i * cells + c.
// Directions come in opposite pairs: 0 rest; 1, 2 +-x; 3, 4 +-y; 5, 6 +-z; 7, 8 +-(x+y);
// 9, 10 +-(x-y); 11, 12 +-(x+z); 13, 14 +-(x-z); 15, 16 +-(y+z); 17, 18 +-(y-z).
constexpr float weight_rest = 1.0f / 3.0f;
constexpr float weight_axis = 1.0f / 18.0f;
constexpr float weight_diagonal = 1.0f / 36.0f;

extern "C" __global__ void lbm_start(const float* __restrict__ density,
                                     const unsigned char* __restrict__ noise,
                                     unsigned char* __restrict__ obstacle, float* __restrict__ f,
                                     int cells) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  obstacle[c] = noise[c] < 16 ? 1 : 0;
  const float rho = density[c];
  for (int i = 0; i < 19; ++i) {
    const float weight = i == 0 ? weight_rest : i < 7 ? weight_axis : weight_diagonal;
    f[i * cells + c] = weight * rho;
  }
}

// Relaxes a pair of opposite directions towards equilibrium. `speed` is the velocity along the
// first of them; `common` is 1 - 1.5 u^2.
__device__ __forceinline__ void relax(float& forth, float& back, float weighted_density,
                                      float speed, float common, float omega) {
  const float even = fmaf(4.5f * speed, speed, common);
  const float odd = 3.0f * speed;
  forth = fmaf(omega, fmaf(weighted_density, even + odd, -forth), forth);
  back = fmaf(omega, fmaf(weighted_density, even - odd, -back), back);
}

extern "C" __global__ void lbm_step(const float* __restrict__ from, float* __restrict__ to,
                                    const unsigned char* __restrict__ obstacle, int width,
                                    int height, int depth, float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  const int z = blockIdx.z;
  if (x >= width) return;
  const int layer = width * height;
  const int cells = layer * depth;
  const int xm = x == 0 ? width - 1 : x - 1;
  const int xp = x == width - 1 ? 0 : x + 1;
  const int y0 = y * width;
  const int ym = (y == 0 ? height - 1 : y - 1) * width;
  const int yp = (y == height - 1 ? 0 : y + 1) * width;
  const int z0 = z * layer;
  const int zm = (z == 0 ? depth - 1 : z - 1) * layer;
  const int zp = (z == depth - 1 ? 0 : z + 1) * layer;
  const int here = z0 + y0 + x;

  float f0 = from[here];
  float f1 = from[1 * cells + z0 + y0 + xm];
  float f2 = from[2 * cells + z0 + y0 + xp];
  float f3 = from[3 * cells + z0 + ym + x];
  float f4 = from[4 * cells + z0 + yp + x];
  float f5 = from[5 * cells + zm + y0 + x];
  float f6 = from[6 * cells + zp + y0 + x];
  float f7 = from[7 * cells + z0 + ym + xm];
  float f8 = from[8 * cells + z0 + yp + xp];
  float f9 = from[9 * cells + z0 + yp + xm];
  float f10 = from[10 * cells + z0 + ym + xp];
  float f11 = from[11 * cells + zm + y0 + xm];
  float f12 = from[12 * cells + zp + y0 + xp];
  float f13 = from[13 * cells + zp + y0 + xm];
  float f14 = from[14 * cells + zm + y0 + xp];
  float f15 = from[15 * cells + zm + ym + x];
  float f16 = from[16 * cells + zp + yp + x];
  float f17 = from[17 * cells + zp + ym + x];
  float f18 = from[18 * cells + zm + yp + x];

  if (obstacle[here] == 0) {
    const float axes = ((f1 + f2) + (f3 + f4)) + (f5 + f6);
    const float plane_xy = (f7 + f8) + (f9 + f10);
    const float plane_xz = (f11 + f12) + (f13 + f14);
    const float plane_yz = (f15 + f16) + (f17 + f18);
    const float rho = (f0 + axes) + ((plane_xy + plane_xz) + plane_yz);
    const float inverse = 1.0f / rho;
    const float jx = ((f1 - f2) + (f7 - f8)) + ((f9 - f10) + ((f11 - f12) + (f13 - f14)));
    const float jy = ((f3 - f4) + (f7 - f8)) - ((f9 - f10) - ((f15 - f16) + (f17 - f18)));
    const float jz = ((f5 - f6) + (f11 - f12)) - ((f13 - f14) - ((f15 - f16) - (f17 - f18)));
    const float ux = jx * inverse;
    const float uy = jy * inverse;
    const float uz = jz * inverse;
    const float common = fmaf(-1.5f, fmaf(ux, ux, fmaf(uy, uy, uz * uz)), 1.0f);
    const float axis = weight_axis * rho;
    const float diagonal = weight_diagonal * rho;
    f0 = fmaf(omega, fmaf(weight_rest * rho, common, -f0), f0);
    relax(f1, f2, axis, ux, common, omega);
    relax(f3, f4, axis, uy, common, omega);
    relax(f5, f6, axis, uz, common, omega);
    relax(f7, f8, diagonal, ux + uy, common, omega);
    relax(f9, f10, diagonal, ux - uy, common, omega);
    relax(f11, f12, diagonal, ux + uz, common, omega);
    relax(f13, f14, diagonal, ux - uz, common, omega);
    relax(f15, f16, diagonal, uy + uz, common, omega);
    relax(f17, f18, diagonal, uy - uz, common, omega);
  } else {
    float swapped = f1;
    f1 = f2, f2 = swapped, swapped = f3;
    f3 = f4, f4 = swapped, swapped = f5;
    f5 = f6, f6 = swapped, swapped = f7;
    f7 = f8, f8 = swapped, swapped = f9;
    f9 = f10, f10 = swapped, swapped = f11;
    f11 = f12, f12 = swapped, swapped = f13;
    f13 = f14, f14 = swapped, swapped = f15;
    f15 = f16, f16 = swapped, swapped = f17;
    f17 = f18, f18 = swapped;
  }

  to[here] = f0;
  to[1 * cells + here] = f1;
  to[2 * cells + here] = f2;
  to[3 * cells + here] = f3;
  to[4 * cells + here] = f4;
  to[5 * cells + here] = f5;
  to[6 * cells + here] = f6;
  to[7 * cells + here] = f7;
  to[8 * cells + here] = f8;
  to[9 * cells + here] = f9;
  to[10 * cells + here] = f10;
  to[11 * cells + here] = f11;
  to[12 * cells + here] = f12;
  to[13 * cells + here] = f13;
  to[14 * cells + here] = f14;
  to[15 * cells + here] = f15;
  to[16 * cells + here] = f16;
  to[17 * cells + here] = f17;
  to[18 * cells + here] = f18;
}
