/// Random statements of single threads for kernels of RandomProgram: each leaves the same values
/// however threads are interleaved.
#pragma once

#include <cstdint>
#include <string>

#include "tests/harness/random_kernel.hpp"

namespace lockstep::testing {

inline std::string number(std::uint64_t value) {
  return std::to_string(value);
}

/// The buffer in which every thread owns elements of each width between those of its neighbours:
/// rows of one width follow each other, from a place that only the number of threads decides.
struct WovenRows {
  static constexpr unsigned per_width = 3;
  static constexpr unsigned widths[] = {1, 2, 4, 8, 16};

  unsigned threads = 0;

  /// Padded so that every row is aligned.
  unsigned padded() const { return (threads + 15) / 16 * 16; }
  unsigned first_of(unsigned width) const {
    unsigned at = 0;
    for (const unsigned w : widths) {
      if (w == width) break;
      at += per_width * w * padded();
    }
    return at;
  }
  unsigned bytes() const { return first_of(0); }
};

class RandomStatements : protected isa::RandomKernel {
 protected:
  static constexpr unsigned common_words = 16;  ///< of 8 bytes, per kernel parity

  explicit RandomStatements(std::uint64_t seed) : RandomKernel(seed) {}

  void statement(unsigned depth) override;
  void emit(const std::string& text) { body_ += text + ";\n"; }
  /// "+384]": a random row of words.
  std::string row_of_words();
  std::string load_operator();

  WovenRows rows_;
  unsigned block_ = 0;  ///< threads of the kernel being written

 private:
  void extra();
  // random_memory.cpp
  void narrow();
  void vector();
  void ordered();
  void own_atomic();
  void common_atomic();
  void read_previous();
  void local_array();
  void shared_bytes();
  void generic();
  void variables();
  void fence();
  void load_then_store();
  void copies();
  // random_arithmetic.cpp
  void call();
  void call_indirect();
  void indexed_branch();
  void double_precision();
  void half_precision();
  void eight_bit_precision();
  void more_integer();
  void video();

  std::string d() { return "%d" + number(pick(4)); }
  std::string h() { return "%h" + number(pick(4)); }
  /// "[%w4+384]": the thread's own `width` bytes in a random row of the woven buffer, from `byte`.
  std::string woven(unsigned width, unsigned byte = 0);
  std::string store_operator();
};

}  // namespace lockstep::testing
