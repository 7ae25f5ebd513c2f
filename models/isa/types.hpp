#pragma once

#include <cstdint>

namespace lockstep::isa {

inline constexpr unsigned warp_size = 32;

/// Operand types of PTX.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
};

constexpr unsigned bytes_of(Type t) {
  switch (t) {
    case Type::none:
    case Type::pred:
      return 0;
    case Type::b8:
    case Type::u8:
    case Type::s8:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
      return 2;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
      return 8;
    default:
      return 4;
  }
}
constexpr bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
constexpr bool is_float(Type t) {
  return t >= Type::f16;
}
/// Returns the type of the result of a .wide instruction on an integer; none: there is no such
/// instruction.
constexpr Type doubled(Type t) {
  switch (t) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}
/// Returns how many 32-bit rows a register of this type takes: 2 for 64-bit types, 1 otherwise, 0
/// for predicates.
constexpr unsigned rows_of(Type t) {
  return t == Type::pred ? 0 : bytes_of(t) == 8 ? 2 : 1;
}

/// PTX state spaces; `parameter` is the constant bank of kernel parameters, `shared` the shared
/// memory of the block itself, `shared_cluster` that of all blocks of its cluster (cluster.hpp).
enum class Space : std::uint8_t {
  none,
  generic,
  global,
  shared,
  local,
  constant,
  parameter,
  shared_cluster,
};

enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };
enum class Comparison : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
};
enum class Combination : std::uint8_t { none, logical_and, logical_or, logical_xor };
enum class AtomicOperation : std::uint8_t {
  none,
  logical_and,
  logical_or,
  logical_xor,
  cas,
  exch,
  add,
  inc,
  dec,
  min,
  max,
  // At an mbarrier, see barriers/mbarrier.hpp.
  mbarrier_init,
  mbarrier_inval,
  arrive,
  arrive_drop,
  arrive_incomplete,  ///< .noComplete
  arrive_drop_incomplete,
  arrive_behind_copies,  ///< cp.async.mbarrier.arrive.noinc
  join_behind_copies,    ///< as arrive_behind_copies, and counts the thread as expected first
  // Transactions at an mbarrier: the count is one of bytes.
  expect_transactions,         ///< expect_tx
  complete_transactions,       ///< complete_tx
  arrive_and_expect,           ///< expects transactions, then one thread arrives
  arrive_and_expect_and_drop,  ///< arrive_drop.expect_tx
};
/// ld/st cache operators (`.nc` loads are `non_coherent`; `texel`: loads of a texture fetch).
enum class CacheOperator : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt, non_coherent, texel };
enum class Ordering : std::uint8_t { weak, is_volatile, relaxed, acquire, release, acq_rel, sc };
enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };

/// Fixed windows of the generic address space, equal in every tenant and never mapped
/// (architecture.md, section 8, rule 11).
inline constexpr std::uint64_t shared_window_base = 0x0100'0000;  // 16 MiB for shared memory
inline constexpr std::uint64_t shared_window_bytes = 0x0100'0000;
inline constexpr std::uint64_t local_window_base = 0x0200'0000;  // 16 MiB per thread
inline constexpr std::uint64_t local_window_bytes = 0x0100'0000;
/// Module::constant_image and the kernel parameter buffer; ld.const and ld.param use these
/// addresses.
inline constexpr std::uint64_t constant_window_base = 0x0300'0000;
inline constexpr std::uint64_t constant_window_bytes = 0x0100'0000;
inline constexpr std::uint64_t parameter_window_base = 0x0400'0000;
inline constexpr std::uint64_t parameter_window_bytes = 0x0001'0000;
/// Least address of tenants' buffers; everything below is the null page.
inline constexpr std::uint64_t first_global_address = 0x1'0000'0000;

}  // namespace lockstep::isa
