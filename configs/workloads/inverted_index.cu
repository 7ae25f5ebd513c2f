// Inverted index of a text (word_index.cuh), a thread per word of the text, then of the vocabulary.
#include "word_index.cuh"

extern "C" __global__ void index_clear(unsigned* __restrict__ key, unsigned* __restrict__ head,
                                       int slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= slots) return;
  key[i] = word_index::empty;
  head[i] = word_index::empty;
}

extern "C" __global__ void index_insert(const unsigned* __restrict__ text, unsigned* key,
                                        unsigned* head, unsigned* __restrict__ next, int words,
                                        unsigned slots) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  word_index::insert(text, key, head, next, i, slots);
}

extern "C" __global__ void index_look_up(const unsigned* __restrict__ key,
                                         const unsigned* __restrict__ head,
                                         const unsigned* __restrict__ next,
                                         unsigned* __restrict__ occurrences,
                                         unsigned* __restrict__ first, unsigned* __restrict__ last,
                                         int vocabulary, unsigned slots, unsigned document) {
  const unsigned word = blockIdx.x * blockDim.x + threadIdx.x;
  if (word >= vocabulary) return;
  word_index::look_up(key, head, next, occurrences, first, last, word, slots, document);
}
