/// Initial content `normal`: independent normally distributed numbers.
///
/// Element i is mean + deviation * z, where z is the inverse of the normal distribution at the i-th
/// random number in (0, 1): a rational function in the middle, one of sqrt(-ln p) in the tails.
/// Integers are rounded to the nearest.
/// Source: M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
/// Applied Statistics 37 (1988), routine PPND7: accurate to about 1 part in 10^7, |z| < 8.3.
#include "core/random/fixed_log.hpp"
#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

double central(double q) {
  const double r = 0.180625 - q * q;
  const double above =
      ((5.9109374720e+01 * r + 1.5929113202e+02) * r + 5.0434271938e+01) * r + 3.3871327179e+00;
  const double below = ((6.7187563600e+01 * r + 7.8757757664e+01) * r + 1.7895169469e+01) * r + 1.0;
  return q * above / below;
}

/// Returns the quantile at the probability `p` < 0.075 of one tail.
double tail(double p) {
  double r = std::sqrt(-fixed_log(p));
  if (r <= 5.0) {
    r -= 1.6;
    const double above =
        ((1.7023821103e-01 * r + 1.3067284816e+00) * r + 2.7568153900e+00) * r + 1.4234372777e+00;
    return above / ((1.2021132975e-01 * r + 7.3700164250e-01) * r + 1.0);
  }
  r -= 5.0;
  const double above =
      ((1.7337203997e-02 * r + 4.2868294337e-01) * r + 3.0812263860e+00) * r + 6.6579051150e+00;
  return above / ((1.2258202635e-02 * r + 2.4197894225e-01) * r + 1.0);
}

double standard_normal(std::uint64_t bits) {
  const double p = (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52;
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) return central(q);
  return q < 0 ? -tail(p) : tail(1.0 - p);
}

class Normal final : public Content {
 public:
  Normal(isa::Type type, double mean, double deviation, std::uint64_t seed)
      : type_(type), mean_(mean), deviation_(deviation), seed_(seed) {}

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    RandomNumbers numbers(seed_, ContentPurpose::normal);
    for_each_element(type_, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      const double value = mean_ + deviation_ * standard_normal(numbers.at(index));
      if (isa::is_float(type_)) {
        store_element(type_, value, place);
      } else {
        put_integer(type_, integer_bits(std::floor(value + 0.5)), place);
      }
    });
  }

 private:
  isa::Type type_;
  double mean_, deviation_;
  std::uint64_t seed_;
};

}  // namespace

std::shared_ptr<const Content> make_normal(const Buffer& buffer) {
  const Initializer& initial = buffer.initial;
  if (initial.second < 0)
    throw UserError(initial.where, "a deviation is not negative", "write 0 or more");
  constexpr double widest = 9;  // widest deviation; see the source
  check_fits(buffer, initial.first - widest * initial.second);
  check_fits(buffer, initial.first + widest * initial.second);
  return std::make_shared<Normal>(buffer.type, initial.first, initial.second, initial.seed);
}

}  // namespace lockstep
