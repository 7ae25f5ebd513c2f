// Kernels of a training step of GPT-2, but for products of matrices.
#pragma once

#include <cuda_bf16.h>

#ifndef NUMBER
#define NUMBER __nv_bfloat16
#endif
using X = NUMBER;

constexpr int warp = 32;
constexpr unsigned all_lanes = ~0U;

// --- Pieces of 16 bytes, and sums of warps and blocks ---

struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(X);
  X at[size];
};
__device__ inline Pack load(const X* from) {
  return *reinterpret_cast<const Pack*>(from);
}
__device__ inline void store(X* to, const Pack& pack) {
  *reinterpret_cast<Pack*>(to) = pack;
}

__device__ inline float sum_of_warp(float x) {
  for (int distance = warp / 2; distance; distance /= 2)
    x += __shfl_xor_sync(all_lanes, x, distance);
  return x;
}
__device__ inline float maximum_of_warp(float x) {
  for (int distance = warp / 2; distance; distance /= 2)
    x = fmaxf(x, __shfl_xor_sync(all_lanes, x, distance));
  return x;
}
// Of up to 1024 threads, known to all of them.
__device__ float sum_of_block(float x) {
  __shared__ float parts[warp];
  const int lane = threadIdx.x % warp, mine = threadIdx.x / warp;
  x = sum_of_warp(x);
  __syncthreads();
  if (lane == 0) parts[mine] = x;
  __syncthreads();
  return sum_of_warp(lane < blockDim.x / warp ? parts[lane] : 0.0F);
}
__device__ float maximum_of_block(float x) {
  __shared__ float parts[warp];
  const int lane = threadIdx.x % warp, mine = threadIdx.x / warp;
  x = maximum_of_warp(x);
  __syncthreads();
  if (lane == 0) parts[mine] = x;
  __syncthreads();
  return maximum_of_warp(lane < blockDim.x / warp ? parts[lane] : -INFINITY);
}

// --- Forward ---

__global__ void encode(X* out, const int* tokens, const X* wte, const X* wpe, int count, int length,
                       int channels) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * Pack::size;
  if (i >= count) return;
  const int place = i / channels, c = i % channels;
  const Pack token = load(wte + long(tokens[place]) * channels + c),
             position = load(wpe + place % length * channels + c);
  Pack sum;
  for (int k = 0; k < Pack::size; ++k) sum.at[k] = X(float(token.at[k]) + float(position.at[k]));
  store(out + i, sum);
}

// A warp normalises a row, to which it adds another one if there is one.
__global__ void normalise(X* out, float* means, float* slopes, X* sums, const X* in, const X* more,
                          const X* weight, const X* bias, int rows, int channels) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warp, lane = threadIdx.x % warp;
  if (row >= rows) return;
  const long first = long(row) * channels;
  const X* from = in + first;
  if (more) {
    for (int c = lane * Pack::size; c < channels; c += warp * Pack::size) {
      const Pack left = load(in + first + c), right = load(more + first + c);
      Pack sum;
      for (int k = 0; k < Pack::size; ++k) sum.at[k] = X(float(left.at[k]) + float(right.at[k]));
      store(sums + first + c, sum);
    }
    from = sums + first;
    __syncwarp();
  }
  float sum = 0;
  for (int c = lane; c < channels; c += warp) sum += float(from[c]);
  const float mean = sum_of_warp(sum) / channels;
  sum = 0;
  for (int c = lane; c < channels; c += warp)
    sum += (float(from[c]) - mean) * (float(from[c]) - mean);
  const float slope = rsqrtf(sum_of_warp(sum) / channels + 1e-5F);
  for (int c = lane; c < channels; c += warp)
    out[first + c] = X((float(from[c]) - mean) * slope * float(weight[c]) + float(bias[c]));
  if (lane == 0) {
    means[row] = mean;
    slopes[row] = slope;
  }
}

struct Heads {
  int batch, length, heads, size;
  __host__ __device__ int count() const { return batch * length * heads * size; }
  // Of element i of (batch, heads, length, size) in (batch, length, heads, size) of so many parts.
  __device__ long beside(int i, int parts) const {
    const int c = i % size, t = i / size % length, h = i / size / length % heads,
              b = i / size / length / heads;
    return ((long(b) * length + t) * parts * heads + h) * size + c;
  }
};
__global__ void take_apart(X* q, X* k, X* v, const X* qkv, Heads s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.count()) return;
  const long at = s.beside(i, 3);
  const int part = s.heads * s.size;
  q[i] = qkv[at];
  k[i] = qkv[at + part];
  v[i] = qkv[at + 2 * part];
}
__global__ void put_together(X* qkv, const X* q, const X* k, const X* v, Heads s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.count()) return;
  const long at = s.beside(i, 3);
  const int part = s.heads * s.size;
  qkv[at] = q[i];
  qkv[at + part] = k[i];
  qkv[at + 2 * part] = v[i];
}
__global__ void join_heads(X* out, const X* in, Heads s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.count()) out[s.beside(i, 1)] = in[i];
}
__global__ void part_heads(X* out, const X* in, Heads s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.count()) out[i] = in[s.beside(i, 1)];
}

