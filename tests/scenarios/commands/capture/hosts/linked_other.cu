// The other file of linked_main.cu.
__device__ int counter = 1;
__constant__ int steps[4] = {0, 10, 20, 30};
static __device__ int hidden = 90;
static __device__ int own(int value) { return value + hidden; }
__device__ int doubled(int value) { return 2 * value; }
__device__ int add_ten(int value) { return value + 10; }
__device__ int (*operation)(int) = add_ten;

__global__ void increase() { counter += own(10); }
void bump() { increase<<<1, 1>>>(); }
