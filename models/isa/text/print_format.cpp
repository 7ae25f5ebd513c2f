#include "models/isa/text/print_format.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/memory/round_up.hpp"

namespace lockstep::isa {
namespace {

constexpr std::uint32_t most_arguments = 32;
constexpr int widest = 4096;

bool is_one_of(char c, const char* all) {
  return c != 0 && std::strchr(all, c) != nullptr;
}

std::string take_while(std::string_view format, std::size_t& at, const char* all) {
  const std::size_t first = at;
  while (at < format.size() && is_one_of(format[at], all)) ++at;
  return std::string(format.substr(first, at - first));
}

/// Takes digits, or a star.
std::string take_number(std::string_view format, std::size_t& at) {
  if (at < format.size() && format[at] == '*') {
    ++at;
    return "*";
  }
  const std::string digits = take_while(format, at, "0123456789");
  const bool is_wide = digits.size() > 4 || std::atoi(digits.c_str()) > widest;
  return is_wide ? std::to_string(widest) : digits;
}

template <class Value>
std::string formatted(const std::string& conversion, Value value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), conversion.c_str(), value);
  text.pop_back();
  return text;
}

/// Returns the low bits of an integer that its modifier selects, extended by sign for %d and %i.
std::uint64_t narrowed(std::uint64_t bits, unsigned bytes, bool is_signed) {
  if (bytes >= 8) return bits;
  const unsigned shift = 64 - 8 * bytes;
  if (!is_signed) return bits << shift >> shift;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace

PrintFormat::PrintFormat(std::string_view format) {
  Piece piece;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t first = at++;
    if (format[first] != '%') {
      piece.before += format[first];
    } else if (at < format.size() && format[at] == '%') {
      piece.before += format[at++];
    } else if (const std::uint32_t had = arguments_, bytes = argument_bytes_;
               read_conversion(format, at, piece) && arguments_ <= most_arguments) {
      pieces_.push_back(std::move(piece));
      piece = {};
    } else {
      const std::string before = piece.before + std::string(format.substr(first, at - first));
      piece = {};
      piece.before = before;
      arguments_ = had;
      argument_bytes_ = bytes;
    }
  }
  pieces_.push_back(std::move(piece));
  argument_bytes_ = static_cast<std::uint32_t>(round_up(argument_bytes_, 4));
}

void PrintFormat::take_argument(Piece& piece, unsigned bytes) {
  const std::uint32_t offset = static_cast<std::uint32_t>(round_up(argument_bytes_, bytes));
  piece.offsets.push_back(offset);
  argument_bytes_ = offset + bytes;
  ++arguments_;
}

/// Reads a conversion behind the percent sign.  Returns false if it is no conversion.
bool PrintFormat::read_conversion(std::string_view format, std::size_t& at, Piece& piece) {
  piece.flags = take_while(format, at, "-+ #0");
  piece.width = take_number(format, at);
  if (piece.width == "*") take_argument(piece, 4);
  if (at < format.size() && format[at] == '.') {
    ++at;
    piece.precision = "." + take_number(format, at);
    if (piece.precision == ".*") take_argument(piece, 4);
  }
  const std::string size = take_while(format, at, "hlzjt");
  if (at == format.size()) return false;
  piece.conversion = format[at++];
  const bool is_integer = is_one_of(piece.conversion, "diuoxX");
  const bool is_eight =
      is_one_of(piece.conversion, "spfFeEgGaA") || (is_integer && !size.empty() && size[0] != 'h');
  if (!is_eight && !is_integer && piece.conversion != 'c') return false;
  piece.narrow = is_eight ? 8 : 4;
  if (is_integer && size == "h") piece.narrow = 2;
  if (is_integer && size == "hh") piece.narrow = 1;
  take_argument(piece, is_eight ? 8 : 4);
  return true;
}

std::string PrintFormat::text(std::span<const std::uint32_t> words,
                              const ModuleText& strings) const {
  const auto bits_at = [&](std::uint32_t offset, unsigned bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, words.data() + offset / 4, bytes);
    return bits;
  };
  std::string result;
  for (const Piece& piece : pieces_) {
    result += piece.before;
    if (piece.conversion == 0) break;
    std::size_t next = 0;
    const auto star = [&] {
      const auto value = static_cast<std::int32_t>(bits_at(piece.offsets[next++], 4));
      return std::clamp(value, -widest, widest);
    };
    std::string conversion = "%" + piece.flags;
    // A negative width means "to the left": its minus sign is that flag.
    conversion += piece.width == "*" ? std::to_string(star()) : piece.width;
    if (piece.precision == ".*") {
      const int precision = star();
      if (precision >= 0) conversion += "." + std::to_string(precision);
    } else {
      conversion += piece.precision;
    }
    const bool is_wide = is_one_of(piece.conversion, "spfFeEgGaA") || piece.narrow == 8;
    const std::uint64_t bits = bits_at(piece.offsets[next], is_wide ? 8 : 4);
    switch (piece.conversion) {
      case 'c':
        result += formatted(conversion + 'c', static_cast<int>(bits));
        break;
      case 's':
        result += formatted(conversion + 's', strings.or_address(bits).c_str());
        break;
      case 'p':
        // NOLINTNEXTLINE(performance-no-int-to-ptr): printf wants a pointer for %p.
        result += formatted(conversion + 'p', reinterpret_cast<const void*>(bits));
        break;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        const bool is_signed = piece.conversion == 'd' || piece.conversion == 'i';
        result += formatted(conversion + "ll" + piece.conversion,
                            static_cast<unsigned long long>(  // NOLINT(google-runtime-int)
                                narrowed(bits, piece.narrow, is_signed)));
        break;
      }
      default:
        result += formatted(conversion + piece.conversion, std::bit_cast<double>(bits));
    }
  }
  return result;
}

}  // namespace lockstep::isa