// A warp has a row of scores, of which those of later tokens do not count.
__global__ void soften(X* out, const X* in, float scale, int rows, int length) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warp, lane = threadIdx.x % warp;
  if (row >= rows) return;
  const X* from = in + long(row) * length;
  const int last = row % length;
  float maximum = -INFINITY, sum = 0;
  for (int i = lane; i <= last; i += warp) maximum = fmaxf(maximum, float(from[i]));
  maximum = maximum_of_warp(maximum);
  for (int i = lane; i <= last; i += warp) sum += expf(scale * (float(from[i]) - maximum));
  sum = 1 / sum_of_warp(sum);
  for (int i = lane; i < length; i += warp)
    out[long(row) * length + i] =
        X(i <= last ? expf(scale * (float(from[i]) - maximum)) * sum : 0.0F);
}
__global__ void soften_backward(X* gradients, const X* softened, float scale, int rows,
                                int length) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warp, lane = threadIdx.x % warp;
  if (row >= rows) return;
  const X* p = softened + long(row) * length;
  X* g = gradients + long(row) * length;
  const int last = row % length;
  float sum = 0;
  for (int i = lane; i <= last; i += warp) sum += float(p[i]) * float(g[i]);
  sum = sum_of_warp(sum);
  for (int i = lane; i < length; i += warp)
    g[i] = X(i <= last ? scale * float(p[i]) * (float(g[i]) - sum) : 0.0F);
}

// Losses of a row of scores, which becomes their gradients.
__global__ void __launch_bounds__(1024)
    classify(X* scores, float* losses, const int* targets, float share, int vocabulary, int padded,
             bool gradients) {
  X* row = scores + long(blockIdx.x) * padded;
  const int target = targets[blockIdx.x];
  float maximum = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < vocabulary; i += blockDim.x)
    maximum = fmaxf(maximum, float(row[i]));
  maximum = maximum_of_block(maximum);
  for (int i = threadIdx.x; i < vocabulary; i += blockDim.x) sum += expf(float(row[i]) - maximum);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + maximum - float(row[target]);
  if (!gradients) return;
  __syncthreads();
  for (int i = threadIdx.x; i < padded; i += blockDim.x)
    row[i] = X(i < vocabulary
                   ? (expf(float(row[i]) - maximum) / sum - (i == target ? 1.0F : 0.0F)) * share
                   : 0.0F);
}

// --- Backward ---

// Adds to the gradient of what was normalised.
__global__ void normalise_backward(X* to, const X* out, const X* in, const X* weight,
                                   const float* means, const float* slopes, int rows,
                                   int channels) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warp, lane = threadIdx.x % warp;
  if (row >= rows) return;
  const long first = long(row) * channels;
  const float mean = means[row], slope = slopes[row];
  float sum = 0, product = 0;
  for (int c = lane; c < channels; c += warp) {
    const float g = float(out[first + c]) * float(weight[c]);
    sum += g;
    product += g * (float(in[first + c]) - mean) * slope;
  }
  sum = sum_of_warp(sum) / channels;
  product = sum_of_warp(product) / channels;
  for (int c = lane; c < channels; c += warp) {
    const float x = (float(in[first + c]) - mean) * slope,
                g = float(out[first + c]) * float(weight[c]);
    to[first + c] = X(float(to[first + c]) + slope * (g - sum - x * product));
  }
}
// A block sums 32 channels over all rows.
__global__ void normalise_backward_weights(X* weight, X* bias, const X* out, const X* in,
                                           const float* means, const float* slopes, int rows,
                                           int channels) {
  __shared__ float weights[8][warp], biases[8][warp];
  const int lane = threadIdx.x % warp, mine = threadIdx.x / warp, c = blockIdx.x * warp + lane;
  float w = 0, b = 0;
  for (int row = mine; row < rows && c < channels; row += 8) {
    const float g = float(out[long(row) * channels + c]);
    b += g;
    w += g * (float(in[long(row) * channels + c]) - means[row]) * slopes[row];
  }
  weights[mine][lane] = w;
  biases[mine][lane] = b;
  __syncthreads();
  if (mine || c >= channels) return;
  for (int i = 1; i < 8; ++i) {
    w += weights[i][lane];
    b += biases[i][lane];
  }
  weight[c] = X(float(weight[c]) + w);
  bias[c] = X(float(bias[c]) + b);
}

// A block adds up what is there of one token; `bucket`: its number, and which of `places` are its.
__global__ void encode_backward_tokens(X* wte, const int4* buckets, const int* places, const X* out,
                                       int channels) {
  const int4 bucket = buckets[blockIdx.x];
  for (int c = threadIdx.x; c < channels; c += blockDim.x) {
    float sum = 0;
    for (int i = 0; i < bucket.z; ++i) sum += float(out[long(places[bucket.y + i]) * channels + c]);
    X& to = wte[long(bucket.x) * channels + c];
    to = X(float(to) + sum);
  }
}
__global__ void encode_backward_positions(X* wpe, const X* out, int batch, int length,
                                          int channels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length * channels) return;
  float sum = 0;
  for (int b = 0; b < batch; ++b) sum += float(out[long(b) * length * channels + i]);
  wpe[i] = X(float(wpe[i]) + sum);
}

// --- The update ---

__global__ void sum_squares(float* parts, const X* of, long count) {
  float sum = 0;
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += long(gridDim.x) * blockDim.x)
    sum += float(of[i]) * float(of[i]);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
__global__ void add_parts(float* to, const float* parts, int count) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += parts[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *to = sum;
}
struct Rates {
  float rate, first, second, first_correction, second_correction, epsilon, decay, scale;
};
__global__ void update(X* parameters, const X* gradients, float* m, float* v, long count, Rates r) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float g = r.scale * float(gradients[i]), old = float(parameters[i]);
  const float first = m[i] = r.first * m[i] + (1 - r.first) * g;
  const float second = v[i] = r.second * v[i] + (1 - r.second) * g * g;
  const float step = first / r.first_correction / (sqrtf(second / r.second_correction) + r.epsilon);
  parameters[i] = X(old - r.rate * (step + r.decay * old));
}
__global__ void move(X* parameters, const X* gradients, long count, float distance) {
  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) parameters[i] = X(float(parameters[i]) + distance * float(gradients[i]));
}
