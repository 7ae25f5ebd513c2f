// The other file of pointers_main.cu.
using Operation = int (*)(int);
static __device__ int ten_times(int x) { return 10 * x; }
static __device__ int hundred_times(int x) { return 100 * x; }
static __device__ int plus_seven(int x) { return x + 7; }
static __device__ Operation table[3] = {ten_times, hundred_times, plus_seven};
struct Choice {
  int unused;
  Operation operation;
};
static __global__ void apply(Operation operation, int* to) { *to = operation(*to); }
static __global__ void apply_chosen(Choice choice, int* to) { *to = table[2](choice.operation(*to)); }

void apply_other(int* to) {
  Operation chosen[3];
  cudaMemcpyFromSymbol(chosen, table, sizeof chosen);
  apply<<<1, 1>>>(chosen[0], to);
  apply_chosen<<<1, 1>>>({0, chosen[1]}, to);
}
