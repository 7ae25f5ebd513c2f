#include "models/isa/semantics/semantics.hpp"

#include <cpuid.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/error/error.hpp"
#include "models/isa/semantics/families.hpp"

namespace lockstep::isa {
namespace {

using Family = Execute (*)(const SemanticKey&);

constexpr Family families_v2[] = {
    v2::select_integer, v2::select_multiply, v2::select_bits,        v2::select_float32,
    v2::select_float64, v2::select_half,     v2::select_approximate, v2::select_compare,
    v2::select_convert, v2::select_move,     v2::select_warp,        v2::select_video,
    v2::select_fp8,     v2::select_texture,  v2::select_matrix,      v2::select_warpgroup};
#ifndef LOCKSTEP_ONE_LEVEL
constexpr Family families_v3[] = {
    v3::select_integer, v3::select_multiply, v3::select_bits,        v3::select_float32,
    v3::select_float64, v3::select_half,     v3::select_approximate, v3::select_compare,
    v3::select_convert, v3::select_move,     v3::select_warp,        v3::select_video,
    v3::select_fp8,     v3::select_texture,  v3::select_matrix,      v3::select_warpgroup};
constexpr Family families_v4[] = {
    v4::select_integer, v4::select_multiply, v4::select_bits,        v4::select_float32,
    v4::select_float64, v4::select_half,     v4::select_approximate, v4::select_compare,
    v4::select_convert, v4::select_move,     v4::select_warp,        v4::select_video,
    v4::select_fp8,     v4::select_texture,  v4::select_matrix,      v4::select_warpgroup};
#endif

/// Each operation belongs to at most one family.
template <std::size_t count>
Execute first_of(const Family (&families)[count], const SemanticKey& key) {
  for (const Family family : families)
    if (const Execute execute = family(key)) return execute;
  return nullptr;
}

/// Returns the declared type of a register where the operand states it; otherwise the smallest type
/// that PTX needs: there are no 8-bit registers.
Type register_type(const ir::Operand& operand, Type type) {
  const bool stated = operand.type != Type::none && operand.type != Type::pred;
  if (stated && bytes_of(operand.type) > bytes_of(type)) return operand.type;
  return bytes_of(type) == 1 ? Type::b16 : type;
}

SemanticKey key_of(const ir::Operation& operation) {
  using Kind = ir::Operand::Kind;
  SemanticKey key;
  key.opcode = operation.opcode;
  key.type = operation.type;
  key.source_type = operation.source_type == Type::none ? operation.type : operation.source_type;
  // "_" and constants count as predicates in such a place.
  const auto is_predicate = [](const ir::Operand& operand) {
    return operand.kind == Kind::predicate || operand.type == Type::pred;
  };
  for (const ir::Operand& operand : operation.sources) {
    if (is_predicate(operand))
      ++key.predicate_sources;
    else if (operand.kind == Kind::special)
      key.special_source = true;
    else
      ++key.sources;
  }
  for (const ir::Operand& operand : operation.destinations)
    ++(is_predicate(operand) ? key.predicate_destinations : key.destinations);
  key.destination_register = register_type(
      operation.destinations.empty() ? ir::Operand{} : operation.destinations[0], key.type);
  key.source_register = register_type(
      operation.sources.empty() ? ir::Operand{} : operation.sources[0], key.source_type);
  key.space = operation.space;
  key.rounding = operation.rounding;
  key.comparison = operation.comparison;
  key.combination = operation.combination;
  key.part = operation.part;
  key.atomic = operation.atomic;
  key.flush = operation.flush;
  key.saturate = operation.saturate;
  key.relu = operation.relu;
  key.nan = operation.nan;
  key.approximate = operation.approximate;
  key.full = operation.full;
  key.carry_out = operation.carry_out;
  key.wrap = operation.wrap;
  key.shift_amount = operation.shift_amount;
  key.mode = operation.mode;
  return key;
}

/// Returns the mode that rides in the upper bits of `detail`.
unsigned mode_bits(const ir::Operation& operation) {
  if (operation.opcode == Opcode::isspacep) return static_cast<unsigned>(operation.space);
  if (operation.opcode == Opcode::redux) return static_cast<unsigned>(operation.atomic);
  return operation.mode;
}
std::uint16_t detail_of(const ir::Operation& operation) {
  namespace bits = detail_bits;
  unsigned detail = static_cast<unsigned>(operation.rounding);
  detail |= operation.flush ? bits::flush : 0;
  detail |= operation.saturate ? bits::saturate : 0;
  detail |= operation.relu ? bits::relu : 0;
  detail |= operation.nan ? bits::nan : 0;
  detail |= operation.wrap || operation.shift_amount ? bits::wrap : 0;
  detail |= static_cast<unsigned>(operation.combination) << bits::combination_shift;
  detail |= (mode_bits(operation) & 31U) << bits::mode_shift;
  return static_cast<std::uint16_t>(detail);
}

/// Returns the value that `set` writes for true: one in a floating-point type, all ones in an
/// integer one; for pairs, that of one half.
std::uint32_t true_value(const SemanticKey& key) {
  const bool pair = key.source_type == Type::f16x2 || key.source_type == Type::bf16x2;
  switch (key.type) {
    case Type::f32:
      return 0x3f800000;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80;
    default:
      return bytes_of(key.type) == 2 || pair ? 0xffff : 0xffffffff;
  }
}
std::uint32_t immediate_of(const ir::Operation& operation, const SemanticKey& key) {
  switch (operation.opcode) {
    case Opcode::set:
      return true_value(key);
    case Opcode::cvt:
    case Opcode::cvt_pack:
      return static_cast<std::uint32_t>(key.source_type) |
             static_cast<std::uint32_t>(key.type) << 8 |
             static_cast<std::uint32_t>(key.destination_register) << 16;
    case Opcode::mov:
      return key.special_source ? operation.sources[0].index : 0;
    default:
      return operation.immediate;
  }
}

Execute select(const SemanticKey& key, [[maybe_unused]] CpuLevel level) {
#ifndef LOCKSTEP_ONE_LEVEL
  if (level == CpuLevel::v4) return first_of(families_v4, key);
  if (level == CpuLevel::v3) return first_of(families_v3, key);
#endif
  return first_of(families_v2, key);
}

#ifndef LOCKSTEP_ONE_LEVEL
/// Returns whether the processor has F16C, LZCNT and MOVBE, which clang's __builtin_cpu_supports
/// does not know.
bool has_small_extensions_of_v3() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned basic = bit_F16C | bit_MOVBE;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & basic) != basic) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}
#endif

