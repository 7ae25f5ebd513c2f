// Inverted index of a text (word_index.cuh) by persistent warps: a warp goes through many words of
// the text, and then through many words of the vocabulary.
#include "warp_ranges.cuh"
#include "word_index.cuh"

extern "C" __global__ void persistent_clear(unsigned* __restrict__ key, unsigned* __restrict__ head,
                                            unsigned slots, unsigned range) {
  warp_ranges::visit_all(slots, range, [&](unsigned i) {
    key[i] = word_index::empty;
    head[i] = word_index::empty;
  });
}

extern "C" __global__ void persistent_insert(const unsigned* __restrict__ text, unsigned* key,
                                             unsigned* head, unsigned* __restrict__ next,
                                             unsigned words, unsigned slots, unsigned range) {
  warp_ranges::visit_all(words, range,
                         [&](unsigned i) { word_index::insert(text, key, head, next, i, slots); });
}

extern "C" __global__ void persistent_look_up(const unsigned* __restrict__ key,
                                              const unsigned* __restrict__ head,
                                              const unsigned* __restrict__ next,
                                              unsigned* __restrict__ occurrences,
                                              unsigned* __restrict__ first,
                                              unsigned* __restrict__ last, unsigned vocabulary,
                                              unsigned slots, unsigned document, unsigned range) {
  warp_ranges::visit_all(vocabulary, range, [&](unsigned word) {
    word_index::look_up(key, head, next, occurrences, first, last, word, slots, document);
  });
}
