// Streams of doubles, an element a thread; dynamic shared memory limits the blocks of an SM (te42kyfo/gpu-benches,
// gpu-stream).
#define ELEMENT(i)                                          \
  const int i = threadIdx.x + blockIdx.x * blockDim.x;      \
  if (i >= n) return;

extern "C" __global__ void init(double* a, int n) {
  ELEMENT(i)
  a[i] = 0.23;
}
// The store never happens, and the compiler cannot know.
extern "C" __global__ void read(double* a, const double* b, int n) {
  ELEMENT(i)
  const double value = b[i];
  if (value == 123.0) a[i] = value;
}
extern "C" __global__ void scale(double* a, const double* b, int n) {
  ELEMENT(i)
  a[i] = b[i] * 1.2;
}
extern "C" __global__ void triad(double* a, const double* b, const double* c, int n) {
  ELEMENT(i)
  a[i] = fma(b[i], 1.2, c[i]);
}
// b has an element more at each end.
extern "C" __global__ void points(double* a, const double* b, int n) {
  ELEMENT(i)
  a[i] = fma(0.5, b[i + 1], fma(-1.0, b[i], 0.5 * b[i + 2]));
}
