#include "models/noc/interleaving.hpp"

#include "core/error/error.hpp"

namespace lockstep {
namespace {

/// Primitive polynomials over GF(2) of degree 1 to 10, without their leading term; those of degrees
/// 4, 5 and 6 are in gpu-parameters.md, section 1 "IPOLY".
constexpr std::array<std::uint32_t, 11> tails = {0,    0b1,  0b11,    0b11,    0b11,  0b101,
                                                 0b11, 0b11, 0b11101, 0b10001, 0b1001};

/// Calls each(bit, x^(m + bit) mod P) for the lowest `bits` bits of an upper address, where P has
/// degree m.
template <class Each>
void for_each_remainder(std::uint32_t degree, unsigned bits, Each&& each) {
  std::uint32_t remainder = tails[degree];
  for (unsigned bit = 0; bit < bits; ++bit) {
    each(bit, remainder);
    const bool carry = degree > 0 && (remainder >> (degree - 1)) & 1;
    remainder = (remainder << 1) & ((1u << degree) - 1);
    if (carry) remainder ^= tails[degree];
  }
}

}  // namespace

const Interleaving::ByteTables& Interleaving::tables_of(std::uint32_t shift) {
  static const auto all = [] {
    std::array<ByteTables, tails.size()> of_degree{};
    for (std::uint32_t degree = 0; degree < tails.size(); ++degree) {
      for_each_remainder(degree, 24, [&](unsigned bit, std::uint32_t remainder) {
        for (unsigned value = 0; value < 256; ++value)
          if ((value >> (bit % 8)) & 1)
            of_degree[degree][bit / 8][value] ^= static_cast<std::uint16_t>(remainder);
      });
    }
    return of_degree;
  }();
  return all[shift];
}

Interleaving::Interleaving(bool hashed, unsigned chunk_shift, std::uint32_t partitions)
    : hashed_(hashed),
      power_of_two_(std::has_single_bit(partitions)),
      partitions_(partitions),
      chunk_shift_(chunk_shift),
      shift_(static_cast<std::uint32_t>(std::bit_width(partitions)) - 1) {
  LOCKSTEP_CHECK(partitions >= 1 && partitions <= 1024, "1 to 1024 partitions can be mapped");
  if (!hashed || !power_of_two_) return;
  tables_ = &tables_of(shift_);
  for_each_remainder(shift_, 64, [&](unsigned bit, std::uint32_t remainder) {
    for (unsigned i = 0; i < shift_; ++i)
      if ((remainder >> i) & 1) masks_[i] |= std::uint64_t{1} << bit;
  });
}

}  // namespace lockstep
