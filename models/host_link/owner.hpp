#pragma once

#include <climits>

namespace lockstep {

/// The part of the host that has made a request, and the part's number for it.
///
/// A message or a checkpoint carries both as one word, with the part in its highest bits; the
/// receiver of an answer looks at the part once.  Part is an enumeration with less than 2^part_bits
/// values.
template <class Part_, class Bits, unsigned part_bits>
struct Owner {
  using Part = Part_;
  static constexpr unsigned number_bits = sizeof(Bits) * CHAR_BIT - part_bits;
  static constexpr Bits most = (Bits{1} << number_bits) - 1;

  Part part{};
  Bits number = 0;  ///< number, at most `most`

  constexpr Bits bits() const { return static_cast<Bits>(part) << number_bits | number; }
  static constexpr Owner of(Bits bits) {
    return {static_cast<Part>(bits >> number_bits), bits & most};
  }
  constexpr bool operator==(const Owner&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    Bits word = bits();
    archive(word);
    *this = of(word);
  }
};

}  // namespace lockstep
