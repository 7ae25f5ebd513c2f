/// Initial content `uniform`: independent numbers in [low, high), and the weights of graphs.
///
/// Element i takes the i-th 64-bit number of its seed.  Integers: the high half of its product with
/// the number of choices (a bias of at most choices / 2^64).  Floats: 53 bits scaled in double
/// precision, then rounded to the type; a number that rounds up to `high` becomes `low`.

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

class Uniform final : public Content {
 public:
  Uniform(isa::Type type, double low, double high, std::uint64_t seed, ContentPurpose purpose)
      : type_(type), low_(low), high_(high), seed_(seed), purpose_(purpose) {
    if (isa::is_float(type)) return;
    base_ = integer_bits(low);
    choices_ = integer_bits(high) - base_;  // number of values; 0 stands for 2^64
  }

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    RandomNumbers numbers(seed_, purpose_);
    if (type_ == isa::Type::f32) return read_floats(numbers, offset, bytes);
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
  void read_floats(RandomNumbers& numbers, std::uint64_t offset, std::span<std::byte> bytes) const {
    for_each_element(isa::Type::f32, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      auto value = static_cast<float>(scaled(numbers.at(index)));
      if (value >= high_) value = static_cast<float>(low_);
      std::memcpy(place, &value, sizeof value);
    });
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
