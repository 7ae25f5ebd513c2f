/// Floats in global memory whose last digits depend on the order of threads: sums that atomics
/// made, and values that kernels computed from such sums.
///
/// A sum of n addends is taken to be off by up to 4 sqrt(n) units, where a unit is half of the last
/// place (2^-24 for f32) of the largest magnitude that the sum or an addend had on the way. A value
/// that a kernel stores after it has read such floats is taken to be off by twice as many units as
/// the worst float read, with units of the largest magnitude that the launch has stored around it.
/// Never more than half of the digits are taken to be off. Source: Higham, "Accuracy and Stability
/// of Numerical Algorithms", 2nd edition, 2002, sections 2.8 and 4.2 (errors of sums in any order
/// grow with the square root of n as a rule).
///
/// Simplified: words of 4 bytes are followed, so that two f16 or bf16 in one word count as one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "models/isa/interpreter/inexact/inexact_floats.hpp"
#include "models/isa/types.hpp"

namespace lockstep::isa {

/// Returns half of the last place of 1.
double unit_roundoff(Type type);

/// Inexactness of a float: its possible error, in units of the coarsest type on its way.
struct Inexactness {
  float unit = 0, growth = 0;

  bool is_exact() const { return growth == 0; }
  void include(const Inexactness& other);
  double tolerance() const;
};

/// Values of type T for words of memory, few of which differ from T{}.
template <class T>
class WordMap {
 public:
  static constexpr std::uint64_t page_words = 256, page_bytes = 4 * page_words;
  using Page = std::array<T, page_words>;

  T& at(std::uint64_t address) { return page_at(address / page_bytes)[address / 4 % page_words]; }
  Page& page_at(std::uint64_t number) {
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number != number) {
      std::unique_ptr<Page>& page = pages_[number];
      if (!page) page = std::make_unique<Page>();
      recent = {number, page.get()};
    }
    return *recent.page;
  }
  const Page* page(std::uint64_t number) const {
    const auto found = pages_.find(number);
    return found == pages_.end() ? nullptr : found->second.get();
  }
  bool empty() const { return pages_.empty(); }

  /// Calls function(address, value) for the words of existing pages, in their order.
  template <class Function>
  void for_each(std::uint64_t begin, std::uint64_t end, const Function& function) const {
    for (auto p = pages_.lower_bound(begin / page_bytes);
         p != pages_.end() && p->first * page_bytes < end; ++p)
      for (std::uint64_t w = 0; w < page_words; ++w) {
        const std::uint64_t address = p->first * page_bytes + 4 * w;
        if (address + 4 > begin && address < end) function(address, (*p->second)[w]);
      }
  }
  template <class Function>
  void for_each(const Function& function) const {
    for_each(0, ~std::uint64_t{0}, function);
  }

 private:
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };

  std::map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Recent, 16> recent_;
};

class FloatTrace;

class InexactMemory {
 public:
  struct Word {
    Type type = Type::none;  ///< none: exact; f64 is noted at its first word
    float magnitude = 0;
    Inexactness off;
  };

  bool empty() const { return words_.empty(); }
  const WordMap<Word>& words() const { return words_; }
  /// Takes over the effects of a launch.
  void apply(const FloatTrace& trace);
  /// Notes that exact values were put there.
  void clear(std::uint64_t address, std::uint64_t bytes);
  /// Copies the notes of `other` about its bytes at `from`.
  void copy(std::uint64_t to, const InexactMemory& other, std::uint64_t from, std::uint64_t bytes);
  /// Returns the inexact floats in the order of addresses, with offsets from `address` on.  More
  /// than `most` ranges are joined: first ranges of different magnitudes, then ranges with other
  /// words in between.
  std::vector<InexactFloats> ranges(std::uint64_t address, std::uint64_t bytes,
                                    std::size_t most) const;

 private:
  void clear_word(std::uint64_t address);

  WordMap<Word> words_;
};

}  // namespace lockstep::isa
