#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace lockstep::isa {

/// A random PTX kernel `k(out, in, n)`: integer, 64-bit and float arithmetic, guards, divergent
/// branches and loops, shared and global memory, shuffles, barriers, reductions.  Every thread
/// writes only its own part of `out` (words_per_thread words), so that the result does not depend
/// on the order of threads.
class RandomKernel {
 public:
  static constexpr unsigned words_per_thread = 48;
  static constexpr unsigned input_words = 64;

  explicit RandomKernel(std::uint64_t seed);
  virtual ~RandomKernel();

  std::string text();

 protected:
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned n) { return pick(n) == 0; }
  template <std::size_t n>
  const char* one_of(const char* const (&list)[n]) {
    return list[pick(n)];
  }
  std::string r();
  std::string rd();
  std::string f();
  std::string p();
  std::string immediate();
  std::string r_or_immediate();
  std::string fv();
  void line(const std::string& text);

  /// One statement that may stand in divergent code; others build on it.
  virtual void statement(unsigned depth);
  void integer();
  void wide();
  void floating();
  void predicate();
  void move();

  // The thread's own 64 bytes of shared memory: neighbouring loads merge, stores come between.
  void shared();
  void global();

  // What compilers make of out[index + constant].
  void address_pattern();
  std::string label();
  void branch(unsigned depth);
  void loop(unsigned depth);

  // All threads are here: values pass through shared memory.
  void exchange();
  void shuffle();
  std::string header();
  std::string initial_values();
  std::string footer();

  std::mt19937_64 random_;
  std::string body_;
  unsigned labels_ = 0;
};

}  // namespace lockstep::isa
