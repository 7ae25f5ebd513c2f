#include "core/parameters/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace lockstep {
namespace {

struct Unit {
  const char* name;
  std::uint64_t factor;  ///< base units in one such unit
};
// The base unit last.  Formatting takes the shortest text; the earlier unit wins a tie.
constexpr Unit byte_units[] = {{"TiB", 1ull << 40},
                               {"GiB", 1ull << 30},
                               {"MiB", 1ull << 20},
                               {"KiB", 1ull << 10},
                               {"TB", 1'000'000'000'000},
                               {"GB", 1'000'000'000},
                               {"MB", 1'000'000},
                               {"kB", 1'000},
                               {"KB", 1'000},
                               {"B", 1}};
constexpr Unit time_units[] = {{"s", 1'000'000'000'000'000},
                               {"ms", 1'000'000'000'000},
                               {"us", 1'000'000'000},
                               {"ns", 1'000'000},
                               {"ps", 1'000},
                               {"fs", 1}};
constexpr Unit frequency_units[] = {
    {"GHz", 1'000'000'000}, {"MHz", 1'000'000}, {"kHz", 1'000}, {"Hz", 1}};
constexpr Unit bandwidth_units[] = {{"TB/s", 1'000'000'000'000},
                                    {"GB/s", 1'000'000'000},
                                    {"MB/s", 1'000'000},
                                    {"kB/s", 1'000},
                                    {"TiB/s", 1ull << 40},
                                    {"GiB/s", 1ull << 30},
                                    {"MiB/s", 1ull << 20},
                                    {"KiB/s", 1ull << 10},
                                    {"B/s", 1}};

std::span<const Unit> units_of(ParameterType type) {
  switch (type) {
    case ParameterType::bytes:
      return byte_units;
    case ParameterType::time:
      return time_units;
    case ParameterType::frequency:
      return frequency_units;
    case ParameterType::bandwidth:
      return bandwidth_units;
    default:
      return {};
  }
}

std::string example_of(ParameterType type) {
  switch (type) {
    case ParameterType::bytes:
      return "write it as 96KiB, 2MiB or 16GB";
    case ParameterType::time:
      return "write it as 45us, 10ns or 1.5ms";
    case ParameterType::frequency:
      return "write it as 1312MHz or 1.3GHz";
    case ParameterType::bandwidth:
      return "write it as 16GB/s";
    case ParameterType::cycles:
      return "write a whole number of cycles without unit";
    case ParameterType::boolean:
      return "write true or false";
    case ParameterType::real:
      return "write a number such as 0.5";
    default:
      return "write a whole number";
  }
}

std::string in_quotes(const std::string& text) {
  return "\"" + text + "\"";
}

ParsedScalar wrong(const std::string& text, ParameterType type, const std::string& what) {
  return {std::nullopt, in_quotes(text) + " " + what, example_of(type)};
}

/// All of `text` as a number; a sign and, for whole numbers, 0x are understood.
template <class Number>
std::optional<Number> parse_number(std::string text) {
  Number number{};
  if (text.size() > 1 && text[0] == '+') text.erase(0, 1);
  const char* end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_integral_v<Number>) {
    const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    result = std::from_chars(text.data() + (hex ? 2 : 0), end, number, hex ? 16 : 10);
  } else {
    result = std::from_chars(text.data(), end, number);
    if (!std::isfinite(number)) return std::nullopt;
  }
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

__extension__ using Wide = unsigned __int128;

/// Returns decimal digits times the factor, exactly ("1.5", 1000 -> 1500); nothing if that is no
/// whole number or above `limit`.
std::optional<std::uint64_t> scale_exactly(const std::string& digits, std::uint64_t factor,
                                           std::uint64_t limit) {
  Wide mantissa = 0, divisor = 1;
  bool point = false;
  for (const char c : digits) {
    if (c == '.') {
      point = true;
      continue;
    }
    mantissa = mantissa * 10 + unsigned(c - '0');
    if (point) divisor *= 10;
    if (mantissa > (static_cast<Wide>(1) << 66) || divisor > 1'000'000'000'000'000'000u) {
      return std::nullopt;
    }
  }
  // mantissa < 2^67 and factor < 2^50: the product fits.
  const Wide product = mantissa * factor;
  if (product % divisor != 0 || product / divisor > limit) return std::nullopt;
  return static_cast<std::uint64_t>(product / divisor);
}

ParsedScalar parse_quantity(const std::string& text, ParameterType type) {
  const std::size_t digits_end = text.find_first_not_of("0123456789.");
  const std::string digits = text.substr(0, digits_end);
  const bool is_number = !digits.empty() && digits != "." &&
                         digits.find('.') == digits.rfind('.') && digits.front() != '.';
  if (!is_number) return wrong(text, type, "is no " + unit_name(type));
  std::string suffix = digits_end == std::string::npos ? "" : text.substr(digits_end);
  suffix.erase(0, suffix.find_first_not_of(' '));
  if (suffix.empty()) {
    if (scale_exactly(digits, 1, 0))
      suffix = units_of(type).back().name;  // zero is the same in any unit
    else
      return wrong(text, type, "has no unit");
  }
  for (const Unit& unit : units_of(type)) {
    if (suffix != unit.name) continue;
    if (type == ParameterType::frequency || type == ParameterType::bandwidth) {
      const auto whole = scale_exactly(digits, unit.factor, std::uint64_t{1} << 53);
      if (whole) return {double(*whole), "", ""};
      return {*parse_number<double>(digits) * double(unit.factor), "", ""};
    }
    const bool is_time = type == ParameterType::time;
    // The top half is left free so that sums of two times cannot overflow.
    const std::uint64_t limit = is_time ? std::uint64_t{1} << 62 : ~std::uint64_t{0};
    const auto exact = scale_exactly(digits, unit.factor, limit);
    if (!exact) {
      return wrong(text, type,
                   std::string("is too large or no whole number of ") +
                       (is_time ? "femtoseconds" : "bytes"));
    }
    if (is_time) return {std::int64_t(*exact), "", ""};
    return {*exact, "", ""};
  }
  return wrong(text, type,
               "has an unknown unit " + in_quotes(suffix) + " for a " + unit_name(type));
}

template <class Integer, class Wide>
ParsedScalar parse_integer(const std::string& text, ParameterType type) {
  const auto number = parse_number<Integer>(text);
  if (number) return {Wide(*number), "", ""};
  // 1e6 and 4.0 are whole numbers too.
  const auto real = parse_number<double>(text);
  if (!real) return wrong(text, type, "is no whole number");
  if (*real != std::floor(*real)) return wrong(text, type, "is no whole number");
  if (*real < double(std::numeric_limits<Integer>::min()) ||
      *real >= std::ldexp(1.0, std::numeric_limits<Integer>::digits)) {
    return wrong(text, type, "does not fit this parameter");
  }
  return {Wide(Integer(*real)), "", ""};
}

}  // namespace

ParsedScalar parse_scalar(const std::string& text, ParameterType type) {
  switch (type) {
    case ParameterType::boolean:
      if (text == "true" || text == "false") return {text == "true", "", ""};
      return wrong(text, type, "is neither true nor false");
    case ParameterType::uint32:
      return parse_integer<std::uint32_t, std::uint64_t>(text, type);
    case ParameterType::uint64:
      return parse_integer<std::uint64_t, std::uint64_t>(text, type);
    case ParameterType::int32:
      return parse_integer<std::int32_t, std::int64_t>(text, type);
    case ParameterType::int64:
    case ParameterType::cycles:
      return parse_integer<std::int64_t, std::int64_t>(text, type);
    case ParameterType::real: {
      const bool is_percent = text.ends_with('%');
      const auto number = parse_number<double>(is_percent ? text.substr(0, text.size() - 1) : text);
      if (!number) return wrong(text, type, "is no number");
      return {is_percent ? *number / 100 : *number, "", ""};
    }
    case ParameterType::bytes:
    case ParameterType::time:
    case ParameterType::frequency:
    case ParameterType::bandwidth:
      return parse_quantity(text, type);
    default:
      return {text, "", ""};
  }
}

std::string format_real(double value) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string format_scalar(const ParameterScalar& value, ParameterType type) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const std::span<const Unit> units = units_of(type);
  if (const auto* real = std::get_if<double>(&value)) {
    std::string best = format_real(*real) + (units.empty() ? "" : units.back().name);
    for (const Unit& unit : units) {
      const std::string text = format_real(*real / double(unit.factor)) + unit.name;
      const ParsedScalar parsed = parse_scalar(text, type);
      if (text.size() < best.size() && parsed.value && *parsed.value == value) best = text;
    }
    // An exponent is no part of a quantity's syntax.
    if (!units.empty() && !parse_scalar(best, type).value) {
      std::array<char, 400> digits;
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *real,
                                     std::chars_format::fixed);
      best = std::string(digits.data(), end.ptr) + units.back().name;
    }
    return best;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value); whole && units.empty()) {
    return std::to_string(*whole);
  }
  const std::uint64_t amount = std::holds_alternative<std::int64_t>(value)
                                   ? std::uint64_t(std::get<std::int64_t>(value))
                                   : std::get<std::uint64_t>(value);
  if (units.empty()) return std::to_string(amount);
  std::string best = std::to_string(amount) + units.back().name;
  for (const Unit& unit : units) {
    const std::string text = std::to_string(amount / unit.factor) + unit.name;
    if (amount % unit.factor == 0 && amount != 0 && text.size() < best.size()) best = text;
  }
  return best;
}

std::string unit_name(ParameterType type) {
  switch (type) {
    case ParameterType::boolean:
      return "true or false";
    case ParameterType::uint32:
    case ParameterType::uint64:
    case ParameterType::int32:
    case ParameterType::int64:
      return "count";
    case ParameterType::real:
      return "ratio";
    case ParameterType::text:
      return "text";
    case ParameterType::enumeration:
      return "word";
    case ParameterType::bytes:
      return "amount of memory";
    case ParameterType::time:
      return "time";
    case ParameterType::cycles:
      return "cycles";
    case ParameterType::frequency:
      return "frequency";
    case ParameterType::bandwidth:
      return "bandwidth";
    case ParameterType::group:
      return "group";
    case ParameterType::policy:
      return "policy";
    case ParameterType::part:
      return "map";
  }
  return "";
}

}  // namespace lockstep
