// The third file of names_main.cu.
#include <cstdio>

static __device__ int hidden = 500;

__device__ int third(int i) {
  if (i == 3) printf("third: %d\n", hidden);
  if (i == 4) printf("third, again and again: %d\n", hidden);
  return 5 * i;
}
