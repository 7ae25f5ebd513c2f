// Survey propagation (survey.cuh) by persistent warps: a warp goes through many literals, variables
// or clauses.
#include "survey.cuh"
#include "warp_ranges.cuh"

extern "C" __global__ void persistent_count(const unsigned* __restrict__ literal, unsigned* count,
                                            unsigned literals, unsigned range) {
  warp_ranges::visit_all(literals, range,
                         [&](unsigned i) { atomicAdd(&count[literal[i] / 2], 1); });
}

extern "C" __global__ void persistent_reserve(const unsigned* __restrict__ count,
                                              unsigned* __restrict__ first,
                                              unsigned* __restrict__ filled, unsigned* used,
                                              unsigned variables, unsigned range) {
  warp_ranges::visit_all(variables, range, [&](unsigned variable) {
    survey::reserve(count, first, filled, used, variable);
  });
}

extern "C" __global__ void persistent_fill(const unsigned* __restrict__ literal,
                                           const unsigned* __restrict__ first, unsigned* filled,
                                           unsigned* __restrict__ place, unsigned literals,
                                           unsigned range) {
  warp_ranges::visit_all(literals, range,
                         [&](unsigned i) { survey::fill(literal, first, filled, place, i); });
}

extern "C" __global__ void persistent_sort(const unsigned* __restrict__ first,
                                           const unsigned* __restrict__ count,
                                           unsigned* __restrict__ place, unsigned variables,
                                           unsigned range) {
  warp_ranges::visit_all(variables, range,
                         [&](unsigned variable) { survey::sort(first, count, place, variable); });
}

extern "C" __global__ void persistent_update(survey::Formula formula,
                                             const float* __restrict__ surveys,
                                             float* __restrict__ updated, unsigned clauses,
                                             unsigned range) {
  warp_ranges::visit_all(
      clauses, range, [&](unsigned clause) { survey::update(formula, surveys, updated, clause); });
}

extern "C" __global__ void persistent_biases(survey::Formula formula,
                                             const float* __restrict__ surveys,
                                             float* __restrict__ bias, unsigned variables,
                                             unsigned range) {
  warp_ranges::visit_all(variables, range, [&](unsigned variable) {
    bias[variable] = survey::bias(formula, surveys, variable);
  });
}
