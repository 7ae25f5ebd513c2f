/// Initial content `value` and `linear`: element i is start + i * step.
///
/// Whole numbers in integer buffers are computed modulo 2^64 and truncated to the type; other
/// numbers are computed in double precision and rounded to the type (integers: toward zero).
#include <algorithm>
#include <cstring>

#include "models/workload/content/elements.hpp"
#include "models/workload/content/generators.hpp"
#include "models/workload/element.hpp"

namespace lockstep {

namespace {

class IntegerLinear final : public Content {
 public:
  IntegerLinear(isa::Type type, double start, double step)
      : type_(type), start_(integer_bits(start)), step_(integer_bits(step)) {}

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    for_each_element(type_, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      put_integer(type_, start_ + index * step_, place);
    });
  }

 private:
  isa::Type type_;
  std::uint64_t start_, step_;
};

class RealLinear final : public Content {
 public:
  RealLinear(isa::Type type, double start, double step) : type_(type), start_(start), step_(step) {}

  void read(std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (type_ == isa::Type::f32) return read_floats(offset, bytes);
    for_each_element(type_, offset, bytes, [&](std::uint64_t index, std::byte* place) {
      put_real(type_, start_ + static_cast<double>(index) * step_, place);
    });
  }

 private:
  /// Reads elements of the type that most buffers have, in parts whose numbers vectors can count:
  /// indices up to 2^53 are exact as doubles.
  void read_floats(std::uint64_t offset, std::span<std::byte> bytes) const {
    constexpr std::size_t part = 1024;
    check_whole_elements(sizeof(float), offset, bytes);
    auto first = static_cast<double>(offset / sizeof(float));
    for (; !bytes.empty(); first += part) {
      const auto count = static_cast<int>(std::min(part, bytes.size() / sizeof(float)));
      for (int i = 0; i < count; ++i) {
        const auto value = static_cast<float>(start_ + (first + i) * step_);
        std::memcpy(&bytes[static_cast<std::size_t>(i) * sizeof value], &value, sizeof value);
      }
      bytes = bytes.subspan(static_cast<std::size_t>(count) * sizeof(float));
    }
  }

  isa::Type type_;
  double start_, step_;
};

}  // namespace

std::shared_ptr<const Content> make_linear(const Buffer& buffer) {
  const Initializer& initial = buffer.initial;
  const double start = initial.first;
  const double step = initial.kind == Initializer::Kind::linear ? initial.second : 0;
  check_fits(buffer, start);
  check_fits(buffer, step);
  const bool whole = start == std::floor(start) && step == std::floor(step);
  if (!isa::is_float(buffer.type) && whole) {
    return std::make_shared<IntegerLinear>(buffer.type, start, step);
  }
  check_fits(buffer, start + static_cast<double>(buffer.count - 1) * step);
  return std::make_shared<RealLinear>(buffer.type, start, step);
}

}  // namespace lockstep
