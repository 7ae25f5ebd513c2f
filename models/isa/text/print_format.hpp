/// A format of printf, parsed: its texts and the arguments that it takes.
///
/// The caller's buffer holds the arguments one after the other, each aligned to its size, as C
/// promotes them: 4 bytes for int and what is smaller, 8 for long, double and pointers.
/// Source: CUDA C++ Programming Guide, "Format Specifiers" and "Limitations" of "Formatted Output";
/// ISO C, "The fprintf function".
///
/// Simplified: there are at most 32 arguments. Conversions beyond them, and unknown conversions,
/// are printed unchanged, as CUDA documents; widths and precisions are limited to 4096.  z, j and t
/// are read as l.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/isa/text/module_text.hpp"

namespace lockstep::isa {

class PrintFormat {
 public:
  explicit PrintFormat(std::string_view format);

  /// Returns the number of arguments, which is the result of printf.
  std::uint32_t arguments() const { return arguments_; }
  /// Returns the bytes of the argument buffer, a multiple of 4.
  std::uint32_t argument_bytes() const { return argument_bytes_; }
  /// Returns the printed text.  `words`: the buffer.  Strings are looked up in `strings`.
  std::string text(std::span<const std::uint32_t> words, const ModuleText& strings) const;

 private:
  /// Text, then one conversion.
  struct Piece {
    std::string before;
    std::string flags, width, precision;  ///< "*" stands for an argument; precision with its dot
    char conversion = 0;                  ///< conversion letter; 0: the end of the format
    unsigned narrow = 0;                  ///< bytes of the argument that count, as with %h
    /// Offsets of width and precision, if arguments give them, then of the value.
    std::vector<std::uint32_t> offsets;
  };
  bool read_conversion(std::string_view format, std::size_t& at, Piece& piece);
  void take_argument(Piece& piece, unsigned bytes);

  std::vector<Piece> pieces_;
  std::uint32_t arguments_ = 0, argument_bytes_ = 0;
};

}  // namespace lockstep::isa
