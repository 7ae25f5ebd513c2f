/// What a texture fetch gives, from the CUDA C++ Programming Guide's appendix "Texture Fetching",
/// texel by texel: none of the simulator's code, and no operation of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lockstep::isa::texture_test {

enum class Addressing { wrap, clamp, mirror, border };
enum class Kind { is_unsigned, is_signed, is_float };

/// A texture as a person describes it, and its texels as bytes.
struct Picture {
  int channels = 1, bits = 32;
  Kind kind = Kind::is_float;
  bool normalized_read = false, linear = false, normalized_coordinates = false;
  Addressing addressing[3] = {Addressing::clamp, Addressing::clamp, Addressing::clamp};
  int size[3] = {1, 1, 1};
  int row_bytes = 4;
  std::vector<unsigned char> bytes;
  unsigned char border[16] = {};

  int texel_bytes() const { return channels * bits / 8; }

  double channel(const unsigned char* texel, int c) const {
    std::uint32_t raw = 0;
    std::memcpy(&raw, texel + c * bits / 8, static_cast<std::size_t>(bits / 8));
    if (kind == Kind::is_float) {
      if (bits == 32) {
        float value = 0;
        std::memcpy(&value, &raw, 4);
        return value;
      }
      const int exponent = static_cast<int>(raw >> 10 & 31),
                mantissa = static_cast<int>(raw & 1023);
      const double magnitude =
          exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
      return (raw & 0x8000) != 0 ? -magnitude : magnitude;
    }
    double value = raw;
    if (kind == Kind::is_signed && value >= std::ldexp(1, bits - 1)) value -= std::ldexp(1, bits);
    return value;
  }

  /// Channel c of texel (x, y, z), wherever that is.
  double texel(long x, long y, long z, int c) const {
    long at[3] = {x, y, z};
    const unsigned char* from = nullptr;
    bool outside = false;
    for (int d = 0; d < 3; ++d) {
      const long n = size[d];
      const bool repeats = normalized_coordinates;
      if (addressing[d] == Addressing::border) {
        outside |= at[d] < 0 || at[d] >= n;
      } else if (repeats && addressing[d] == Addressing::wrap) {
        while (at[d] < 0) at[d] += n;
        while (at[d] >= n) at[d] -= n;
      } else if (repeats && addressing[d] == Addressing::mirror) {
        while (at[d] < 0 || at[d] >= n) at[d] = at[d] < 0 ? -1 - at[d] : 2 * n - 1 - at[d];
      } else {
        at[d] = std::min(std::max(at[d], 0L), n - 1);
      }
    }
    from = outside ? border
                   : bytes.data() + (at[2] * size[1] + at[1]) * row_bytes + at[0] * texel_bytes();
    if (c >= channels) return 0;
    const double value = channel(from, c);
    if (!normalized_read || kind == Kind::is_float || bits == 32) return value;
    const double most = std::ldexp(1, kind == Kind::is_signed ? bits - 1 : bits) - 1;
    return static_cast<float>(std::max(value / most, -1.0));
  }

  /// The fetch at coordinates of floating point, of the first `dimensions`.
  float fetch(const float* coordinates, int dimensions, int c) const {
    double share[3] = {};
    long first[3] = {};
    for (int d = 0; d < dimensions; ++d) {
      double x = coordinates[d];
      if (normalized_coordinates) x *= size[d];
      if (linear) x -= 0.5;
      first[d] = std::lround(std::floor(x));
      // Eight bits behind the point.
      if (linear) share[d] = std::floor((x - std::floor(x)) * 256 + 0.5) / 256;
    }
    if (!linear) return static_cast<float>(texel(first[0], first[1], first[2], c));
    double slices[2] = {};
    const int corners = 1 << std::min(dimensions, 2);
    for (int z = 0; z < (dimensions == 3 ? 2 : 1); ++z) {
      double sum = 0;
      for (int corner = 0; corner < corners; ++corner) {
        const int i = corner & 1, j = corner >> 1;
        double weight = i != 0 ? share[0] : 1 - share[0];
        if (dimensions > 1) weight *= j != 0 ? share[1] : 1 - share[1];
        sum += weight * texel(first[0] + i, first[1] + j, first[2] + z, c);
      }
      slices[z] = static_cast<float>(sum);
    }
    if (dimensions < 3) return static_cast<float>(slices[0]);
    return static_cast<float>((1 - share[2]) * slices[0] + share[2] * slices[1]);
  }
};

}  // namespace lockstep::isa::texture_test
