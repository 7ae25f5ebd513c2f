#include "models/isa/reader/families/instruction_table.hpp"

#include <algorithm>

namespace lockstep::isa {
namespace {

template <auto family, auto function>
void member(Readers& readers, PtxInstruction& instruction) {
  ((readers.*family).*function)(instruction);
}

constexpr auto read_alu = member<&Readers::arithmetic, &ArithmeticReader::alu>;
constexpr auto read_video = member<&Readers::video, &VideoReader::video>;

/// Reads add.s32 and the like, or add.s16x2.
void read_alu_or_packed(Readers& readers, PtxInstruction& instruction) {
  if (!readers.video.packed_integers(instruction)) readers.arithmetic.alu(instruction);
}

void read_return(Readers& readers, PtxInstruction& instruction) {
  readers.stack.give_back(instruction);
  readers.control.plain(instruction);
}

void read_barrier(Readers& readers, PtxInstruction& instruction) {
  instruction.modifiers.take("cluster") ? readers.cluster.barrier(instruction)
                                        : readers.warp.barrier(instruction);
}

void read_store(Readers& readers, PtxInstruction& instruction) {
  instruction.modifiers.take("async") ? readers.cluster.store(instruction)
                                      : readers.memory.store(instruction);
}

void read_reduction(Readers& readers, PtxInstruction& instruction) {
  instruction.modifiers.take("async") ? readers.cluster.reduce(instruction)
                                      : readers.atomics.atomic(instruction);
}

constexpr InstructionEntry instruction_entries[] = {
    {"abs", Opcode::abs, read_alu},
    {"activemask", Opcode::activemask, member<&Readers::warp, &WarpReader::activemask>},
    {"add", Opcode::add, read_alu_or_packed},
    {"addc", Opcode::addc, read_alu},
    {"alloca", Opcode::stack_save, member<&Readers::stack, &StackReader::allocate>},
    {"and", Opcode::and_, read_alu},
    {"applypriority", Opcode::prefetch, member<&Readers::memory, &MemoryReader::apply_priority>},
    {"atom", Opcode::atom, member<&Readers::atomics, &AtomicReader::atomic>},
    {"bar", Opcode::bar, member<&Readers::warp, &WarpReader::barrier>},
    {"barrier", Opcode::bar, read_barrier},
    {"bfe", Opcode::bfe, read_alu},
    {"bfi", Opcode::bfi, read_alu},
    {"bfind", Opcode::bfind, read_alu},
    {"bmsk", Opcode::bmsk, read_alu},
    {"bra", Opcode::bra, member<&Readers::control, &ControlReader::branch>},
    {"brev", Opcode::brev, read_alu},
    {"brkpt", Opcode::brkpt, member<&Readers::control, &ControlReader::plain>},
    {"brx", Opcode::brx, member<&Readers::control, &ControlReader::branch_indexed>},
    {"call", Opcode::call, member<&Readers::control, &ControlReader::call>},
    {"clz", Opcode::clz, read_alu},
    {"cnot", Opcode::cnot, read_alu},
    {"copysign", Opcode::copysign, read_alu},
    {"cos", Opcode::cos, read_alu},
    {"cp", Opcode::nop, member<&Readers::async_copy, &AsyncCopyReader::cp>},
    {"createpolicy", Opcode::mov, member<&Readers::memory, &MemoryReader::create_policy>},
    {"cvt", Opcode::cvt, member<&Readers::conversions, &ConversionReader::convert>},
    {"cvta", Opcode::cvta, member<&Readers::conversions, &ConversionReader::convert_address>},
    {"discard", Opcode::prefetch, member<&Readers::memory, &MemoryReader::discard>},
    {"div", Opcode::div, read_alu},
    {"dp2a", Opcode::dp2a, read_alu},
    {"dp4a", Opcode::dp4a, read_alu},
    {"elect", Opcode::elect, member<&Readers::warp, &WarpReader::elect>},
    {"ex2", Opcode::ex2, read_alu},
    {"exit", Opcode::exit, member<&Readers::control, &ControlReader::plain>},
    {"fence", Opcode::fence, member<&Readers::memory, &MemoryReader::fence>},
    {"fma", Opcode::fma, read_alu},
    {"fns", Opcode::fns, read_alu},
    {"getctarank", Opcode::getctarank, member<&Readers::cluster, &ClusterReader::rank>},
    {"griddepcontrol", Opcode::griddepcontrol,
     member<&Readers::control, &ControlReader::grid_dependency>},
    {"isspacep", Opcode::isspacep,
     member<&Readers::conversions, &ConversionReader::convert_address>},
    {"ld", Opcode::ld, member<&Readers::memory, &MemoryReader::load>},
    {"ldmatrix", Opcode::ldmatrix, member<&Readers::matrix, &MatrixReader::load_matrices>},
    {"ldu", Opcode::ldu, member<&Readers::memory, &MemoryReader::load>},
    {"lg2", Opcode::lg2, read_alu},
    {"lop3", Opcode::lop3, member<&Readers::arithmetic, &ArithmeticReader::logic3>},
    {"mad", Opcode::mad, read_alu},
    {"mad24", Opcode::mad24, read_alu},
    {"madc", Opcode::madc, read_alu},
    {"mapa", Opcode::mapa, member<&Readers::cluster, &ClusterReader::map_address>},
    {"match", Opcode::match, member<&Readers::warp, &WarpReader::match_or_reduce>},
    {"max", Opcode::max, read_alu_or_packed},
    {"mbarrier", Opcode::nop, member<&Readers::mbarrier, &MbarrierReader::mbarrier>},
    {"membar", Opcode::fence, member<&Readers::memory, &MemoryReader::fence>},
    {"min", Opcode::min, read_alu_or_packed},
    {"mma", Opcode::mma, member<&Readers::matrix, &MatrixReader::mma>},
    {"mov", Opcode::mov, member<&Readers::moves, &MoveReader::move>},
    {"movmatrix", Opcode::movmatrix, member<&Readers::matrix, &MatrixReader::transpose>},
    {"mul", Opcode::mul, read_alu},
    {"mul24", Opcode::mul24, read_alu},
    {"nanosleep", Opcode::nanosleep, member<&Readers::control, &ControlReader::nanosleep>},
    {"neg", Opcode::neg, read_alu},
    {"not", Opcode::not_, read_alu},
    {"or", Opcode::or_, read_alu},
    {"pmevent", Opcode::pmevent, member<&Readers::control, &ControlReader::pmevent>},
    {"popc", Opcode::popc, read_alu},
    {"prefetch", Opcode::prefetch, member<&Readers::memory, &MemoryReader::prefetch>},
    {"prefetchu", Opcode::prefetch, member<&Readers::memory, &MemoryReader::prefetch>},
    {"print", Opcode::print, member<&Readers::run_time, &RunTimeCalls::print>},
    {"prmt", Opcode::prmt, read_alu},
    {"rcp", Opcode::rcp, read_alu},
    {"red", Opcode::red, read_reduction},
    {"redux", Opcode::redux, member<&Readers::warp, &WarpReader::match_or_reduce>},
    {"rem", Opcode::rem, read_alu},
    {"ret", Opcode::ret, read_return},
    {"rsqrt", Opcode::rsqrt, read_alu},
    {"sad", Opcode::sad, read_alu},
    {"selp", Opcode::selp, member<&Readers::arithmetic, &ArithmeticReader::selection>},
    {"set", Opcode::set, member<&Readers::arithmetic, &ArithmeticReader::comparison>},
    {"setmaxnreg", Opcode::setmaxnreg,
     member<&Readers::warpgroup, &WarpgroupReader::set_registers>},
    {"setp", Opcode::setp, member<&Readers::arithmetic, &ArithmeticReader::comparison>},
    {"shf", Opcode::shf, read_alu},
    {"shfl", Opcode::shfl, member<&Readers::warp, &WarpReader::shuffle>},
    {"shl", Opcode::shl, read_alu},
    {"shr", Opcode::shr, read_alu},
    {"sin", Opcode::sin, read_alu},
    {"slct", Opcode::slct, member<&Readers::arithmetic, &ArithmeticReader::selection>},
    {"sqrt", Opcode::sqrt, read_alu},
    {"st", Opcode::st, read_store},
    {"stackrestore", Opcode::stack_restore, member<&Readers::stack, &StackReader::restore>},
    {"stacksave", Opcode::stack_save, member<&Readers::stack, &StackReader::save>},
    {"stmatrix", Opcode::stmatrix, member<&Readers::matrix, &MatrixReader::store_matrices>},
    {"sub", Opcode::sub, read_alu_or_packed},
    {"subc", Opcode::subc, read_alu},
    {"suld", Opcode::surf_address, member<&Readers::surfaces, &SurfaceReader::load>},
    {"suq", Opcode::surf_address, member<&Readers::textures, &TextureReader::query>},
    {"sust", Opcode::surf_address, member<&Readers::surfaces, &SurfaceReader::store>},
    {"szext", Opcode::szext, read_alu},
    {"tanh", Opcode::tanh, read_alu},
    {"tensormap", Opcode::nop, member<&Readers::tensor_map, &TensorMapReader::tensormap>},
    {"testp", Opcode::testp, read_alu},
    {"tex", Opcode::tex_address, member<&Readers::textures, &TextureReader::fetch>},
    {"trap", Opcode::trap, member<&Readers::control, &ControlReader::plain>},
    {"txq", Opcode::tex_address, member<&Readers::textures, &TextureReader::query>},
    {"vabsdiff", Opcode::video, read_video},
    {"vabsdiff2", Opcode::video2, read_video},
    {"vabsdiff4", Opcode::video4, read_video},
    {"vadd", Opcode::video, read_video},
    {"vadd2", Opcode::video2, read_video},
    {"vadd4", Opcode::video4, read_video},
    {"vavrg2", Opcode::video2, read_video},
    {"vavrg4", Opcode::video4, read_video},
    {"vmad", Opcode::video, read_video},
    {"vmax", Opcode::video, read_video},
    {"vmax2", Opcode::video2, read_video},
    {"vmax4", Opcode::video4, read_video},
    {"vmin", Opcode::video, read_video},
    {"vmin2", Opcode::video2, read_video},
    {"vmin4", Opcode::video4, read_video},
    {"vote", Opcode::vote, member<&Readers::warp, &WarpReader::vote>},
    {"vset", Opcode::video, read_video},
    {"vset2", Opcode::video2, read_video},
    {"vset4", Opcode::video4, read_video},
    {"vshl", Opcode::video, read_video},
    {"vshr", Opcode::video, read_video},
    {"vsub", Opcode::video, read_video},
    {"vsub2", Opcode::video2, read_video},
    {"vsub4", Opcode::video4, read_video},
    {"wgmma", Opcode::wgmma, member<&Readers::warpgroup, &WarpgroupReader::wgmma>},
    {"wmma", Opcode::mma, member<&Readers::matrix, &MatrixReader::wmma>},
    {"xor", Opcode::xor_, read_alu},
};

constexpr bool comes_before(const InstructionEntry& entry, std::string_view name) {
  return entry.name < name;
}
static_assert(std::is_sorted(std::begin(instruction_entries), std::end(instruction_entries),
                             [](const InstructionEntry& a, const InstructionEntry& b) {
                               return comes_before(a, b.name);
                             }));

}  // namespace

std::span<const InstructionEntry> instruction_table() {
  return instruction_entries;
}

void read_instruction(Readers& readers, const Translation& code,
                      const syntax::Statement& statement) {
  PtxInstruction instruction(code.file(), statement);
  if (statement.guarded) {
    syntax::Operand guard;
    guard.text = statement.guard;
    guard.at = statement.guard_at;
    guard.negated = statement.guard_negated;
    instruction.operation.guard = readers.operands.predicate(instruction, guard);
  }
  const std::string_view name = instruction.modifiers.base();
  const auto* const entry = std::lower_bound(std::begin(instruction_entries),
                                             std::end(instruction_entries), name, comes_before);
  if (entry == std::end(instruction_entries) || entry->name != name) instruction.unsupported();
  instruction.operation.opcode = entry->opcode;
  entry->read(readers, instruction);
}

}  // namespace lockstep::isa
