#include <algorithm>

#include "core/error/error.hpp"
#include "models/isa/encode/encoder.hpp"
#include "models/isa/opcodes/operand_types.hpp"
#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {

Operand Encoder::pair(std::uint32_t n) const {
  return {Operand::registers, static_cast<std::uint16_t>(2 * n)};
}

Operand Encoder::single(std::uint32_t n) const {
  return {Operand::registers, static_cast<std::uint16_t>(2 * pairs_ + n)};
}

Operand Encoder::register_row(std::uint32_t index) const {
  const std::uint32_t slot = current_->registers.slot[index];
  if (slot == ir::no_register) return {};
  return rows_of(current_->input.function->registers[index].type) == 2
             ? pair(current_->pair_base + slot)
             : single(current_->single_base + slot);
}

std::uint8_t Encoder::predicate_number(const ir::Operand& operand) const {
  if (operand.kind != Kind::predicate) return no_predicate;
  const std::uint32_t slot = current_->registers.slot[operand.index];
  return slot == ir::no_register ? no_predicate
                                 : static_cast<std::uint8_t>(current_->predicate_base + slot);
}

Operand Encoder::next_row(Operand::Base base, std::size_t row) const {
  if (row >= Operand::largest_row)  // a value of 64 bits takes two
    throw UserError(module_.file + ":" + std::to_string(line_),
                    "kernel " + program_.name +
                        " has more different constants than instructions can name: keep some in "
                        "memory or split the kernel");
  return Operand(base, static_cast<std::uint16_t>(row));
}

Operand Encoder::immediate(std::uint64_t value, unsigned lane_bytes) {
  const bool wide = lane_bytes == 8;
  if (!wide) value &= 0xffffffff;
  const decltype(immediates_)::key_type key{value, wide ? 8u : 4u};
  const auto known = immediates_.find(key);
  if (known != immediates_.end()) return known->second;
  const Operand fresh = next_row(Operand::immediates, program_.immediates.size() / warp_size);
  immediates_.emplace(key, fresh);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    program_.immediates.push_back(static_cast<std::uint32_t>(value));
    if (wide) program_.immediates.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  return fresh;
}

Operand Encoder::constant(const ConstantRow& wanted) {
  const decltype(constants_)::key_type key{static_cast<int>(wanted.source),
                                           wanted.bytes,
                                           wanted.width,
                                           wanted.is_signed,
                                           wanted.index,
                                           wanted.offset};
  const auto known = constants_.find(key);
  if (known != constants_.end()) return known->second;
  const Operand fresh = next_row(Operand::constants, program_.constant_rows);
  constants_.emplace(key, fresh);
  program_.constants.push_back(wanted);
  program_.constants.back().row = fresh.row();
  program_.constant_rows += wanted.width == 8 ? 2 : 1;
  return fresh;
}

std::uint64_t Encoder::shared_offset(const ir::Operand& operand) const {
  return shared_offsets_[operand.index] + static_cast<std::uint64_t>(operand.value);
}

std::uint64_t Encoder::local_offset(const ir::Operand& operand) const {
  return (current_->recursive ? 0 : current_->local_base) +
         current_->input.function->local[operand.index].offset +
         static_cast<std::uint64_t>(operand.value);
}

Operand Encoder::source(const ir::Operation& op, std::size_t s) {
  return value_row(op, op.sources[s], source_lane_type(op, s));
}

Operand Encoder::value_row(const ir::Operation& op, const ir::Operand& operand, Type lane) {
  const unsigned bytes = bytes_of(lane);
  switch (operand.kind) {
    case Kind::reg: {
      const Operand row = register_row(operand.index);
      // A register that the allocator found nobody writes.
      return row.valid()
                 ? row
                 : immediate(0, bytes_of(current_->input.function->registers[operand.index].type));
    }
    case Kind::immediate:
      return immediate(static_cast<std::uint64_t>(operand.value), bytes);
    case Kind::function:
      return immediate(operand.index, bytes);
    case Kind::constant_symbol:
      return immediate(constant_window_base + module_.constants[operand.index].offset +
                           static_cast<std::uint64_t>(operand.value),
                       bytes);
    case Kind::shared_symbol:
      return immediate(shared_offset(operand), bytes);
    case Kind::local_symbol: {
      if (!current_->recursive) return immediate(local_offset(operand), bytes);
      emit(made(Opcode::add, Type::u32, single(spare_single_),
                {single(stack_pointer_), immediate(local_offset(operand), 4)}));
      if (bytes != 8) return single(spare_single_);
      emit(made(Opcode::cvt, Type::u64, pair(spare_pair_), {single(spare_single_)}));
      return pair(spare_pair_);
    }
    case Kind::global_symbol: {
      ConstantRow row;
      row.source = ConstantRow::Source::global_symbol;
      row.bytes = 8;
      row.width = static_cast<std::uint8_t>(bytes);
      row.index = operand.index;
      row.offset = operand.value;
      return constant(row);
    }
    case Kind::parameter: {
      ConstantRow row;
      row.bytes = static_cast<std::uint8_t>(bytes_of(operand.type));
      row.is_signed = is_signed(operand.type);
      row.width = static_cast<std::uint8_t>(bytes == 1 ? 2 : bytes);
      row.offset = operand.value;
      return constant(row);
    }
    default:
      unsupported(op, "operand is not supported here");
  }
}