/// Asked once: `cpuid` leaves a virtual machine, which takes microseconds.
CpuLevel level_of_this_machine() {
#ifdef LOCKSTEP_ONE_LEVEL
  return CpuLevel::v2;
#else
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  has_small_extensions_of_v3();
  if (!v3) return CpuLevel::v2;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? CpuLevel::v4 : CpuLevel::v3;
#endif
}

CpuLevel wanted_level() {
  const char* text = std::getenv("LOCKSTEP_CPU_LEVEL");
  if (text == nullptr || *text == '\0') return best_cpu_level();
  const std::string_view wanted = text;
  if (wanted != "2" && wanted != "3" && wanted != "4")
    throw UserError{"LOCKSTEP_CPU_LEVEL", "unknown level '" + std::string(wanted) + "'",
                    "use 2, 3 or 4"};
  return std::min(best_cpu_level(), static_cast<CpuLevel>(wanted[0] - '0'));
}

}  // namespace

CpuLevel best_cpu_level() {
  static const CpuLevel level = level_of_this_machine();
  return level;
}

CpuLevel cpu_level() {
  static const CpuLevel level = wanted_level();
  return level;
}

Execute select_semantics(const ir::Operation& operation, CpuLevel level) {
  return select(key_of(operation), level);
}
Execute select_semantics(const ir::Operation& operation) {
  return select_semantics(operation, cpu_level());
}

bool bind_semantics(const ir::Operation& operation, Instruction& instruction, CpuLevel level) {
  const SemanticKey key = key_of(operation);
  instruction.execute = select(key, level);
  instruction.detail = detail_of(operation);
  if ((instruction.flags & flag_listed) == 0)
    instruction.offset = static_cast<std::int32_t>(immediate_of(operation, key));
  return instruction.execute != nullptr;
}
bool bind_semantics(const ir::Operation& operation, Instruction& instruction) {
  return bind_semantics(operation, instruction, cpu_level());
}

}  // namespace lockstep::isa
