// Survey propagation on a formula of clauses of three literals (Braunstein, Mezard, Zecchina 2005):
// a clause sends each of its variables a survey, the chance that it needs this variable to have its
// sign.  A literal is twice its variable, and one more where the variable is negated; surveys and
// literals have the number of their place in the formula.
#pragma once

namespace survey {

constexpr unsigned width = 3;  // literals of a clause

// The places of a variable's literals are place[first[v]] up to, not including, place[first[v] +
// count[v]].
struct Formula {
  const unsigned* __restrict__ literal;
  const unsigned* __restrict__ first;
  const unsigned* __restrict__ count;
  const unsigned* __restrict__ place;
};

// Where a variable's places begin: behind those of another, which depends on who comes first.
__device__ __forceinline__ void reserve(const unsigned* __restrict__ count,
                                        unsigned* __restrict__ first, unsigned* __restrict__ filled,
                                        unsigned* used, unsigned variable) {
  first[variable] = atomicAdd(used, count[variable]);
  filled[variable] = 0;
}

// Puts place i down with its variable, behind those that came before.
__device__ __forceinline__ void fill(const unsigned* __restrict__ literal,
                                     const unsigned* __restrict__ first, unsigned* filled,
                                     unsigned* __restrict__ place, unsigned i) {
  const unsigned variable = literal[i] / 2;
  place[first[variable] + atomicAdd(&filled[variable], 1)] = i;
}

// Puts a variable's places in order, so that products of surveys are the same in each run.
__device__ __forceinline__ void sort(const unsigned* __restrict__ first,
                                     const unsigned* __restrict__ count,
                                     unsigned* __restrict__ place, unsigned variable) {
  unsigned* const own = place + first[variable];
  for (unsigned end = 1; end < count[variable]; ++end) {
    const unsigned moved = own[end];
    unsigned i = end;
    for (; i > 0 && own[i - 1] > moved; --i) own[i] = own[i - 1];
    own[i] = moved;
  }
}

// Of the surveys that a variable gets, but for the one of place `except`: the chance that no clause
// of the same sign as `literal`, and that no clause of the other sign, needs it.
struct Chances {
  float like = 1, unlike = 1;
};
__device__ __forceinline__ Chances gathered(const Formula& formula,
                                            const float* __restrict__ surveys, unsigned literal,
                                            unsigned except) {
  Chances chances;
  const unsigned begin = formula.first[literal / 2];
  const unsigned end = begin + formula.count[literal / 2];
  for (unsigned i = begin; i < end; ++i) {
    const unsigned place = formula.place[i];
    if (place == except) continue;
    const float free = 1 - surveys[place];
    if (((formula.literal[place] ^ literal) & 1) == 0) {
      chances.like *= free;
    } else {
      chances.unlike *= free;
    }
  }
  return chances;
}

// The chance that the variable of a place cannot help the place's clause, since clauses of the
// other sign need it.
__device__ __forceinline__ float forced_away(const Formula& formula,
                                             const float* __restrict__ surveys, unsigned place) {
  const Chances chances = gathered(formula, surveys, formula.literal[place], place);
  const float away = (1 - chances.unlike) * chances.like;
  const float here = (1 - chances.like) * chances.unlike;
  const float sum = away + here + chances.like * chances.unlike;
  return sum > 0 ? away / sum : 0;
}

// The new surveys of a clause: for each variable the chance that both others cannot help.
__device__ __forceinline__ void update(const Formula& formula, const float* __restrict__ surveys,
                                       float* __restrict__ updated, unsigned clause) {
  float away[width];
#pragma unroll 1
  for (unsigned i = 0; i < width; ++i) {
    const float chance = forced_away(formula, surveys, clause * width + i);
    away[0] = i == 0 ? chance : away[0];
    away[1] = i == 1 ? chance : away[1];
    away[2] = i == 2 ? chance : away[2];
  }
  updated[clause * width] = away[1] * away[2];
  updated[clause * width + 1] = away[0] * away[2];
  updated[clause * width + 2] = away[0] * away[1];
}

// How much more likely a variable has to be true than false, from -1 to 1.
__device__ __forceinline__ float bias(const Formula& formula, const float* __restrict__ surveys,
                                      unsigned variable) {
  const Chances chances = gathered(formula, surveys, variable * 2, 0xffffffffu);
  const float truth = (1 - chances.like) * chances.unlike;
  const float falsehood = (1 - chances.unlike) * chances.like;
  const float sum = truth + falsehood + chances.like * chances.unlike;
  return sum > 0 ? (truth - falsehood) / sum : 0;
}

}  // namespace survey
