// mb_sad_calc of Parboil's sad: a block takes 4 x 4 pixels of one frame to all places of a search area in another one,
// a texture.  A thread adds up the differences at 18 of the 33 x 33 places; the block writes them all.
constexpr int range = 16, across = 2 * range + 1, places = across * across, padded = 1096, each = 18;

extern "C" __global__ void sad(unsigned short* sums, const unsigned short* frame, cudaTextureObject_t reference,
                               int width) {
  __shared__ unsigned short mine[16], found[padded];
  const int x = blockIdx.x * 4, y = blockIdx.y * 4;
  if (threadIdx.x < 16) mine[threadIdx.x] = frame[(y + threadIdx.x / 4) * width + x + threadIdx.x % 4];
  __syncthreads();
  const int first = threadIdx.x * each;
  for (int place = first; place < min(first + each, places); ++place) {
    const int at_x = x - range + place % across, at_y = y - range + place / across;
    unsigned sum = 0;
#pragma unroll
    for (int row = 0; row < 4; ++row)
#pragma unroll
      for (int column = 0; column < 4; ++column) {
        const int there = tex2D<unsigned short>(reference, at_x + column, at_y + row);
        sum += abs(there - mine[row * 4 + column]);
      }
    found[place] = sum;
  }
  __syncthreads();
  // Two sums a word.
  unsigned* out = reinterpret_cast<unsigned*>(sums) + (blockIdx.y * gridDim.x + blockIdx.x) * (padded / 2);
  for (int i = threadIdx.x; i < padded / 2; i += blockDim.x) out[i] = reinterpret_cast<unsigned*>(found)[i];
}