void Encoder::operands(const ir::Operation& op, Instruction& instruction) {
  std::size_t rows = 0, predicates = 0;
  for (std::size_t s = 0; s < op.sources.size(); ++s) {
    const ir::Operand& operand = op.sources[s];
    if (operand.kind == Kind::special || operand.kind == Kind::none) continue;
    if (operand.kind == Kind::predicate || operand.type == Type::pred) {
      // A constant is an absent predicate, which reads as true, or its negation.
      const bool never = operand.kind == Kind::immediate && operand.value == 0;
      instruction.predicate_source[predicates] = predicate_number(operand);
      if (operand.negated != never)
        instruction.flags |= predicates == 0 ? flag_source_negated_0 : flag_source_negated_1;
      ++predicates;
    } else {
      instruction.source[rows++] = source(op, s);
    }
  }
}

void Encoder::destinations(const ir::Operation& op, Instruction& instruction) {
  std::size_t rows = 0, predicates = 0;
  for (const ir::Operand& operand : op.destinations) {
    if (operand.kind == Kind::predicate || operand.type == Type::pred) {  // "_" keeps its place
      instruction.predicate_destination[predicates++] = predicate_number(operand);
    } else {
      const Operand row = operand.kind == Kind::reg ? register_row(operand.index) : Operand();
      instruction.destination[rows++] = row.valid() ? row : Operand(Operand::scratch, 0);
    }
  }
}

void Encoder::address(const ir::Operation& op, Instruction& instruction) {
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
      offset += static_cast<std::int64_t>(shared_offset(base) + (generic ? shared_window_base : 0));
      break;
    case Kind::constant_symbol:
      offset +=
          static_cast<std::int64_t>(constant_window_base + module_.constants[base.index].offset) +
          base.value;
      break;
    case Kind::local_symbol:
      offset += static_cast<std::int64_t>(local_offset(base) + (generic ? local_window_base : 0));
      break;
    case Kind::reg:
      instruction.source[0] = value_row(op, base, Type::b64);
      if (rows_of(current_->input.function->registers[base.index].type) == 2)
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
    offset += static_cast<std::int64_t>(current_->recursive ? 0 : current_->local_base);
  if (on_stack && current_->recursive) instruction.source[0] = single(stack_pointer_);
  if (offset < INT32_MIN || offset > INT32_MAX) {
    if (instruction.source[0].valid()) unsupported(op, "address offset exceeds 32 bits");
    instruction.source[0] = immediate(static_cast<std::uint64_t>(offset), 8);
    instruction.flags |= flag_address_wide;
    offset = 0;
  }
  instruction.offset = static_cast<std::int32_t>(offset);
}

void Encoder::memory(const ir::Operation& op, Instruction& instruction) {
  MemoryFields& fields = instruction.memory;
  const bool stack = has_trait(op.opcode, on_own_stack);
  fields.space = stack ? Space::local : op.space;
  fields.type = op.type;
  fields.elements = op.elements;
  fields.cache = op.cache;
  fields.ordering = op.ordering;
  fields.scope = op.scope;
  fields.atomic = op.atomic;
  const auto register_bytes = [&](const ir::Operand& operand) {
    const unsigned declared =
        operand.kind == Kind::reg
            ? bytes_of(current_->input.function->registers[operand.index].type)
            : bytes_of(op.type);
    return std::max(declared, 2u);
  };
  unsigned width = std::max(bytes_of(op.type), 2u);
  for (const ir::Operand& to : op.destinations)
    if (to.kind == Kind::reg) width = register_bytes(to);
  for (std::size_t s = 1; s < op.sources.size(); ++s)
    if (op.sources[s].kind == Kind::reg) width = register_bytes(op.sources[s]);
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
