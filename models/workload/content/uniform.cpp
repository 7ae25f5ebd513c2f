/// Initial content `uniform`: independent numbers in [low, high), and the weights of graphs.
///
/// Element i takes the i-th 64-bit number of its seed.  Integers: the high half of its product with
/// the number of choices (a bias of at most choices / 2^64).  Floats: 53 bits scaled in double
/// precision, then rounded to the type; a number that rounds up to `high` becomes `low`.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

/// Where to find the numbers of floats, and their range.
struct FloatRange {
  RandomNumbers numbers;
  double low, high;
};
using Floats = std::array<float, RandomNumbers::group_size>;
/// Writes the floats of `count` groups of numbers, from `group` on.
using WriteFloats = void (*)(const FloatRange& range, std::uint64_t group, std::size_t count,
                             std::byte* place);

struct TwoLanes {
  typedef std::uint64_t Bits [[gnu::vector_size(16)]];
  typedef double Doubles [[gnu::vector_size(16)]];
  typedef float Rounded [[gnu::vector_size(8)]];
};
struct FourLanes {
  typedef std::uint64_t Bits [[gnu::vector_size(32)]];
  typedef double Doubles [[gnu::vector_size(32)]];
  typedef float Rounded [[gnu::vector_size(16)]];
};

/// Computes for each number what Uniform::scaled() does, rounded to a float.  Halves of 53 bits
/// become doubles as the fractions of large powers of two: only AVX-512 converts 64 bits.
template <class Vector>
[[gnu::always_inline]] inline void write_floats(const FloatRange& range, std::uint64_t group,
                                                std::size_t count, std::byte* place) {
  using Bits = typename Vector::Bits;
  using Doubles = typename Vector::Doubles;
  using Rounded = typename Vector::Rounded;
  constexpr double low_half = 0x1p52, high_half = 0x1p84;
  const double low = range.low, high = range.high;
  const Doubles lowest = Doubles{} + static_cast<double>(static_cast<float>(low));
  for (const std::uint64_t end = group + count; group < end; ++group) {
    const RandomNumbers::Group numbers = range.numbers.group(group);
    for (std::size_t i = 0; i < numbers.size(); i += sizeof(Doubles) / sizeof(double)) {
      Bits bits;
      std::memcpy(&bits, &numbers[i], sizeof bits);
      bits >>= 11;
      const Bits under = (bits & 0xffff'ffff) | std::bit_cast<std::uint64_t>(low_half);
      const Bits over = bits >> 32 | std::bit_cast<std::uint64_t>(high_half);
      const Doubles whole = (Doubles(over) - high_half) + (Doubles(under) - low_half);
      const Doubles value = low + whole * 0x1.0p-53 * (high - low);
      const Doubles rounded =
          __builtin_convertvector(__builtin_convertvector(value, Rounded), Doubles);
      const Rounded result = __builtin_convertvector(rounded >= high ? lowest : rounded, Rounded);
      std::memcpy(place, &result, sizeof result);
      place += sizeof result;
    }
  }
}

void write_floats_v2(const FloatRange& range, std::uint64_t group, std::size_t count,
                     std::byte* place) {
  write_floats<TwoLanes>(range, group, count, place);
}
[[gnu::target("avx2")]] void write_floats_v3(const FloatRange& range, std::uint64_t group,
                                             std::size_t count, std::byte* place) {
  write_floats<FourLanes>(range, group, count, place);
}

class Uniform final : public Content {
 public:
  Uniform(isa::Type type, double low, double high, std::uint64_t seed, ContentPurpose purpose)
      : type_(type), low_(low), high_(high), seed_(seed), purpose_(purpose) {
    if (isa::is_float(type)) return;
    base_ = integer_bits(low);
    choices_ = integer_bits(high) - base_;  // number of values; 0 stands for 2^64
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (type_ == isa::Type::f32) return read_floats(offset, bytes);
    RandomNumbers numbers(seed_, purpose_);
    for_each_element(type_, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      if (isa::is_float(type_)) {
        put_scaled(numbers.at(index), place);
      } else {
        put_integer(type_, base_ + below_choices(numbers.at(index)), place);
      }
    });
  }

 private:
  std::uint64_t below_choices(std::uint64_t bits) const {
    __extension__ using Wide = unsigned __int128;
    if (choices_ == 0) return bits;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits) * choices_) >> 64);
  }

  double scaled(std::uint64_t bits) const { return low_ + unit_interval(bits) * (high_ - low_); }

  void put_scaled(std::uint64_t bits, std::byte* place) const {
    store_element(type_, scaled(bits), place);
    if (load_element(type_, place) >= high_) store_element(type_, low_, place);
  }

  /// Reads elements of the type that most buffers have.
  void read_floats(std::uint64_t offset, std::span<std::byte> bytes) const {
    static const WriteFloats write =
        __builtin_cpu_supports("avx2") ? write_floats_v3 : write_floats_v2;
    check_whole_elements(sizeof(float), offset, bytes);
    const FloatRange range{RandomNumbers(seed_, purpose_), low_, high_};
    while (!bytes.empty()) {
      const std::uint64_t group = offset / sizeof(Floats), first = offset % sizeof(Floats);
      std::size_t size = bytes.size() / sizeof(Floats) * sizeof(Floats);
      if (first == 0 && size != 0) {
        write(range, group, size / sizeof(Floats), bytes.data());
      } else {
        Floats floats;
        write(range, group, 1, reinterpret_cast<std::byte*>(floats.data()));
        size = std::min(sizeof(Floats) - first, bytes.size());
        std::memcpy(bytes.data(), reinterpret_cast<const std::byte*>(floats.data()) + first, size);
      }
      bytes = bytes.subspan(size);
      offset += size;
    }
  }

  isa::Type type_;
  double low_, high_;
  std::uint64_t base_ = 0, choices_ = 0;
  std::uint64_t seed_;
  ContentPurpose purpose_;
};

}  // namespace

std::shared_ptr<const Content> make_uniform(const Buffer& buffer) {
  const Initializer& initial = buffer.initial;
  const double low = initial.first, high = initial.second;
  if (!(low < high)) {
    throw UserError(initial.where, "uniform needs low < high",
                    "low is " + number_text(low) + ", high is " + number_text(high));
  }
  if (!isa::is_float(buffer.type)) {
    if (low != std::floor(low) || high != std::floor(high)) {
      throw UserError(initial.where, "low and high of integers are whole numbers",
                      "buffer " + buffer.name + " is of " + element_type_name(buffer.type));
    }
  }
  check_fits(buffer, low);
  check_fits(buffer, isa::is_float(buffer.type) ? high : high - 1);
  return std::make_shared<Uniform>(buffer.type, low, high, initial.seed, ContentPurpose::uniform);
}

std::shared_ptr<const Content> make_graph_weights(const Buffer& buffer) {
  const bool real = isa::is_float(buffer.type);
  return std::make_shared<Uniform>(buffer.type, real ? 0 : 1, real ? 1 : 101, buffer.initial.seed,
                                   ContentPurpose::graph_weights);
}

}  // namespace lockstep
