/// Meanings of ir::Operation::mode, by opcode (see semantics.hpp).
#pragma once

#include <cstdint>

namespace lockstep::isa {

enum class ShiftDirection : std::uint16_t { left, right };
enum class PermuteMode : std::uint16_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
enum class ShuffleMode : std::uint16_t { up, down, bfly, idx };
enum class VoteMode : std::uint16_t { all, any, uni, ballot };
enum class MatchMode : std::uint16_t { any, all };
enum class ClassTest : std::uint16_t { finite, infinite, number, notanumber, normal, subnormal };

/// Mode of cvt_fp8.
enum class Fp8Format : std::uint16_t { e4m3, e5m2 };
inline constexpr std::uint16_t convert_finite = 1;  ///< cvt.satfinite

inline constexpr std::uint16_t video_multiply_add = 1;  ///< vmad
enum class VideoOperation : std::uint8_t { add, sub, absdiff, min, max, average, set, shl, shr };
enum class VideoSecondary : std::uint8_t { none, add, min, max };
/// Part of a 32-bit operand that a scalar video instruction takes or writes.
enum class VideoPart : std::uint8_t { whole, b0, b1, b2, b3, h0, h1 };

/// Fields of the immediate of video, video2 and video4.
namespace video_bits {
inline constexpr unsigned operation_shift = 0;           ///< VideoOperation, four bits
inline constexpr unsigned comparison_shift = 4;          ///< Comparison of set, four bits
inline constexpr unsigned secondary_shift = 8;           ///< VideoSecondary, two bits
inline constexpr unsigned part_shift[3] = {10, 13, 16};  ///< video: of d, a, b, three bits each
inline constexpr unsigned mask_shift = 10;               ///< video2, video4: parts written
/// Video instructions: shift of the result of vmad, four bits.
inline constexpr unsigned scale_shift = 19;
inline constexpr std::uint32_t result_signed = 1U << 24;
inline constexpr std::uint32_t a_signed = 1U << 25;
inline constexpr std::uint32_t b_signed = 1U << 26;
inline constexpr std::uint32_t saturate = 1U << 27;
inline constexpr std::uint32_t relu = 1U << 28;      ///< min, max: at least zero
inline constexpr std::uint32_t wrap = 1U << 28;      ///< shl, shr: the amount is taken modulo 32
inline constexpr std::uint32_t plus_one = 1U << 29;  ///< vmad.po
inline constexpr std::uint32_t negate_product = 1U << 30;  ///< vmad
inline constexpr std::uint32_t negate_c = 1U << 31;        ///< vmad
}  // namespace video_bits

}  // namespace lockstep::isa
