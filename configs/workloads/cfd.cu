// Finite volumes for the Euler equations on an unstructured grid whose cells have four neighbours:
// per iteration the step of every cell, then three times (Runge-Kutta) the fluxes through its faces
// and the update. Quantities are stored one after the other: density, momentum, energy.
constexpr int faces = 4;
constexpr float gamma_of_air = 1.4f;
constexpr float smoothing = 0.2f;

struct State {
  float density, x, y, z, energy;
};

// What follows from a state.
struct Flow {
  float x, y, z, pressure, speed, sound;
};

__device__ __forceinline__ State load(const float* __restrict__ quantity, int cell, int cells) {
  return {quantity[cell], quantity[cells + cell], quantity[2 * cells + cell],
          quantity[3 * cells + cell], quantity[4 * cells + cell]};
}

__device__ __forceinline__ State far_field() {
  return {1.4f, 1.68f, 0.0f, 0.0f, 3.508f};
}

__device__ __forceinline__ Flow flow_of(const State& s) {
  Flow flow;
  const float inverse = 1.0f / s.density;
  flow.x = s.x * inverse;
  flow.y = s.y * inverse;
  flow.z = s.z * inverse;
  const float squared = fmaf(flow.x, flow.x, fmaf(flow.y, flow.y, flow.z * flow.z));
  flow.pressure = (gamma_of_air - 1.0f) * fmaf(-0.5f * s.density, squared, s.energy);
  flow.speed = sqrtf(squared);
  flow.sound = sqrtf(gamma_of_air * flow.pressure * inverse);
  return flow;
}

// The far field, disturbed.
extern "C" __global__ void cfd_start(const float* __restrict__ noise, float* __restrict__ quantity,
                                     int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  const State far = far_field();
  quantity[cell] = far.density * (1.0f + noise[cell]);
  quantity[cells + cell] = far.x * (1.0f + noise[cells + cell]);
  quantity[2 * cells + cell] = noise[2 * cells + cell];
  quantity[3 * cells + cell] = noise[3 * cells + cell];
  quantity[4 * cells + cell] = far.energy * (1.0f + noise[4 * cells + cell]);
}

// Keeps the state at the beginning of the iteration, too.
extern "C" __global__ void cfd_step_factor(const float* __restrict__ quantity,
                                           const float* __restrict__ area, float* __restrict__ old,
                                           float* __restrict__ factor, int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  const State s = load(quantity, cell, cells);
  old[cell] = s.density;
  old[cells + cell] = s.x;
  old[2 * cells + cell] = s.y;
  old[3 * cells + cell] = s.z;
  old[4 * cells + cell] = s.energy;
  const Flow flow = flow_of(s);
  factor[cell] = 0.5f / (sqrtf(area[cell]) * (flow.speed + flow.sound));
}

// What a state carries through a face of normal (x, y, z).
__device__ __forceinline__ State through(const State& s, const Flow& flow, float x, float y,
                                         float z) {
  const float across = fmaf(flow.x, x, fmaf(flow.y, y, flow.z * z));
  return {s.density * across, fmaf(s.x, across, flow.pressure * x),
          fmaf(s.y, across, flow.pressure * y), fmaf(s.z, across, flow.pressure * z),
          (s.energy + flow.pressure) * across};
}

// One side of a balance: half of what both carry, damped by their difference.
__device__ __forceinline__ float balance(float sum, float damping, float own, float other,
                                         float own_flux, float other_flux) {
  return fmaf(damping, own - other, fmaf(0.5f, own_flux + other_flux, sum));
}

// A neighbour below zero is a wall (odd) or the far field (even).
extern "C" __global__ void cfd_flux(const float* __restrict__ quantity,
                                    const int* __restrict__ neighbour,
                                    const float* __restrict__ normal, float* __restrict__ flux,
                                    int cells) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  const State own = load(quantity, cell, cells);
  const Flow own_flow = flow_of(own);
  State sum = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int face = 0; face < faces; ++face) {
    const int next = neighbour[face * cells + cell];
    const float x = normal[(3 * face) * cells + cell];
    const float y = normal[(3 * face + 1) * cells + cell];
    const float z = normal[(3 * face + 2) * cells + cell];
    if (next < 0 && next % 2 != 0) {
      sum.x = fmaf(own_flow.pressure, x, sum.x);
      sum.y = fmaf(own_flow.pressure, y, sum.y);
      sum.z = fmaf(own_flow.pressure, z, sum.z);
      continue;
    }
    const State other = next < 0 ? far_field() : load(quantity, next, cells);
    const Flow other_flow = flow_of(other);
    const float size = sqrtf(fmaf(x, x, fmaf(y, y, z * z)));
    const float speeds = (own_flow.speed + other_flow.speed) + (own_flow.sound + other_flow.sound);
    const float damping = -size * smoothing * 0.5f * speeds;
    const State out = through(own, own_flow, x, y, z);
    const State in = through(other, other_flow, x, y, z);
    sum.density =
        balance(sum.density, damping, own.density, other.density, out.density, in.density);
    sum.x = balance(sum.x, damping, own.x, other.x, out.x, in.x);
    sum.y = balance(sum.y, damping, own.y, other.y, out.y, in.y);
    sum.z = balance(sum.z, damping, own.z, other.z, out.z, in.z);
    sum.energy = balance(sum.energy, damping, own.energy, other.energy, out.energy, in.energy);
  }
  flux[cell] = sum.density;
  flux[cells + cell] = sum.x;
  flux[2 * cells + cell] = sum.y;
  flux[3 * cells + cell] = sum.z;
  flux[4 * cells + cell] = sum.energy;
}

extern "C" __global__ void cfd_time_step(const float* __restrict__ old,
                                         const float* __restrict__ factor,
                                         const float* __restrict__ flux,
                                         float* __restrict__ quantity, int cells, int stage) {
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells) return;
  const float step = factor[cell] / static_cast<float>(3 - stage);
#pragma unroll
  for (int q = 0; q < 5; ++q) {
    const int i = q * cells + cell;
    quantity[i] = fmaf(step, flux[i], old[i]);
  }
}
