// Survey propagation (survey.cuh), a thread per literal, variable or clause.
#include "survey.cuh"

extern "C" __global__ void count_literals(const unsigned* __restrict__ literal, unsigned* count,
                                          unsigned literals) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < literals) atomicAdd(&count[literal[i] / 2], 1);
}

extern "C" __global__ void reserve_places(const unsigned* __restrict__ count,
                                          unsigned* __restrict__ first,
                                          unsigned* __restrict__ filled, unsigned* used,
                                          unsigned variables) {
  const unsigned variable = blockIdx.x * blockDim.x + threadIdx.x;
  if (variable < variables) survey::reserve(count, first, filled, used, variable);
}

extern "C" __global__ void fill_places(const unsigned* __restrict__ literal,
                                       const unsigned* __restrict__ first, unsigned* filled,
                                       unsigned* __restrict__ place, unsigned literals) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < literals) survey::fill(literal, first, filled, place, i);
}

extern "C" __global__ void sort_places(const unsigned* __restrict__ first,
                                       const unsigned* __restrict__ count,
                                       unsigned* __restrict__ place, unsigned variables) {
  const unsigned variable = blockIdx.x * blockDim.x + threadIdx.x;
  if (variable < variables) survey::sort(first, count, place, variable);
}

extern "C" __global__ void update_surveys(survey::Formula formula,
                                          const float* __restrict__ surveys,
                                          float* __restrict__ updated, unsigned clauses) {
  const unsigned clause = blockIdx.x * blockDim.x + threadIdx.x;
  if (clause < clauses) survey::update(formula, surveys, updated, clause);
}

extern "C" __global__ void find_biases(survey::Formula formula, const float* __restrict__ surveys,
                                       float* __restrict__ bias, unsigned variables) {
  const unsigned variable = blockIdx.x * blockDim.x + threadIdx.x;
  if (variable < variables) bias[variable] = survey::bias(formula, surveys, variable);
}
