// Block matching for video: sums of absolute differences between the 4 x 4 pixel blocks of a frame
// and a reference frame displaced by up to `range` pixels, then those of 8 x 8 and 16 x 16 blocks
// as sums of four smaller ones. The reference frame continues beyond its border.
constexpr int side = 16;   // pixels of a macroblock in each direction
constexpr int parts = 16;  // 4 x 4 blocks of a macroblock
constexpr int lanes = 32;  // threads side by side over the displacements

// 32 x 16 threads per macroblock: a row of threads for each of its 4 x 4 blocks.
extern "C" __global__ void sad_4(const unsigned char* __restrict__ frame,
                                 const unsigned char* __restrict__ reference,
                                 unsigned short* __restrict__ sums, int width, int height,
                                 int range) {
  __shared__ unsigned char pixel[side][side];
  const int left = blockIdx.x * side;
  const int top = blockIdx.y * side;
  const int thread = threadIdx.y * lanes + threadIdx.x;
  if (thread < side * side) {
    const int row = thread / side;
    const int column = thread % side;
    pixel[row][column] = frame[(top + row) * width + left + column];
  }
  __syncthreads();
  const int span = 2 * range + 1;
  const int part_x = threadIdx.y % 4 * 4;
  const int part_y = threadIdx.y / 4 * 4;
  const int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
  unsigned short* out = sums + (macroblock * parts + threadIdx.y) * span * span;
#pragma unroll 1
  for (int position = threadIdx.x; position < span * span; position += lanes) {
    const int from_y = top + part_y + position / span - range;
    const int from_x = left + part_x + position % span - range;
    int sum = 0;
#pragma unroll
    for (int y = 0; y < 4; ++y) {
      const int row = min(max(from_y + y, 0), height - 1) * width;
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        const int other = reference[row + min(max(from_x + x, 0), width - 1)];
        sum += abs(pixel[part_y + y][part_x + x] - other);
      }
    }
    out[position] = static_cast<unsigned short>(sum);
  }
}

// A block of threads per larger block: the sum of the smaller ones at `first`, the next one to the
// right and the two `below` further on.
__device__ __forceinline__ void add_four(const unsigned short* __restrict__ small,
                                         unsigned short* __restrict__ large, int first, int below,
                                         int positions) {
#pragma unroll 1
  for (int position = threadIdx.x; position < positions; position += blockDim.x) {
    const int upper =
        small[first * positions + position] + small[(first + 1) * positions + position];
    const int lower = small[(first + below) * positions + position] +
                      small[(first + below + 1) * positions + position];
    large[blockIdx.x * positions + position] = static_cast<unsigned short>(upper + lower);
  }
}

extern "C" __global__ void sad_8(const unsigned short* __restrict__ of_4,
                                 unsigned short* __restrict__ of_8, int positions) {
  const int quarter = blockIdx.x % 4;
  const int first = blockIdx.x / 4 * parts + quarter / 2 * 8 + quarter % 2 * 2;
  add_four(of_4, of_8, first, 4, positions);
}

extern "C" __global__ void sad_16(const unsigned short* __restrict__ of_8,
                                  unsigned short* __restrict__ of_16, int positions) {
  add_four(of_8, of_16, 4 * blockIdx.x, 2, positions);
}
