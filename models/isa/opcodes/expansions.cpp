/// Source: one kernel per operation, compiled with ptxas 13.0 for sm_75 (the oldest machine it
/// knows, with the pipelines of sm_70) and decoded: the order, the result that each instruction
/// reads, and the path of normal operands.  The number of instructions is that of ptxas 11.8 for
/// sm_70 (issue_slots.cpp); where it is larger, the rest is assumed to be beside the chain.
/// Integer divisions: ptxas 11.8, sm_70, operands in registers; a constant divisor needs no test
/// for sign and zero, and its reciprocal waits for nothing.  Minima, bit fields and products: ptxas
/// 11.8, sm_70, chains of 16.
///
/// Simplified: operands that take a slow path in the code of ptxas (denormals, infinities) cost no
/// more.
#include "models/isa/opcodes/expansions.hpp"

#include <array>

#include "models/isa/opcodes/issue_slots.hpp"

namespace lockstep::isa {
namespace {

struct Row {
  Opcode opcode;
  Type type;       ///< none: any type
  unsigned slots;  ///< tells forms of an operation apart (.approx, .ftz, .hi)
  Expansion expansion;
  bool by_constant = false;
};

using O = Opcode;
using T = Type;

// clang-format off
constexpr auto rows = std::to_array<Row>({
    {O::nop, T::none, 0, {}},
    // Quotient by reciprocal, two corrections.
    {O::div, T::s32, 28, {"acmaciihhipipaia", "aaaaaaii"}},
    {O::div, T::u32, 19, {"cmacihhaipipaa", "aaai"}},
    {O::rem, T::s32, 26, {"acmacaihhipapiaa", "aaaaai"}},
    {O::rem, T::u32, 17, {"cmacihhiipapia", "aai"}},
    {O::div, T::s32, 28, {"ahipapaa", "cmacihaaaa"}, true},
    {O::div, T::u32, 19, {"hipapa", "cmacihaa"}, true},
    {O::rem, T::s32, 26, {"ahipapaa", "cmacihaa"}, true},
    {O::rem, T::u32, 17, {"hipapa", "cmaciha"}, true},
    // 64-bit division, called as a function; products of 32 bits are all 'i'.
    {O::div, T::s64, 88, {"pacmaciiiiiiaiiiiiiaiaiiaiappappaaiaaabb",
        "aaaaaaaaaaaaaaaaaaaaaaaaaiiiiiiiiiiiiiiiiiiipppp"}},
    {O::div, T::u64, 72, {"cmaciiiiiiaiiiiiiaiaiiaiappappaaabb",
        "aaaaaaaaaaaaaaaaaaaaaiiiiiiiiiiiiiipp"}},
    {O::rem, T::s64, 82, {"pacmaciiiaiiaiiiiiiaiaiiaiappappaaiaaabb",
        "aaaaaaaaaaaaaaaaaaaaaaaiiiiiiiiiiiiiiiippp"}},
    {O::rem, T::u64, 68, {"cmaciiiaiiaiiiaiiaiaiiaiappappaaabb",
        "aaaaaaaaaaaaaaaaaiiiiiiiiiiiiiipp"}},
    // Reciprocal, Newton's steps, test for the slow path, which divisions and roots of floats branch
    // around.  ptxas computes the reciprocal of a constant: what waits longest is then the test.
    {O::div, T::f32, 10, {"mffffftb", "qb"}},
    {O::div, T::f32, 10, {"qtb", "aafffff"}, true},
    {O::div, T::f32, 8, {"pfmf", "afff"}},
    {O::div, T::f32, 5, {"pfmf", "f"}},
    {O::div, T::f32, 2, {"mf", ""}},
    {O::div, T::f64, 15, {"mddddddddfpbb", "ia"}},
    {O::rcp, T::f32, 9, {"aapbmfffb", ""}},
    {O::rcp, T::f64, 12, {"mdddddbb", "apbi"}},
    {O::sqrt, T::f32, 11, {"aptfffb", "mfbb"}},
    {O::sqrt, T::f32, 4, {"pfmf", ""}},
    {O::sqrt, T::f64, 17, {"mdddddddbb", "dapaiib"}},
    {O::rsqrt, T::f32, 4, {"pfmf", ""}},
    {O::rsqrt, T::f64, 14, {"mddddbb", "dapiiib"}},
    {O::lg2, T::f32, 4, {"pfmf", ""}},
    {O::ex2, T::f32, 4, {"pfmf", ""}},
    {O::sin, T::f32, 2, {"fm", ""}},
    {O::cos, T::f32, 2, {"fm", ""}},
    {O::popc, T::none, 1, {"n", ""}},
    {O::popc, T::none, 3, {"na", "n"}},
    {O::brev, T::none, 1, {"n", ""}},
    {O::brev, T::none, 2, {"n", "n"}},
    {O::bfind, T::none, 1, {"n", ""}},
    {O::clz, T::none, 2, {"na", ""}},
    // Comparison and selection; halves are extended first, and of 64 bits both words go through.
    {O::min, T::none, 2, {"aa", ""}},
    {O::max, T::none, 2, {"aa", ""}},
    {O::min, T::none, 4, {"aaa", "a"}},
    {O::max, T::none, 4, {"aaa", "a"}},
    {O::min, T::f64, 9, {"adaaa", "aaaa"}},
    {O::max, T::f64, 9, {"adaaa", "aaaa"}},
    // Shift and mask; position and length come from bytes of registers.
    {O::bfe, T::none, 2, {"aa", ""}},
    {O::bfe, T::none, 5, {"aaa", "aa"}},
    {O::bfi, T::none, 2, {"aa", ""}},
    {O::bfi, T::none, 6, {"aaaa", "aa"}},
    // 64-bit addition with a carry, then operations on halves that do not wait for each other.
    {O::add, T::u64, 2, {"aa", ""}},
    {O::add, T::s64, 2, {"aa", ""}},
    {O::sub, T::u64, 2, {"aa", ""}},
    {O::sub, T::s64, 2, {"aa", ""}},
    {O::and_, T::b64, 2, {"a", "a"}},
    {O::or_, T::b64, 2, {"a", "a"}},
    {O::xor_, T::b64, 2, {"a", "a"}},
    {O::mov, T::none, 2, {"a", "a"}},
    {O::selp, T::none, 2, {"a", "a"}},
});
// Upper halves of products, and whole products, have no opcode of their own.
constexpr Expansion upper_product{"h", ""}, upper_product_and_sum{"ha", ""}, whole_product{"w", ""};
// Products of 64 bits from those of 32.
constexpr Expansion wide_product_by_constant{"wa", "i"}, wide_product{"wia", "i"};
// HADD2.F32.
constexpr Expansion widened_half{"x", ""};
// clang-format on

/// Expansions that more than opcode and type tells apart.
constexpr std::array others{upper_product, upper_product_and_sum, wide_product_by_constant,
                            wide_product,  whole_product,         widened_half};

/// Returns the index of the operation in `others`; their number if it is none of them.
std::uint32_t other(const ir::Operation& o, unsigned slots) {
  if (o.opcode == Opcode::cvt && o.type == Type::f32 && o.source_type == Type::f16) return 5;
  if (o.opcode == Opcode::mad_wide_add) return 4;
  const bool multiplies = o.opcode == Opcode::mul || o.opcode == Opcode::mad;
  if (!multiplies || is_float(o.type)) return others.size();
  const bool upper = o.part == ir::MulPart::hi;
  if (bytes_of(o.type) == 4 && upper) return slots == 1 ? 0 : 1;
  if (bytes_of(o.type) == 4 && o.part == ir::MulPart::wide) return 4;
  if (bytes_of(o.type) == 8 && !upper) return slots == 3 ? 2 : 3;
  return others.size();
}

bool divides_by_constant(const ir::Operation& o, unsigned slots) {
  if (o.sources.size() < 2 || o.sources[1].kind != ir::Operand::Kind::immediate) return false;
  if (o.type == Type::f32) return o.opcode == Opcode::div && slots == 10;
  return (o.opcode == Opcode::div || o.opcode == Opcode::rem) && !is_float(o.type) &&
         bytes_of(o.type) == 4;
}

}  // namespace

std::uint32_t expansion_number(const ir::Operation& operation) {
  const unsigned slots = issue_slots(operation);
  if (const std::uint32_t found = other(operation, slots); found < others.size())
    return static_cast<std::uint32_t>(rows.size()) + found;
  for (std::uint32_t r = 1; r < rows.size(); ++r)
    if (rows[r].opcode == operation.opcode && rows[r].slots == slots &&
        rows[r].by_constant == divides_by_constant(operation, slots) &&
        (rows[r].type == Type::none || rows[r].type == operation.type))
      return r;
  return 0;
}

const Expansion& expansion(std::uint32_t number) {
  return number < rows.size() ? rows[number].expansion : others[number - rows.size()];
}

std::uint32_t expansion_count() {
  return static_cast<std::uint32_t>(rows.size() + others.size());
}

}  // namespace lockstep::isa
