/// Trace of a launch's floats whose values depend on the order of threads.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "models/isa/interpreter/inexact/inexact_memory.hpp"
#include "models/isa/program.hpp"

namespace lockstep::isa {

/// Returns whether the instruction's sums depend on the order of threads.
bool adds_floats(const Instruction& instruction);
bool adds_floats(const Program& program);

class FloatTrace {
 public:
  /// State of a word, which was last stored, or which `additions` atomics have changed.
  struct Word {
    Type type = Type::none;  ///< type of the last store; none: not touched, or stored as an integer
    bool is_stored = false;
    std::uint32_t additions = 0;
    float magnitude = 0;
  };

  explicit FloatTrace(const InexactMemory& before) : before_(before) {}

  /// Returns a trace for another thread; `take` joins both.
  FloatTrace another() const { return FloatTrace(before_); }
  void take(const FloatTrace& other);

  void load(std::uint64_t address, unsigned bytes) {
    const std::uint64_t number = address / WordMap<Word>::page_bytes;
    Loaded& loaded = loaded_[number % loaded_.size()];
    if (loaded.number != number)
      loaded = {number, before_.words().page(number), words_.page(number)};
    if (loaded.before != nullptr || loaded.now != nullptr) look_at(loaded, address, bytes);
  }
  /// `type` none: an integer. NaN and infinity have the magnitude 0.
  void store(std::uint64_t address, Type type, float magnitude) {
    const std::uint64_t number = address / WordMap<Word>::page_bytes;
    WordMap<Word>::Page& page = words_.page_at(number);
    page[address / 4 % WordMap<Word>::page_words] = {type, true, 0, magnitude};
    remember(number, page);
  }
  /// Notes that an atomic adds to a word; `sum` is the value of the word afterwards.
  void add(std::uint64_t address, Type type, double added, double sum);
  /// Notes a use of a sum other than by a load: of shared memory, or of the value that an atomic
  /// returned. Counts a sum whose result is used as one of 1,024 addends.
  void use_sum(Type type);
  /// Returns whether the kernel uses the value that the atomic at `pc` returns.
  bool uses_result(const Program& program, std::uint32_t pc);

  const WordMap<Word>& words() const { return words_; }
  /// Returns the worst of the floats that the kernel has read.
  const Inexactness& read() const { return read_; }

 private:
  /// Page from which the kernel loads, before the launch and now.
  struct Loaded {
    std::uint64_t number = ~std::uint64_t{0};
    const WordMap<InexactMemory::Word>::Page* before = nullptr;
    const WordMap<Word>::Page* now = nullptr;
  };
  /// The page may be new.
  void remember(std::uint64_t number, const WordMap<Word>::Page& page) {
    Loaded& loaded = loaded_[number % loaded_.size()];
    if (loaded.number == number) loaded.now = &page;
  }
  void look_at(const Loaded& loaded, std::uint64_t address, unsigned bytes);

  const InexactMemory& before_;
  WordMap<Word> words_;
  Inexactness read_;
  /// Whether the result of the instruction at each pc is used.
  std::unordered_map<std::uint32_t, bool> uses_result_;
  std::array<Loaded, 16> loaded_;
};

}  // namespace lockstep::isa
