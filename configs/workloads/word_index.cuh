// Inverted index of a text: a hash table with open addressing maps each word to a list of its
// places. Threads claim slots by compare-and-swap and put places in front of lists by exchange, so
// slots and the order of a list depend on who comes first; what is looked up afterwards does not.
#pragma once

namespace word_index {

constexpr unsigned empty = 0xffffffffu;

__device__ __forceinline__ unsigned first_slot(unsigned word, unsigned slots) {
  return word * 2654435761u & (slots - 1);
}

// Puts place i of the text into the list of its word. There are more slots, a power of two, than
// different words.
__device__ __forceinline__ void insert(const unsigned* __restrict__ text, unsigned* key,
                                       unsigned* head, unsigned* __restrict__ next, unsigned i,
                                       unsigned slots) {
  const unsigned word = text[i];
  unsigned slot = first_slot(word, slots);
  while (true) {
    const unsigned found = atomicCAS(&key[slot], empty, word);
    if (found == empty || found == word) break;
    slot = (slot + 1) & (slots - 1);
  }
  next[i] = atomicExch(&head[slot], i);
}

// How often a word occurs, in which documents first and last.
__device__ __forceinline__ void look_up(const unsigned* __restrict__ key,
                                        const unsigned* __restrict__ head,
                                        const unsigned* __restrict__ next,
                                        unsigned* __restrict__ occurrences,
                                        unsigned* __restrict__ first, unsigned* __restrict__ last,
                                        unsigned word, unsigned slots, unsigned document) {
  unsigned slot = first_slot(word, slots);
  while (key[slot] != word && key[slot] != empty) slot = (slot + 1) & (slots - 1);
  unsigned count = 0;
  unsigned earliest = empty;
  unsigned latest = 0;
  if (key[slot] == word) {
    for (unsigned place = head[slot]; place != empty; place = next[place]) {
      ++count;
      earliest = min(earliest, place);
      latest = max(latest, place);
    }
  }
  occurrences[word] = count;
  first[word] = count != 0 ? earliest / document : empty;
  last[word] = count != 0 ? latest / document : empty;
}

}  // namespace word_index
