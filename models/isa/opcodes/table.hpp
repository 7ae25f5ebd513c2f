/// The one table of facts about opcodes: a row for each, in the order of enum Opcode.
///
/// Add an instruction:
/// 1. its enumerator in opcode.hpp and its row here (OpcodeFacts documents the columns);
/// 2. a reader function and a line with its PTX name in reader/families/instruction_table.cpp - the
///    name alone, with &ArithmeticReader::alu, if types and operands follow the row's letters;
/// 3. its semantics, a function of 32 lanes, in the family of semantics/ that it belongs to.
/// Lowering, encoder, disassembler and interpreter use this table and need no change.  The tests
/// tests/unit/isa/opcodes/ say what is missing.
///
/// Source: PTX ISA 8.x; the sources of units and latency classes stand in execution_class.cpp,
/// those of issue slots in issue_slots.cpp, of scratch registers in scratch_registers.cpp.
#pragma once

#include <array>

#include "models/isa/opcodes/facts.hpp"
#include "models/isa/opcodes/issue_slots.hpp"
#include "models/isa/opcodes/scratch_registers.hpp"

namespace lockstep::isa {

// clang-format off
inline constexpr auto opcode_table = [] {
  using O = Opcode;
  using P = Pipe;
  using C = Category;
  constexpr ByType one{1, 1, 1, 1, 1}, two{2, 2, 2, 2, 2};
  return std::to_array<OpcodeFacts>({
      // Integers and logic
      {.opcode = O::add, .name = "add", .pipe = P::by_type, .operands = "tTT", .traits = commutes},
      {.opcode = O::addc, .name = "addc", .pipe = P::by_type, .operands = "tTT",
       .traits = reads_carry},
      {.opcode = O::sub, .name = "sub", .pipe = P::by_type, .operands = "tTT"},
      {.opcode = O::subc, .name = "subc", .pipe = P::by_type, .operands = "tTT",
       .traits = reads_carry},
      {.opcode = O::mul, .name = "mul", .pipe = P::multiply, .operands = "wTT",
       .traits = commutes, .slots_of = slots::multiply},
      {.opcode = O::mad, .name = "mad", .pipe = P::multiply, .operands = "wTTW",
       .traits = commutes, .slots_of = slots::multiply_add},
      {.opcode = O::madc, .name = "madc", .pipe = P::multiply, .operands = "wTTW",
       .traits = reads_carry, .slots_of = slots::multiply_add},
      {.opcode = O::mul24, .name = "mul24", .pipe = P::multiply, .operands = "tTT",
       .traits = commutes, .slots = {3, 3, 2, 1, 1}},
      {.opcode = O::mad24, .name = "mad24", .pipe = P::multiply, .operands = "tTTT",
       .traits = commutes, .slots = {3, 3, 2, 1, 1}},
      {.opcode = O::sad, .name = "sad", .pipe = P::by_type, .operands = "tttt",
       .slots = {1, 1, 10, 1, 1}},
      {.opcode = O::div, .name = "div", .pipe = P::by_type, .operands = "tTT", .traits = is_slow,
       .slots_of = slots::divide, .scratch_of = scratch::divide, .wait = 24},
      {.opcode = O::rem, .name = "rem", .pipe = P::by_type, .operands = "tTT", .traits = is_slow,
       .slots_of = slots::divide, .scratch_of = scratch::divide, .wait = 24},
      {.opcode = O::abs, .name = "abs", .pipe = P::by_type, .operands = "tT",
       .slots = {1, 1, 5, 1, 1}},
      {.opcode = O::neg, .name = "neg", .pipe = P::by_type, .operands = "tT"},
      {.opcode = O::min, .name = "min", .pipe = P::by_type, .operands = "tTT",
       .traits = commutes_if_integer, .slots = {4, 2, 4, 1, 9}},
      {.opcode = O::max, .name = "max", .pipe = P::by_type, .operands = "tTT",
       .traits = commutes_if_integer, .slots = {4, 2, 4, 1, 9}},
      {.opcode = O::and_, .name = "and", .pipe = P::by_type, .operands = "tTT",
       .traits = commutes, .slots_of = slots::conjunction},
      {.opcode = O::or_, .name = "or", .pipe = P::by_type, .operands = "tTT", .traits = commutes},
      {.opcode = O::xor_, .name = "xor", .pipe = P::by_type, .operands = "tTT", .traits = commutes},
      {.opcode = O::not_, .name = "not", .pipe = P::by_type, .operands = "tT"},
      {.opcode = O::cnot, .name = "cnot", .pipe = P::by_type, .operands = "tT",
       .slots = {3, 3, 2, 1, 1}},
      {.opcode = O::lop3, .name = "lop3", .pipe = P::by_type, .operands = "tTTTp"},
      {.opcode = O::shl, .name = "shl", .pipe = P::by_type, .operands = "tTB",
       .slots_of = slots::shift},
      {.opcode = O::shr, .name = "shr", .pipe = P::by_type, .operands = "tTB",
       .slots_of = slots::shift},
      {.opcode = O::shf, .name = "shf", .pipe = P::by_type, .operands = "tTTB"},
      {.opcode = O::popc, .name = "popc", .pipe = P::special, .operands = "bT",
       .slots = {1, 1, 3, 1, 1}},
      {.opcode = O::clz, .name = "clz", .pipe = P::special, .operands = "bT",
       .slots = {2, 2, 6, 1, 1}},
      {.opcode = O::bfind, .name = "bfind", .pipe = P::special, .operands = "bt",
       .slots = {1, 1, 8, 1, 1}},
      {.opcode = O::fns, .name = "fns", .pipe = P::by_type, .operands = "tbbb",
       .slots = {51, 51, 2, 1, 1}},
      {.opcode = O::brev, .name = "brev", .pipe = P::special, .operands = "tT"},
      {.opcode = O::bfe, .name = "bfe", .pipe = P::by_type, .operands = "tTBB",
       .traits = has_immediate_field, .slots_of = slots::extract_bits},
      {.opcode = O::bfi, .name = "bfi", .pipe = P::by_type, .operands = "tTTBB",
       .traits = has_immediate_field, .slots_of = slots::insert_bits},
      {.opcode = O::szext, .name = "szext", .pipe = P::by_type, .operands = "ttb"},
      {.opcode = O::bmsk, .name = "bmsk", .pipe = P::by_type, .operands = "tbb"},
      {.opcode = O::prmt, .name = "prmt", .pipe = P::by_type, .operands = "ttbb"},
      {.opcode = O::dp4a, .name = "dp4a", .pipe = P::multiply, .operands = "bbbb",
       .traits = has_two_types},
      {.opcode = O::dp2a, .name = "dp2a", .pipe = P::multiply, .operands = "bbbb",
       .traits = has_two_types},
      {.opcode = O::video, .name = "video", .pipe = P::by_type, .operands = "tt",
       .origin = Origin::reader, .slots_of = slots::video},
      {.opcode = O::video2, .name = "video2", .pipe = P::by_type, .operands = "tt",
       .origin = Origin::reader, .slots_of = slots::video},
      {.opcode = O::video4, .name = "video4", .pipe = P::by_type, .operands = "tt",
       .origin = Origin::reader, .slots_of = slots::video},
      // Floating point
      {.opcode = O::fma, .name = "fma", .pipe = P::by_type, .operands = "tTTT", .traits = commutes},
      {.opcode = O::rcp, .name = "rcp", .pipe = P::special_function, .operands = "tT",
       .slots_of = slots::reciprocal, .scratch_of = scratch::reciprocal, .wait = 24},
      {.opcode = O::sqrt, .name = "sqrt", .pipe = P::special_function, .operands = "tT",
       .slots_of = slots::square_root, .scratch_of = scratch::square_root, .wait = 24},
      {.opcode = O::rsqrt, .name = "rsqrt", .pipe = P::special_function, .operands = "tT",
       .slots_of = slots::reciprocal_root, .wait = 24},
      {.opcode = O::sin, .name = "sin", .pipe = P::special_function, .operands = "tT",
       .slots = two, .wait = 24},
      {.opcode = O::cos, .name = "cos", .pipe = P::special_function, .operands = "tT",
       .slots = two, .wait = 24},
      {.opcode = O::lg2, .name = "lg2", .pipe = P::special_function, .operands = "tT",
       .slots_of = slots::logarithm, .wait = 24},
      {.opcode = O::ex2, .name = "ex2", .pipe = P::special_function, .operands = "tT",
       .slots_of = slots::logarithm, .wait = 24},
      {.opcode = O::tanh, .name = "tanh", .pipe = P::special_function, .operands = "tT",
       .slots = one},
      {.opcode = O::copysign, .name = "copysign", .pipe = P::by_type, .operands = "ttt",
       .slots = {1, 1, 2, 2, 2}},
      {.opcode = O::testp, .name = "testp", .pipe = P::comparison, .operands = "pt",
       .slots = {1, 1, 2, 3, 3}},
      // Comparison and selection
      {.opcode = O::set, .name = "set", .pipe = P::by_type, .operands = "tSSp",
       .slots = {2, 2, 3, 2, 2}},
      {.opcode = O::setp, .name = "setp", .pipe = P::comparison, .operands = "pTTp"},
      {.opcode = O::selp, .name = "selp", .pipe = P::integer, .operands = "tTTp",
       .slots = {1, 1, 2, 1, 2}},
      {.opcode = O::slct, .name = "slct", .pipe = P::integer, .operands = "tTTS",
       .slots = {2, 2, 3, 2, 2}},
      // Movement and conversion
      {.opcode = O::mov, .name = "mov", .pipe = P::move, .operands = "tT",
       .traits = takes_every_constant, .slots_of = slots::move},
      {.opcode = O::mov_pack, .name = "mov_pack", .pipe = P::move, .operands = "tb",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::mov_unpack, .name = "mov_unpack", .pipe = P::move, .operands = "tt",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::cvt, .name = "cvt", .pipe = P::conversion, .operands = "tS",
       .slots_of = slots::convert, .wait = 14},
      {.opcode = O::cvt_pack, .name = "cvt_pack", .pipe = P::conversion, .operands = "ts",
       .origin = Origin::reader, .slots_of = slots::convert},
      {.opcode = O::cvt_fp8, .name = "cvt_fp8", .pipe = P::conversion, .operands = "ts",
       .origin = Origin::reader},
      {.opcode = O::cvta, .name = "cvta", .pipe = P::move, .operands = "tt"},
      {.opcode = O::isspacep, .name = "isspacep", .pipe = P::by_type, .operands = "pt"},
      {.opcode = O::mapa, .name = "mapa", .pipe = P::integer, .operands = "ttb"},
      {.opcode = O::getctarank, .name = "getctarank", .pipe = P::integer, .operands = "btb"},
      // Memory
      {.opcode = O::ld, .name = "ld", .pipe = P::memory, .operands = "ta", .category = C::load,
       .slots = one, .wait = 200},
      {.opcode = O::ldu, .name = "ldu", .pipe = P::memory, .operands = "ta", .category = C::load,
       .slots = one, .wait = 200},
      {.opcode = O::st, .name = "st", .pipe = P::memory, .operands = "-at", .category = C::store,
       .slots = one},
      {.opcode = O::atom, .name = "atom", .pipe = P::memory, .operands = "tat",
       .category = C::atomic, .traits = returns_old_value, .slots = one},
      {.opcode = O::red, .name = "red", .pipe = P::memory, .operands = "-at",
       .category = C::atomic, .slots = one},
      {.opcode = O::prefetch, .name = "prefetch", .pipe = P::memory, .operands = "-a",
       .category = C::prefetch, .slots = one},
      {.opcode = O::fence, .name = "fence", .pipe = P::memory, .category = C::fence,
       .slots_of = slots::fence},
      {.opcode = O::cp_async, .name = "cp_async", .pipe = P::memory, .operands = "-abb",
       .category = C::copy, .origin = Origin::reader, .slots = one, .wait = 200},
      {.opcode = O::cp_async_group, .name = "cp_async_group", .pipe = P::control,
       .category = C::copy_group, .origin = Origin::reader, .slots = one},
      {.opcode = O::bulk_copy, .name = "bulk_copy", .pipe = P::memory, .operands = "-a",
       .category = C::bulk_copy, .origin = Origin::reader, .slots = one},
      {.opcode = O::bulk_group, .name = "bulk_group", .pipe = P::control,
       .category = C::bulk_group, .origin = Origin::reader, .slots = one},
      {.opcode = O::async_store, .name = "async_store", .pipe = P::memory, .operands = "-at",
       .category = C::async_store, .origin = Origin::reader, .slots = one},
      {.opcode = O::mbarrier_wait, .name = "mbarrier_wait", .pipe = P::memory, .operands = "bab",
       .category = C::phase_wait, .origin = Origin::reader, .traits = depends_on_lanes,
       .slots = two, .wait = 30},
      {.opcode = O::ldmatrix, .name = "ldmatrix", .pipe = P::memory, .operands = "ba",
       .category = C::load, .traits = depends_on_lanes, .slots = one, .wait = 30},
      {.opcode = O::stmatrix, .name = "stmatrix", .pipe = P::memory, .operands = "-ab",
       .category = C::store, .traits = depends_on_lanes, .slots = one},
      // Warp
      {.opcode = O::shfl, .name = "shfl", .pipe = P::shuffle, .operands = "tbB",
       .category = C::shuffle_vote, .traits = depends_on_lanes | has_immediate_field, .wait = 24},
      {.opcode = O::vote, .name = "vote", .pipe = P::vote, .operands = "tb",
       .category = C::shuffle_vote, .traits = depends_on_lanes},
      {.opcode = O::match, .name = "match", .pipe = P::vote, .operands = "ttb",
       .category = C::shuffle_vote, .traits = depends_on_lanes},
      {.opcode = O::activemask, .name = "activemask", .pipe = P::vote, .operands = "t",
       .category = C::shuffle_vote, .traits = depends_on_lanes},
      {.opcode = O::redux, .name = "redux", .pipe = P::vote, .operands = "tb",
       .category = C::shuffle_vote, .traits = depends_on_lanes},
      {.opcode = O::elect, .name = "elect", .pipe = P::vote, .operands = "tb",
       .category = C::shuffle_vote, .traits = depends_on_lanes},
      {.opcode = O::mma, .name = "mma", .pipe = P::tensor, .operands = "tt",
       .category = C::shuffle_vote, .traits = depends_on_lanes, .slots_of = slots::matrix,
       .wait = 24},
      {.opcode = O::wgmma, .name = "wgmma", .pipe = P::tensor, .operands = "tt",
       .category = C::warpgroup_product, .traits = depends_on_lanes, .slots = one},
      {.opcode = O::wgmma_step, .name = "wgmma_step", .pipe = P::control,
       .category = C::warpgroup_step, .origin = Origin::reader, .slots = one},
      {.opcode = O::movmatrix, .name = "movmatrix", .pipe = P::shuffle, .operands = "bb",
       .category = C::shuffle_vote, .traits = depends_on_lanes, .wait = 24},
      // Control
      {.opcode = O::bra, .name = "bra", .pipe = P::control, .category = C::branch,
       .traits = takes_every_constant, .slots = one},
      {.opcode = O::brx, .name = "brx", .pipe = P::control, .operands = "-b",
       .category = C::branch_indexed, .traits = takes_every_constant},
      {.opcode = O::call, .name = "call", .pipe = P::control, .category = C::call,
       .traits = depends_on_lanes | takes_every_constant},
      {.opcode = O::ret, .name = "ret", .pipe = P::control, .category = C::ret, .slots = one},
      {.opcode = O::exit, .name = "exit", .pipe = P::control, .category = C::exit, .slots = one},
      {.opcode = O::trap, .name = "trap", .pipe = P::control, .operands = "-aaba",
       .category = C::trap},
      {.opcode = O::brkpt, .name = "brkpt", .pipe = P::control, .category = C::nop,
       .traits = depends_on_lanes},
      {.opcode = O::bar, .name = "bar", .pipe = P::control, .operands = "tb",
       .category = C::barrier,
       .traits = depends_on_lanes | has_immediate_field | takes_every_constant},
      {.opcode = O::bar_warp, .name = "bar_warp", .pipe = P::control, .operands = "-b",
       .category = C::warp_barrier, .origin = Origin::reader, .traits = depends_on_lanes},
      {.opcode = O::bar_cluster, .name = "bar_cluster", .pipe = P::control,
       .category = C::cluster_barrier, .origin = Origin::reader,
       .traits = depends_on_lanes | takes_every_constant, .slots = one},
      {.opcode = O::nanosleep, .name = "nanosleep", .pipe = P::control, .operands = "-b",
       .category = C::sleep, .traits = depends_on_lanes},
      {.opcode = O::setmaxnreg, .name = "setmaxnreg", .pipe = P::control,
       .category = C::register_limit, .traits = depends_on_lanes, .slots = one},
      {.opcode = O::pmevent, .name = "pmevent", .pipe = P::control, .category = C::nop,
       .traits = depends_on_lanes},
      {.opcode = O::griddepcontrol, .name = "griddepcontrol", .pipe = P::control,
       .category = C::grid_dependency, .slots = one},
      {.opcode = O::nop, .name = "nop", .pipe = P::control, .category = C::nop,
       .origin = Origin::lowering},
      // Made by the reader
      {.opcode = O::print, .name = "print", .pipe = P::control, .operands = "tt",
       .category = C::print, .traits = depends_on_lanes, .slots = one},
      {.opcode = O::stack_save, .name = "stack_save", .pipe = P::by_type, .operands = "t",
       .origin = Origin::reader, .traits = depends_on_lanes, .slots = one},
      {.opcode = O::stack_restore, .name = "stack_restore", .pipe = P::by_type, .operands = "-t",
       .origin = Origin::reader, .traits = depends_on_lanes, .slots = one},
      // Made by the reader of textures and surfaces
      {.opcode = O::tex_index, .name = "tex_index", .pipe = P::integer, .operands = "bBttB",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::tex_row, .name = "tex_row", .pipe = P::integer, .operands = "bBBt",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::tex_address, .name = "tex_address", .pipe = P::integer, .operands = "tTttBB",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::tex_decode, .name = "tex_decode", .pipe = P::integer, .operands = "bt",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::tex_mix, .name = "tex_mix", .pipe = P::by_type, .operands = "tt",
       .origin = Origin::reader, .slots = one},
      {.opcode = O::surf_address, .name = "surf_address", .pipe = P::integer,
       .operands = "ttttBB", .origin = Origin::reader, .slots = one},
      // Made by lowering
      {.opcode = O::iadd3, .name = "iadd3", .pipe = P::by_type, .operands = "tTTT",
       .origin = Origin::lowering},
      {.opcode = O::lea, .name = "lea", .pipe = P::by_type, .operands = "tTT",
       .origin = Origin::lowering},
      {.opcode = O::mad_wide_add, .name = "mad_wide_add", .pipe = P::multiply, .operands = "dTTD",
       .origin = Origin::lowering, .traits = commutes, .slots = one},
      {.opcode = O::spill, .name = "spill", .pipe = P::memory, .operands = "-at",
       .category = C::store, .origin = Origin::lowering, .traits = on_own_stack, .slots = one},
      {.opcode = O::fill, .name = "fill", .pipe = P::memory, .operands = "ta",
       .category = C::load, .origin = Origin::lowering, .traits = on_own_stack, .slots = one,
       .wait = 200},
  });
}();
// clang-format on

constexpr bool rows_are_in_order() {
  for (std::size_t o = 0; o < opcode_table.size(); ++o)
    if (static_cast<std::size_t>(opcode_table[o].opcode) != o) return false;
  return true;
}
static_assert(rows_are_in_order(), "the rows stand in the order of enum Opcode");

constexpr const OpcodeFacts& facts_of(Opcode opcode) {
  return opcode_table[static_cast<std::size_t>(opcode)];
}
constexpr bool has_trait(Opcode opcode, unsigned trait) {
  return (facts_of(opcode).traits & trait) != 0;
}
constexpr Category category_of(Opcode opcode) {
  return facts_of(opcode).category;
}

constexpr bool is_branch(Opcode opcode) {
  return category_of(opcode) == Category::branch || category_of(opcode) == Category::branch_indexed;
}
/// Returns whether the lanes that execute the operation end, or return.
constexpr bool ends_thread(Opcode opcode) {
  const Category category = category_of(opcode);
  return category == Category::ret || category == Category::exit || category == Category::trap;
}
/// Returns whether the operation is a load, a store, an atomic or a prefetch; its first source is
/// an address.
constexpr bool accesses_memory(Opcode opcode) {
  return is_memory(category_of(opcode));
}

}  // namespace lockstep::isa
