#include "models/noc/interleaving.hpp"

#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// Primitive polynomials over GF(2) of degree 1 to 10, without their leading term; degrees 4, 5 and
/// 6 are those of gpu-parameters.md, section 1 "IPOLY".
constexpr std::array<std::uint32_t, 11> tails = {0,    0b1,  0b11,    0b11,    0b11,  0b101,
                                                 0b11, 0b11, 0b11101, 0b10001, 0b1001};

}  // namespace

Interleaving::Interleaving(bool hashed, unsigned chunk_shift, std::uint32_t partitions)
    : hashed_(hashed),
      power_of_two_(std::has_single_bit(partitions)),
      partitions_(partitions),
      chunk_shift_(chunk_shift),
      shift_(static_cast<std::uint32_t>(std::bit_width(partitions)) - 1) {
  LOCKSTEP_CHECK(partitions >= 1 && partitions <= 1024, "1 to 1024 partitions can be mapped");
  if (!hashed || !power_of_two_) return;
  // remainder = x^(m + bit) mod P, for every bit of the upper address.
  std::uint32_t remainder = tails[shift_];
  for (unsigned bit = 0; bit < 64 && shift_ > 0; ++bit) {
    for (unsigned i = 0; i < shift_; ++i)
      if ((remainder >> i) & 1) masks_[i] |= std::uint64_t{1} << bit;
    const bool carry = (remainder >> (shift_ - 1)) & 1;
    remainder = (remainder << 1) & (partitions_ - 1);
    if (carry) remainder ^= tails[shift_];
  }
}

}  // namespace lockstep
