/// What the kernels of one launch do to floats that depend on the order of threads.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "models/isa/interpreter/inexact/inexact_memory.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Whether the instruction's sums depend on the order of threads.
bool adds_floats(const Instruction& instruction);
bool adds_floats(const Program& program);

class FloatTrace {
 public:
  /// Last of all, a word was stored, or changed by so many atomics.
  struct Word {
    Type type = Type::none;  ///< none: not touched, or stored as an integer
    bool is_stored = false;
    std::uint32_t additions = 0;
    float magnitude = 0;
  };

  explicit FloatTrace(const InexactMemory& before) : before_(before) {}

  /// The same for another thread; `take` puts together what both saw.
  FloatTrace another() const { return FloatTrace(before_); }
  void take(const FloatTrace& other);

  void load(std::uint64_t address, unsigned bytes) {
    const std::uint64_t number = address / WordMap<Word>::page_bytes;
    if (number != loaded_page_) look_at_page(number);
    if (page_before_ != nullptr || page_now_ != nullptr) look_at(address, bytes);
  }
  void store(std::uint64_t address, Type type, double value);
  /// An atomic: `sum` is what stands there then.
  void add(std::uint64_t address, Type type, double added, double sum);
  /// The kernel uses a sum other than by loading it: of shared memory, or what an atomic returned.
  /// It is taken for one of 1,024 addends.
  void use_sum(Type type);
  /// Whether the kernel has a use for what the atomic at `pc` returns.
  bool uses_result(const Program& program, std::uint32_t pc);

  const WordMap<Word>& words() const { return words_; }
  /// What the kernel has read, at worst.
  const Inexactness& read() const { return read_; }

 private:
  void look_at_page(std::uint64_t number);
  void look_at(std::uint64_t address, unsigned bytes);

  const InexactMemory& before_;
  WordMap<Word> words_;
  Inexactness read_;
  std::unordered_map<std::uint32_t, bool> uses_result_;  ///< by pc
  std::uint64_t loaded_page_ = ~std::uint64_t{0};
  const WordMap<InexactMemory::Word>::Page* page_before_ = nullptr;
  const WordMap<Word>::Page* page_now_ = nullptr;
};

}  // namespace lockstep::isa
