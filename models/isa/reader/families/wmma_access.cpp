#include "models/isa/reader/families/wmma_access.hpp"

#include "models/isa/reader/families/matrix_names.hpp"
#include "models/isa/reader/families/qualifiers.hpp"

namespace lockstep::isa {
namespace {

using ir::immediate_operand;

Type type_of(unsigned bits) {
  return bits == 64 ? Type::b64 : bits == 16 ? Type::b16 : bits == 8 ? Type::u8 : Type::b32;
}

}  // namespace

MatrixPlace WmmaAccess::Fragment::at(unsigned lane, unsigned reg, unsigned part) const {
  const MatrixPlace place = place_of(form, operand, lane, reg, part);
  return by_columns ? MatrixPlace{place.column, place.row} : place;
}

/// Appends an operation between registers. Returns its result, a new register.
ir::Operand WmmaAccess::computed(PtxInstruction& instruction, Opcode opcode, Type type,
                                 std::vector<ir::Operand> sources, ir::MulPart part) {
  ir::Operation operation = instruction.plain(opcode, type);
  operation.part = part;
  operation.sources = std::move(sources);
  const Type result = part == ir::MulPart::wide || bytes_of(type) == 8 ? Type::b64 : Type::b32;
  const ir::Operand to = ir::register_operand(code_.new_register(result));
  operation.destinations.push_back(to);
  code_.append(std::move(operation));
  return to;
}

WmmaAccess::Fragment WmmaAccess::read_fragment(PtxInstruction& instruction, MatrixOperand operand) {
  Modifiers& modifiers = instruction.modifiers;
  Fragment fragment;
  fragment.operand = operand;
  MatrixForm& form = fragment.form;
  form.wmma = true;
  if (!modifiers.take("sync")) instruction.fail("needs .sync");
  modifiers.take("aligned");
  fragment.by_columns = matrix_names::take_layout(instruction);
  matrix_names::take_shape(instruction, form);
  fragment.space = take_space(modifiers);
  if (operand == MatrixOperand::a || operand == MatrixOperand::b) {
    form.a = form.b = matrix_names::take_element(instruction);
    form.c = form.d = form.a == MatrixElement::f64 ? MatrixResult::f64
                      : is_integer(form.a)         ? MatrixResult::s32
                                                   : MatrixResult::f32;
    fragment.bits = bits_of(form.a);
  } else {
    form.c = form.d = matrix_names::take_result(instruction);
    fragment.bits = bits_of(form.c);
    // Any elements with this shape and these accumulators will do: the fragment is the same.
    using enum MatrixElement;
    for (const MatrixElement element : {f16, bf16, tf32, f64, s8, s4, b1}) {
      form.a = form.b = element;
      form.operation = element == b1 ? MatrixOperation::xor_popc : MatrixOperation::multiply;
      if (exists(form)) break;
    }
  }
  if (form.a == MatrixElement::b1) form.operation = MatrixOperation::xor_popc;
  if (!exists(form))
    instruction.fail(instruction.at(), "there is no " + instruction.text(),
                     "see the shapes and types of PTX ISA 9.0, section 9.7.14");
  const bool needs_row = operand == MatrixOperand::a;
  if (fragment.bits < 8 && fragment.by_columns == needs_row)
    instruction.fail("matrices of less than 8 bits are .row for a and .col for b");
  const MatrixRegisters count = registers_of(form);
  fragment.registers = operand == MatrixOperand::a   ? count.a
                       : operand == MatrixOperand::b ? count.b
                                                     : count.c;
  return fragment;
}

/// Returns the bytes from a line of the matrix to the next, as 32 bits.
ir::Operand WmmaAccess::stride_of(PtxInstruction& instruction, const Fragment& fragment,
                                  std::size_t stride_argument) {
  const MatrixForm& form = fragment.form;
  const bool columns = fragment.by_columns;
  std::int64_t elements = fragment.operand == MatrixOperand::a   ? (columns ? form.m : form.k)
                          : fragment.operand == MatrixOperand::b ? (columns ? form.k : form.n)
                                                                 : (columns ? form.m : form.n);
  if (stride_argument < instruction.arguments()) {
    const Argument& written = instruction.argument(stride_argument);
    const ir::Operand stride = operands_.source(instruction, written, Type::b32);
    if (stride.kind != Kind::immediate) {
      if (fragment.bits >= 8)
        return computed(instruction, Opcode::mul, Type::u32,
                        {stride, immediate_operand(fragment.bits / 8)}, ir::MulPart::lo);
      return computed(instruction, Opcode::shr, Type::u32,
                      {stride, immediate_operand(fragment.bits == 4 ? 1 : 3)});
    }
    elements = stride.value;
    const std::int64_t bits = elements * fragment.bits;
    if (bits <= 0 || bits % 128 != 0)
      instruction.fail(written.at, "the stride of a matrix is a multiple of 16 bytes",
                       "of ." + std::to_string(fragment.bits) + "-bit elements a multiple of " +
                           std::to_string(128 / fragment.bits));
  }
  return immediate_operand(elements * fragment.bits / 8);
}

WmmaAccess::Base WmmaAccess::base_of(PtxInstruction& instruction, const Fragment& fragment,
                                     const Argument& address, std::size_t stride_argument) {
  const ir::Operand stride = stride_of(instruction, fragment, stride_argument);
  // Offset from the first element by the lane's place in its group.
  const MatrixPlace first = fragment.at(0, 0, 0), g = fragment.at(4, 0, 0),
                    t = fragment.at(1, 0, 0);
  ir::Operand lane;
  lane.kind = Kind::special;
  lane.index = static_cast<std::uint32_t>(ir::SpecialRegister::laneid);
  const ir::Operand id = computed(instruction, Opcode::mov, Type::u32, {lane});
  const ir::Operand group =
      computed(instruction, Opcode::shr, Type::u32, {id, immediate_operand(2)});
  const ir::Operand member =
      computed(instruction, Opcode::and_, Type::b32, {id, immediate_operand(3)});
  const auto line = [&](const ir::Operand& index, unsigned each) {
    return computed(instruction, Opcode::mul, Type::u32, {index, immediate_operand(each)},
                    ir::MulPart::lo);
  };
  const ir::Operand lines =
      computed(instruction, Opcode::add, Type::u32,
               {line(group, g.row - first.row), line(member, t.row - first.row)});
  const unsigned bits = fragment.bits;
  const auto bytes = [&](unsigned columns) { return columns * bits / 8; };
  const ir::Operand within = computed(
      instruction, Opcode::add, Type::u32,
      {line(group, bytes(g.column - first.column)), line(member, bytes(t.column - first.column))});
  PtxInstruction where = instruction;
  where.operation.space = fragment.space;
  where.operation.sources.clear();
  operands_.address(where, address);
  ir::Operand start = where.operation.sources[0];
  const Type width = code_.register_type(start, Type::b64);
  const Type type = bytes_of(width) == 8 ? Type::u64 : Type::u32;
  const auto widened = [&](const ir::Operand& value) {
    if (type == Type::u32) return value;
    ir::Operation widen = instruction.plain(Opcode::cvt, Type::u64);
    widen.source_type = Type::u32;
    widen.sources.push_back(value);
    const ir::Operand to = ir::register_operand(code_.new_register(Type::b64));
    widen.destinations.push_back(to);
    code_.append(std::move(widen));
    return to;
  };
  if (where.operation.offset != 0)
    start = computed(instruction, Opcode::add, type,
                     {start, immediate_operand(where.operation.offset)});
  const ir::Operand far =
      computed(instruction, Opcode::mul, Type::u32, {lines, stride}, ir::MulPart::lo);
  const ir::Operand near = computed(instruction, Opcode::add, Type::u32, {far, within});
  Base base;
  base.first = computed(instruction, Opcode::add, type, {start, widened(near)});
  base.line_bytes = stride;
  base.lines.emplace_back(first.row, base.first);
  return base;
}

/// Returns the address in the line of that number of the lane's first element's place.
ir::Operand WmmaAccess::line(PtxInstruction& instruction, Base& base, unsigned number) {
  for (const auto& [known, address] : base.lines)
    if (known == number) return address;
  const Type type =
      bytes_of(code_.register_type(base.first, Type::b64)) == 8 ? Type::u64 : Type::u32;
  const ir::MulPart part = type == Type::u64 ? ir::MulPart::wide : ir::MulPart::lo;
  const ir::Operand distance = computed(instruction, Opcode::mul, Type::u32,
                                        {base.line_bytes, immediate_operand(number)}, part);
  const ir::Operand address = computed(instruction, Opcode::add, type, {base.first, distance});
  base.lines.emplace_back(number, address);
  return address;
}

/// Returns a load or store of the element at the place, for lane 0, with the elements behind it.
ir::Operation WmmaAccess::access(PtxInstruction& instruction, const Fragment& fragment, Base& base,
                                 MatrixPlace place, Type type, unsigned elements) {
  const bool is_load = fragment.operand != MatrixOperand::d;
  const ir::Operand address = line(instruction, base, place.row);
  ir::Operation access = instruction.plain(is_load ? Opcode::ld : Opcode::st, type);
  access.guard = instruction.operation.guard;
  access.space = fragment.space;
  access.elements = static_cast<std::uint8_t>(elements);
  access.offset = static_cast<std::int64_t>(place.column) * fragment.bits / 8;
  access.sources.push_back(address);
  return access;
}

unsigned WmmaAccess::together(const Fragment& fragment, unsigned reg) const {
  const MatrixPlace first = fragment.at(0, reg, 0);
  const auto follows = [&](unsigned r, unsigned part, unsigned distance) {
    const MatrixPlace place = fragment.at(0, r, part);
    return place.row == first.row && place.column == first.column + distance;
  };
  for (unsigned part = 1; part < fragment.parts(); ++part)
    if (!follows(reg, part, part)) return 0;
  const bool pair = fragment.bits >= 32 && reg + 1 < fragment.registers && follows(reg + 1, 0, 1);
  return pair ? 2 : 1;
}

std::vector<ir::Operand> WmmaAccess::fragment_registers(PtxInstruction& instruction,
                                                        const Argument& written,
                                                        const Fragment& fragment,
                                                        bool destination) {
  return registers(instruction, written, fragment.registers,
                   fragment.bits == 64 ? Type::b64 : Type::b32, destination, "the fragment");
}

/// Loads the elements of a register one by one and puts each in its place.
void WmmaAccess::load_elements(PtxInstruction& instruction, const Fragment& fragment, Base& base,
                               unsigned reg, const ir::Operand& to) {
  std::vector<ir::Operand> parts;
  for (unsigned part = 0; part < fragment.parts(); ++part) {
    const Type held = fragment.bits == 16 ? Type::b16 : Type::b32;
    const ir::Operand element = ir::register_operand(code_.new_register(held));
    ir::Operation load =
        access(instruction, fragment, base, fragment.at(0, reg, part), type_of(fragment.bits), 1);
    load.destinations.push_back(element);
    code_.append(std::move(load));
    parts.push_back(element);
  }
  ir::Operation whole = instruction.plain(Opcode::mov_pack, Type::b32);
  whole.guard = instruction.operation.guard;
  if (fragment.bits == 8) {
    ir::Operand sum = parts[0];
    for (unsigned part = 1; part + 1 < parts.size(); ++part)
      sum = computed(instruction, Opcode::bfi, Type::b32,
                     {parts[part], sum, immediate_operand(8 * part), immediate_operand(8)});
    whole.opcode = Opcode::bfi;
    parts = {parts.back(), sum, immediate_operand(24), immediate_operand(8)};
  }
  whole.sources = std::move(parts);
  whole.destinations.push_back(to);
  code_.append(std::move(whole));
}

void WmmaAccess::load(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, MatrixOperand> operands[] = {
      {"a", MatrixOperand::a}, {"b", MatrixOperand::b}, {"c", MatrixOperand::c}};
  const MatrixOperand operand = instruction.modifiers.take_one(operands, MatrixOperand::d);
  if (operand == MatrixOperand::d) instruction.fail("needs a fragment: .a, .b or .c");
  const Fragment fragment = read_fragment(instruction, operand);
  instruction.expect_arguments(2, 3);
  instruction.reject_rest();
  const std::vector<ir::Operand> to =
      fragment_registers(instruction, instruction.argument(0), fragment, true);
  Base base = base_of(instruction, fragment, instruction.argument(1), 2);
  std::vector<MatrixPlace> loaded;
  for (unsigned reg = 0; reg < fragment.registers;) {
    const MatrixPlace place = fragment.at(0, reg, 0);
    unsigned known = 0;
    while (known < loaded.size() &&
           (loaded[known].row != place.row || loaded[known].column != place.column))
      ++known;
    if (known < loaded.size()) {  // f16 fragments repeat elements
      ir::Operation copy = instruction.plain(Opcode::mov, Type::b32);
      copy.guard = instruction.operation.guard;
      copy.destinations.push_back(to[reg]);
      copy.sources.push_back(to[known]);
      code_.append(std::move(copy));
      loaded.push_back(place);
      ++reg;
      continue;
    }
    const unsigned count = together(fragment, reg);
    if (count == 0) {
      load_elements(instruction, fragment, base, reg, to[reg]);
    } else {
      const Type type = fragment.bits == 64 ? Type::b64 : Type::b32;
      ir::Operation load = access(instruction, fragment, base, place, type, count);
      for (unsigned i = 0; i < count; ++i) load.destinations.push_back(to[reg + i]);
      code_.append(std::move(load));
    }
    for (unsigned i = 0; i < std::max(count, 1U); ++i) loaded.push_back(fragment.at(0, reg + i, 0));
    reg += std::max(count, 1U);
  }
}

void WmmaAccess::store_elements(PtxInstruction& instruction, const Fragment& fragment, Base& base,
                                unsigned reg, const ir::Operand& from) {
  ir::Operation halves = instruction.plain(Opcode::mov_unpack, Type::b32);
  for (unsigned part = 0; part < fragment.parts(); ++part)
    halves.destinations.push_back(ir::register_operand(code_.new_register(Type::b16)));
  halves.sources.push_back(from);
  const std::vector<ir::Operand> elements = halves.destinations;
  code_.append(std::move(halves));
  for (unsigned part = 0; part < fragment.parts(); ++part) {
    ir::Operation store =
        access(instruction, fragment, base, fragment.at(0, reg, part), Type::b16, 1);
    store.sources.push_back(elements[part]);
    code_.append(std::move(store));
  }
}

void WmmaAccess::store(PtxInstruction& instruction) {
  if (!instruction.modifiers.take("d")) instruction.fail("needs .d");
  const Fragment fragment = read_fragment(instruction, MatrixOperand::d);
  instruction.expect_arguments(2, 3);
  instruction.reject_rest();
  const std::vector<ir::Operand> from =
      fragment_registers(instruction, instruction.argument(1), fragment, false);
  Base base = base_of(instruction, fragment, instruction.argument(0), 2);
  for (unsigned reg = 0; reg < fragment.registers;) {
    const unsigned count = together(fragment, reg);
    if (count == 0) {
      store_elements(instruction, fragment, base, reg, from[reg]);
    } else {
      const Type type = fragment.bits == 64 ? Type::b64 : Type::b32;
      ir::Operation store =
          access(instruction, fragment, base, fragment.at(0, reg, 0), type, count);
      for (unsigned i = 0; i < count; ++i) store.sources.push_back(from[reg + i]);
      code_.append(std::move(store));
    }
    reg += std::max(count, 1U);
  }
}

}  // namespace lockstep::isa
