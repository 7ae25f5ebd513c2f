/// Text of decoded programs and of functions, for people: debugging, and comparing with SASS.
#include "models/isa/text/disassemble.hpp"

#include <array>
#include <cstdio>
#include <string_view>

#include "models/isa/matrix/form.hpp"
#include "models/isa/matrix/warpgroup_form.hpp"
#include "models/isa/opcodes/table.hpp"
#include "models/isa/operand_lists.hpp"

namespace lockstep::isa {

namespace {

constexpr auto type_texts = std::to_array<std::string_view>(
    {"none", "pred", "b8",  "b16", "b32", "b64",   "u8",   "u16",    "u32", "u64",
     "s8",   "s16",  "s32", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64"});
constexpr auto special_texts = std::to_array<std::string_view>({"tid.x",
                                                                "tid.y",
                                                                "tid.z",
                                                                "ntid.x",
                                                                "ntid.y",
                                                                "ntid.z",
                                                                "ctaid.x",
                                                                "ctaid.y",
                                                                "ctaid.z",
                                                                "nctaid.x",
                                                                "nctaid.y",
                                                                "nctaid.z",
                                                                "laneid",
                                                                "warpid",
                                                                "nwarpid",
                                                                "smid",
                                                                "nsmid",
                                                                "gridid",
                                                                "lanemask_eq",
                                                                "lanemask_le",
                                                                "lanemask_lt",
                                                                "lanemask_ge",
                                                                "lanemask_gt",
                                                                "clock",
                                                                "clock_hi",
                                                                "clock64",
                                                                "globaltimer",
                                                                "globaltimer_lo",
                                                                "globaltimer_hi",
                                                                "warp_sz",
                                                                "dynamic_smem_size",
                                                                "total_smem_size",
                                                                "aggr_smem_size",
                                                                "clusterid.x",
                                                                "clusterid.y",
                                                                "clusterid.z",
                                                                "nclusterid.x",
                                                                "nclusterid.y",
                                                                "nclusterid.z",
                                                                "cluster_ctaid.x",
                                                                "cluster_ctaid.y",
                                                                "cluster_ctaid.z",
                                                                "cluster_nctaid.x",
                                                                "cluster_nctaid.y",
                                                                "cluster_nctaid.z",
                                                                "cluster_ctarank",
                                                                "cluster_nctarank",
                                                                "is_explicit_cluster"});
constexpr auto comparison_texts =
    std::to_array<std::string_view>({"", "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                     "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
constexpr auto space_texts = std::to_array<std::string_view>(
    {"", "", ".global", ".shared", ".local", ".const", ".param", ".shared::cluster"});

std::string number(std::int64_t value) {
  char text[32];
  const bool small = value > -4096 && value < 4096;
  std::snprintf(text, sizeof text, small ? "%lld" : "0x%llx", static_cast<long long>(value));
  return text;
}

std::string offset_text(std::int64_t offset) {
  return offset == 0 ? "" : (offset > 0 ? "+" : "") + number(offset);
}

std::string text_of(const ir::Function& function, const ir::Operand& operand) {
  using Kind = ir::Operand::Kind;
  switch (operand.kind) {
    case Kind::reg:
    case Kind::predicate:
      return (operand.negated ? "!" : "") + function.registers[operand.index].name;
    case Kind::immediate:
      return number(operand.value);
    case Kind::special:
      return "%" + std::string(special_texts[operand.index]);
    case Kind::parameter:
      return "c[" + number(operand.value) + "]";
    case Kind::global_symbol:
      return "global" + std::to_string(operand.index) + offset_text(operand.value);
    case Kind::constant_symbol:
      return "const" + std::to_string(operand.index) + offset_text(operand.value);
    case Kind::shared_symbol:
      return "shared" + std::to_string(operand.index) + offset_text(operand.value);
    case Kind::local_symbol:
      return "local" + std::to_string(operand.index) + offset_text(operand.value);
    case Kind::function:
      return "function" + std::to_string(operand.index);
    case Kind::label:
      return "block" + std::to_string(operand.index);
    case Kind::discard:
      return "_";
    default:
      return "-";
  }
}

std::string mnemonic(const ir::Operation& operation) {
  std::string text(name_of(operation.opcode));
  if (operation.opcode == Opcode::mma) text += "." + name_of(unpack_form(operation.immediate));
  if (operation.opcode == Opcode::wgmma)
    text += "." + name_of(unpack_warpgroup_form(operation.immediate));
  if (operation.preemption_point) text += ".pp";
  text += space_texts[static_cast<std::size_t>(operation.space)];
  if (operation.comparison != Comparison::none)
    text += "." + std::string(comparison_texts[static_cast<std::size_t>(operation.comparison)]);
  if (operation.part == ir::MulPart::hi) text += ".hi";
  if (operation.part == ir::MulPart::wide) text += ".wide";
  if (operation.elements > 1) text += ".v" + std::to_string(operation.elements);
  if (operation.type != Type::none) text += "." + name_of(operation.type);
  if (operation.source_type != Type::none) text += "." + name_of(operation.source_type);
  return text;
}

std::string text_of(const Operand& operand) {
  static constexpr std::array<std::string_view, 4> bases{"r", "#", "c", "_"};
  return std::string(bases[operand.base()]) + std::to_string(operand.row());
}

}  // namespace

std::string name_of(Opcode opcode) {
  return std::string(facts_of(opcode).name);
}

std::string name_of(Type type) {
  return std::string(type_texts[static_cast<std::size_t>(type)]);
}

std::string disassemble(const ir::Function& function) {
  std::string text;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    text += "block" + std::to_string(b) + ":\n";
    for (const ir::Operation& operation : function.blocks[b].operations) {
      text += "  ";
      if (operation.guard.kind != ir::Operand::Kind::none)
        text += "@" + text_of(function, operation.guard) + " ";
      text += mnemonic(operation);
      const char* separator = " ";
      for (const auto* list : {&operation.destinations, &operation.sources})
        for (const ir::Operand& operand : *list) {
          text += separator + text_of(function, operand);
          separator = ", ";
        }
      if (operation.offset != 0) text += " [" + offset_text(operation.offset) + "]";
      if (operation.immediate != 0 && operation.opcode != Opcode::mma &&
          operation.opcode != Opcode::wgmma)
        text += " #" + number(operation.immediate);
      text += "\n";
    }
  }
  return text;
}

std::string disassemble(const Program& program) {
  std::string text;
  for (std::size_t pc = 0; pc < program.instructions.size(); ++pc) {
    const Instruction& instruction = program.instructions[pc];
    char place[32];
    std::snprintf(place, sizeof place, "%5zu  ", pc);
    text += place;
    if (instruction.guard != no_predicate)
      text += std::string(instruction.guard_negated ? "@!p" : "@p") +
              std::to_string(instruction.guard) + " ";
    text += name_of(instruction.opcode);
    if (instruction.opcode == Opcode::mma) text += "." + name_of(unpack_form(instruction.target));
    if (instruction.opcode == Opcode::wgmma)
      text += "." + name_of(unpack_warpgroup_form(instruction.target));
    text += space_texts[static_cast<std::size_t>(instruction.memory.space)];
    if (instruction.memory.elements > 1) text += ".v" + std::to_string(instruction.memory.elements);
    const char* separator = " ";
    const auto add = [&](const std::string& operand) {
      text += separator + operand;
      separator = ", ";
    };
    for (const std::uint8_t p : instruction.predicate_destination)
      if (p != no_predicate) add("p" + std::to_string(p));
    for (const Operand& operand : destinations_of(program, instruction))
      if (operand.valid()) add(text_of(operand));
    for (const Operand& operand : sources_of(program, instruction))
      if (operand.valid()) add(text_of(operand));
    for (const std::uint8_t p : instruction.predicate_source)
      if (p != no_predicate) add("p" + std::to_string(p));
    if (instruction.offset != 0 && !is_listed(instruction))
      text += " [" + offset_text(instruction.offset) + "]";
    if (instruction.category == Category::branch || instruction.category == Category::call)
      text += " -> " + std::to_string(instruction.target);
    if (instruction.reconvergence != no_reconvergence && instruction.category == Category::branch)
      text += " (meet " + std::to_string(instruction.reconvergence) + ")";
    if (instruction.issue_slots != 1) text += "  {" + std::to_string(instruction.issue_slots) + "}";
    text += "\n";
  }
  return text;
}

}  // namespace lockstep::isa
