#include "models/isa/encode/operands.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "models/isa/opcodes/operand_types.hpp"
#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {

Operand OperandEncoder::source(const ir::Operation& op, std::size_t s) {
  return value_row(op, op.sources[s], source_lane_type(op, s));
}

Operand OperandEncoder::value_row(const ir::Operation& op, const ir::Operand& operand, Type lane) {
  const unsigned bytes = bytes_of(lane);
  switch (operand.kind) {
    case Kind::reg: {
      const Operand row = program_.register_row(operand.index);
      // A register that the allocator found never written.
      return row.valid()
                 ? row
                 : program_.immediate(0, bytes_of(program_.code().registers[operand.index].type));
    }
    case Kind::immediate:
      return program_.immediate(static_cast<std::uint64_t>(operand.value), bytes);
    case Kind::function:
      return program_.immediate(operand.index, bytes);
    case Kind::constant_symbol:
      return program_.immediate(constant_window_base +
                                    program_.module().constants[operand.index].offset +
                                    static_cast<std::uint64_t>(operand.value),
                                bytes);
    case Kind::shared_symbol:
      return program_.immediate(program_.shared_offset(operand), bytes);
    case Kind::local_symbol:
      return local_address(operand, bytes);
    case Kind::global_symbol: {
      ConstantRow row;
      row.source = ConstantRow::Source::global_symbol;
      row.bytes = 8;
      row.width = static_cast<std::uint8_t>(bytes);
      row.index = operand.index;
      row.offset = operand.value;
      return program_.constant(row);
    }
    case Kind::parameter: {
      ConstantRow row;
      row.bytes = static_cast<std::uint8_t>(bytes_of(operand.type));
      row.is_signed = is_signed(operand.type);
      row.width = static_cast<std::uint8_t>(bytes == 1 ? 2 : bytes);
      row.offset = operand.value;
      return program_.constant(row);
    }
    default:
      program_.unsupported(op, "operand is not supported here");
  }
}

Operand OperandEncoder::local_address(const ir::Operand& operand, unsigned bytes) {
  const RowLayout& rows = program_.rows();
  if (!program_.current().recursive)
    return program_.immediate(program_.local_offset(operand), bytes);
  program_.emit(
      program_.made(Opcode::add, Type::u32, rows.spare_single(),
                    {rows.stack_pointer(), program_.immediate(program_.local_offset(operand), 4)}));
  if (bytes != 8) return rows.spare_single();
  program_.emit(program_.made(Opcode::cvt, Type::u64, rows.spare_pair(), {rows.spare_single()}));
  return rows.spare_pair();
}

namespace {

/// Returns whether the operand has a row: it is no predicate, and no other field of the instruction
/// names it.
bool has_row(const ir::Operand& operand) {
  using Kind = ir::Operand::Kind;
  return operand.kind != Kind::special && operand.kind != Kind::none &&
         operand.kind != Kind::predicate && operand.type != Type::pred;
}

}  // namespace

void OperandEncoder::rows(const ir::Operation& op, Instruction& instruction) {
  const auto count = [](const auto& operands) {
    return static_cast<std::size_t>(std::ranges::count_if(operands, has_row));
  };
  if (count(op.sources) > instruction.source.size() ||
      count(op.destinations) > instruction.destination.size())
    return list(op, instruction);
  sources(op, instruction);
  destinations(op, instruction);
}

/// Predicates have no place in a list, and none of these instructions names one.
void OperandEncoder::list(const ir::Operation& op, Instruction& instruction) {
  OperandList list;
  for (std::size_t s = 0; s < op.sources.size(); ++s) list.sources.push_back(source(op, s));
  for (const ir::Operand& operand : op.destinations)
    list.destinations.push_back(destination_row(operand));
  std::vector<OperandList>& lists = program_.program().operand_lists;
  instruction.flags |= flag_listed;
  instruction.offset = static_cast<std::int32_t>(lists.size());
  lists.push_back(std::move(list));
}

void OperandEncoder::sources(const ir::Operation& op, Instruction& instruction) {
  std::size_t rows = 0, predicates = 0;
  for (std::size_t s = 0; s < op.sources.size(); ++s) {
    const ir::Operand& operand = op.sources[s];
    if (operand.kind == Kind::special || operand.kind == Kind::none) continue;
    if (operand.kind == Kind::predicate || operand.type == Type::pred) {
      // A constant is an absent predicate, which reads as true, or its negation.
      if (predicates == instruction.predicate_source.size())
        program_.unsupported(op, "an instruction reads at most two predicates");
      const bool never = operand.kind == Kind::immediate && operand.value == 0;
      instruction.predicate_source[predicates] = program_.predicate_number(operand);
      if (operand.negated != never)
        instruction.flags |= predicates == 0 ? flag_source_negated_0 : flag_source_negated_1;
      ++predicates;
    } else {
      if (rows == instruction.source.size())
        program_.unsupported(op, "this instruction has too many sources");
      instruction.source[rows++] = source(op, s);
    }
  }
}

Operand OperandEncoder::destination_row(const ir::Operand& operand) const {
  const Operand row = operand.kind == Kind::reg ? program_.register_row(operand.index) : Operand();
  return row.valid() ? row : Operand(Operand::scratch, 0);
}

