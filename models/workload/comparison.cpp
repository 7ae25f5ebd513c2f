#include "models/workload/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/error/error.hpp"
#include "models/workload/element.hpp"

namespace lockstep {
namespace {

using Bytes = std::span<const std::byte>;

bool within(double tolerance, double expected, double got, double magnitude) {
  if (!std::isfinite(expected) || !std::isfinite(got)) return expected == got;
  return std::fabs(expected - got) <= tolerance * std::max(magnitude, std::fabs(expected));
}

/// Returns the number as text, for floats with its bits, since two floats that print alike may
/// differ.
std::string element_text(isa::Type type, const std::byte* place) {
  const unsigned size = isa::bytes_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, place, size);
  if (!isa::is_float(type)) {
    if (!isa::is_signed(type)) return std::to_string(bits);
    const unsigned unused = 64 - 8 * size;
    return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  char text[64];
  std::snprintf(text, sizeof text, "%.17g (0x%0*llx)", load_element(type, place),
                static_cast<int>(2 * size), static_cast<unsigned long long>(bits));
  return text;
}

/// Returns the smallest normal number.
double smallest(isa::Type type) {
  return type == isa::Type::f64 ? 0x1p-1022 : type == isa::Type::f16 ? 0x1p-14 : 0x1p-126;
}

bool is_below_normal(isa::Type type, double value) {
  return value != 0 && std::fabs(value) < smallest(type);
}

/// Two contents of a part of a buffer.
class Contents {
 public:
  Contents(const Buffer& buffer, std::uint64_t offset, Bytes expected, Bytes got,
           std::span<const isa::InexactFloats> more)
      : buffer_(buffer), offset_(offset), expected_(expected), got_(got), more_(more) {}

  std::optional<Difference> first_difference() const {
    for (std::uint64_t at = 0; at < expected_.size();) {
      const auto from = static_cast<std::ptrdiff_t>(at);
      const auto found =
          std::mismatch(expected_.begin() + from, expected_.end(), got_.begin() + from);
      if (found.first == expected_.end()) return std::nullopt;
      at = static_cast<std::uint64_t>(found.first - expected_.begin());
      const Element element = element_at(at);
      if (!element.is_near) return difference(element);
      at = element.begin + isa::bytes_of(element.type);
    }
    return std::nullopt;
  }

 private:
  struct Element {
    std::uint64_t begin = 0;  ///< offset in the compared bytes
    isa::Type type = isa::Type::u8;
    bool is_near = false;
  };

  Difference difference(const Element& element) const {
    return {offset_ + element.begin, element.type,
            element_text(element.type, expected_.data() + element.begin),
            element_text(element.type, got_.data() + element.begin)};
  }

  /// Returns the element around a byte that differs.
  Element element_at(std::uint64_t at) const {
    const unsigned size = isa::bytes_of(buffer_.type);
    Element element{(offset_ + at) / size * size - offset_, buffer_.type, false};
    if (isa::is_float(buffer_.type) && buffer_.tolerance > 0)
      element.is_near = are_near(element, buffer_.tolerance, 1);
    for (const auto floats : {std::span(buffer_.inexact), more_})
      for (const isa::InexactFloats& part : floats) look_in(part, at, element);
    return element;
  }

  /// Takes the float of `part` at the byte, if its two values are near or if no float was found
  /// there.
  void look_in(const isa::InexactFloats& part, std::uint64_t at, Element& element) const {
    const unsigned size = isa::bytes_of(part.type);
    const std::uint64_t byte = offset_ + at;
    if (element.is_near || byte < part.offset || byte - part.offset >= part.count * size) return;
    const std::uint64_t begin = byte - (byte - part.offset) % size;
    if (begin < offset_ || begin + size > offset_ + expected_.size()) return;
    Element found{begin - offset_, part.type, false};
    const double tolerance = buffer_.tolerance > 0 ? buffer_.tolerance : part.tolerance;
    found.is_near = are_near(found, tolerance, part.magnitude) && !is_too_small(found);
    if (found.is_near || element.type == isa::Type::u8) element = found;
  }

  double expected(const Element& element) const {
    return load_element(element.type, expected_.data() + element.begin);
  }
  double got(const Element& element) const {
    return load_element(element.type, got_.data() + element.begin);
  }
  bool are_near(const Element& element, double tolerance, double magnitude) const {
    return within(tolerance, expected(element), got(element), magnitude);
  }
  bool is_too_small(const Element& element) const {
    return is_below_normal(element.type, expected(element)) ||
           is_below_normal(element.type, got(element));
  }

  const Buffer& buffer_;
  const std::uint64_t offset_;
  const Bytes expected_, got_;
  const std::span<const isa::InexactFloats> more_;
};

double size_of_error(const Node& node) {
  const double number = node.real();
  if (!(number >= 0) || !std::isfinite(number))
    throw node.error("is no size of an error", "write a number that is not negative");
  return number;
}

}  // namespace

std::optional<Difference> find_difference(const Buffer& buffer, std::uint64_t offset,
                                          std::span<const std::byte> expected,
                                          std::span<const std::byte> got,
                                          std::span<const isa::InexactFloats> more) {
  if (expected.empty() || std::memcmp(expected.data(), got.data(), expected.size()) == 0)
    return std::nullopt;
  return Contents(buffer, offset, expected, got, more).first_difference();
}

std::vector<isa::InexactFloats> read_inexact(const Node& list, const Buffer& buffer) {
  std::vector<isa::InexactFloats> result;
  for (const Node& node : list.items()) {
    isa::InexactFloats floats;
    const Node type = node.at("type");
    floats.type = element_type(type.text());
    if (!isa::is_float(floats.type))
      throw type.error("is no type of floats", "f16, bf16, f32, f64");
    floats.offset = node.at("offset").unsigned_integer();
    floats.count = node.at("count").unsigned_integer();
    floats.tolerance = size_of_error(node.at("tolerance"));
    floats.magnitude = size_of_error(node.at("magnitude"));
    node.reject_unknown_keys();
    const std::uint64_t room = buffer.bytes() - std::min(floats.offset, buffer.bytes());
    if (floats.count > room / isa::bytes_of(floats.type))
      throw node.error("reaches behind the end of buffer " + buffer.name,
                       "offset counts bytes, count elements of the type");
    result.push_back(floats);
  }
  return result;
}

std::string inexact_text(std::span<const isa::InexactFloats> floats) {
  std::string text;
  for (const isa::InexactFloats& part : floats)
    text +=
        fmt::format("{}{{offset: {}, count: {}, type: {}, tolerance: {:.3g}, magnitude: {:.3g}}}",
                    text.empty() ? "" : ", ", part.offset, part.count, element_type_name(part.type),
                    part.tolerance, part.magnitude);
  return "[" + text + "]";
}

void become_recorded(Buffer& buffer) {
  const auto fail = [&](const std::string& what, const std::string& advice) {
    throw UserError(buffer.where, "buffer " + buffer.name + " of a recording " + what, advice);
  };
  if (!buffer.address) fail("has no address", "leave the address as it was written");
  if (buffer.tolerance > 0 && !isa::is_float(buffer.type) && buffer.inexact.empty())
    fail("has a tolerance but no floats",
         "say which floats it holds, as in {type: f32, count: 128} instead of {type: u8, count: "
         "512}");
  const std::uint64_t bytes = buffer.bytes();
  if (isa::is_float(buffer.type))
    buffer.inexact.push_back({0, buffer.count, buffer.type, buffer.tolerance, 1});
  buffer.type = isa::Type::u8;
  buffer.count = bytes;
}

}  // namespace lockstep
