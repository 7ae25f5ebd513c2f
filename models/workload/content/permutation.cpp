/// Initial content `permutation`: the numbers 0 to count - 1 in random order.
///
/// A bijection of the next power of two is applied until the result lies below count (cycle
/// walking), so that each element is found without the others.  The bijection is four rounds of
/// "times an odd number, plus a number, xor with itself shifted right", all modulo the power of
/// two.
///
/// Simplified: not every order is possible, as with any generator with a 64-bit seed.
#include <bit>

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

class Permutation final : public Content {
 public:
  Permutation(isa::Type type, std::uint64_t count, std::uint64_t seed)
      : type_(type), count_(count), bits_(static_cast<unsigned>(std::bit_width(count - 1))) {
    RandomNumbers numbers(seed, ContentPurpose::permutation);
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      rounds_[i] = {numbers.at(2 * i) | 1, numbers.at(2 * i + 1)};
    }
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    for_each_element(type_, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      std::uint64_t value = mix(index);
      while (value >= count_) value = mix(value);
      if (isa::is_float(type_)) {
        store_element(type_, static_cast<double>(value), place);
      } else {
        put_integer(type_, value, place);
      }
    });
  }

 private:
  struct Round {
    std::uint64_t factor = 1, addend = 0;
  };

  std::uint64_t mix(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    for (const Round& round : rounds_) {
      value = (value * round.factor + round.addend) & mask;
      value ^= value >> (bits_ / 2 + 1);
    }
    return value;
  }

  isa::Type type_;
  std::uint64_t count_;
  unsigned bits_;
  std::array<Round, 4> rounds_;
};

}  // namespace

std::shared_ptr<const Content> make_permutation(const Buffer& buffer) {
  check_fits(buffer, static_cast<double>(buffer.count - 1));
  return std::make_shared<Permutation>(buffer.type, buffer.count, buffer.initial.seed);
}

}  // namespace lockstep