void OperandEncoder::destinations(const ir::Operation& op, Instruction& instruction) const {
  std::size_t rows = 0, predicates = 0;
  for (const ir::Operand& operand : op.destinations) {
    // "_" counts as a predicate and keeps its place.
    if (operand.kind == Kind::predicate || operand.type == Type::pred) {
      instruction.predicate_destination[predicates++] = program_.predicate_number(operand);
    } else {
      LOCKSTEP_CHECK(rows < instruction.destination.size(), "more destinations than a record has");
      instruction.destination[rows++] = destination_row(operand);
    }
  }
}

void OperandEncoder::address(const ir::Operation& op, Instruction& instruction) {
  std::int64_t offset = op.offset;
  const ir::Operand& base = op.sources[0];
  const bool generic = op.space == Space::generic;
  switch (base.kind) {
    case Kind::none:
      break;
    case Kind::immediate:
      offset += base.value;
      break;
    case Kind::shared_symbol:
      offset += static_cast<std::int64_t>(program_.shared_offset(base) +
                                          (generic ? shared_window_base : 0));
      break;
    case Kind::constant_symbol:
      offset += static_cast<std::int64_t>(constant_window_base +
                                          program_.module().constants[base.index].offset) +
                base.value;
      break;
    case Kind::local_symbol:
      offset += static_cast<std::int64_t>(program_.local_offset(base) +
                                          (generic ? local_window_base : 0));
      break;
    case Kind::reg:
      instruction.source[0] = value_row(op, base, Type::b64);
      if (rows_of(program_.code().registers[base.index].type) == 2)
        instruction.flags |= flag_address_wide;
      break;
    case Kind::parameter:
      instruction.source[0] = value_row(op, base, base.type);
      if (bytes_of(base.type) == 8) instruction.flags |= flag_address_wide;
      break;
    default:
      instruction.source[0] = value_row(op, base, Type::b64);
      instruction.flags |= flag_address_wide;
  }
  const bool on_stack = base.kind == Kind::local_symbol || has_trait(op.opcode, on_own_stack);
  if (on_stack && base.kind == Kind::none)
    offset +=
        static_cast<std::int64_t>(program_.current().recursive ? 0 : program_.current().local_base);
  if (on_stack && program_.current().recursive)
    instruction.source[0] = program_.rows().stack_pointer();
  if (offset < INT32_MIN || offset > INT32_MAX) {
    if (instruction.source[0].valid()) program_.unsupported(op, "address offset exceeds 32 bits");
    instruction.source[0] = program_.immediate(static_cast<std::uint64_t>(offset), 8);
    instruction.flags |= flag_address_wide;
    offset = 0;
  }
  instruction.offset = static_cast<std::int32_t>(offset);
}

/// Returns the bytes of a register that receives or gives data; all registers of an operation have
/// as many.
unsigned OperandEncoder::register_bytes(const ir::Operation& op) const {
  if (op.opcode == Opcode::bulk_copy) return 8;  // registers have 8 bytes, whatever the memory has
  const auto declared = [&](const ir::Operand& operand) {
    return std::max(bytes_of(program_.code().registers[operand.index].type), 2u);
  };
  unsigned width = std::max(bytes_of(op.type), 2u);
  for (const ir::Operand& to : op.destinations)
    if (to.kind == Kind::reg) width = declared(to);
  for (std::size_t s = 1; s < op.sources.size(); ++s)
    if (op.sources[s].kind == Kind::reg) width = declared(op.sources[s]);
  return width;
}

/// Returns whether the operation's mode is an L2Hint.
static bool has_l2_hint(Opcode opcode) {
  return opcode == Opcode::ld || opcode == Opcode::st || opcode == Opcode::cp_async ||
         opcode == Opcode::atom || opcode == Opcode::red || opcode == Opcode::prefetch;
}

void OperandEncoder::memory(const ir::Operation& op, Instruction& instruction) {
  MemoryFields& fields = instruction.memory;
  const bool stack = has_trait(op.opcode, on_own_stack);
  fields.space = stack ? Space::local : op.space;
  fields.type = op.type;
  fields.elements = op.elements;
  fields.cache = op.cache;
  fields.ordering = op.ordering;
  fields.scope = op.scope;
  fields.atomic = op.atomic;
  if (op.opcode == Opcode::ldmatrix || op.opcode == Opcode::stmatrix)
    instruction.detail = op.mode;  // transposed
  if (has_l2_hint(op.opcode)) instruction.detail = op.mode;
  const unsigned width = register_bytes(op);
  fields.register_bytes = static_cast<std::uint8_t>(width);
  const Type lane = width == 8 ? Type::b64 : Type::b32;
  for (std::size_t s = 1; s < op.sources.size(); ++s)
    instruction.source[s] = value_row(op, op.sources[s], lane);
  destinations(op, instruction);
  if (instruction.category == Category::atomic) {
    const auto is_wanted = [](const Operand& to) { return to.is_register(); };
    fields.returns = std::ranges::any_of(instruction.destination, is_wanted);
    if (!fields.returns) instruction.destination.fill(Operand());
  }
  address(op, instruction);
}

}  // namespace lockstep::isa
