// The second file of names_main.cu.
#include <cstdio>

static __device__ int hidden = 50;
static __constant__ int table[4] = {11, 12, 13, 14};

__device__ int other(int i) {
  if (i == 7) printf("a much longer string of the second file, lane %d\n", i);
  if (i == 8) printf("and another\n");
  if (i == 9) printf("and a third one, %d\n", hidden);
  return 3 * i + table[i % 4];
}
void change_other() {
  const int values[4] = {100, 200, 300, 400};
  cudaMemcpyToSymbol(table, values, sizeof values);
}
int other_table() {
  int values[4];
  cudaMemcpyFromSymbol(values, table, sizeof values);
  return values[3];
}
