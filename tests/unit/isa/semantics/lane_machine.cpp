#include "tests/unit/isa/semantics/lane_machine.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::isa::test {

std::vector<CpuLevel> levels() {
  std::vector<CpuLevel> result;
  for (const CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4})
    if (level <= best_cpu_level()) result.push_back(level);
  return result;
}

LaneMachine::LaneMachine() {
  context.bases = {rows.data(), rows.data(), rows.data(), rows.data()};
  context.predicates = predicates.data();
  context.identity = &identity;
  context.active = context.path = 0xffffffff;
}

void LaneMachine::set(unsigned row, Slot slot, const Lanes& values) {
  for (unsigned i = 0; i < warp_size; ++i) {
    if (slot == Slot::pair)
      std::memcpy(&rows[row * warp_size + 2 * i], &values[i], 8);
    else
      rows[row * warp_size + i] = static_cast<std::uint32_t>(values[i]);
  }
}

Lanes LaneMachine::get(unsigned row, Slot slot) const {
  Lanes result{};
  for (unsigned i = 0; i < warp_size; ++i) {
    if (slot == Slot::pair)
      std::memcpy(&result[i], &rows[row * warp_size + 2 * i], 8);
    else
      result[i] = rows[row * warp_size + i];
  }
  return result;
}

namespace {

template <std::size_t count>
void place(const std::vector<Slot>& slots, unsigned row, unsigned predicate,
           std::array<Operand, count>& operands, std::array<std::uint8_t, 2>& predicates) {
  unsigned next_row = 0, next_predicate = 0;
  for (const Slot slot : slots) {
    if (slot == Slot::predicate) {
      predicates[next_predicate] = static_cast<std::uint8_t>(predicate + next_predicate);
      ++next_predicate;
    } else {
      operands[next_row] =
          Operand(Operand::registers, static_cast<std::uint16_t>(row + 2 * next_row));
      ++next_row;
    }
  }
}

}  // namespace

ir::Operation Builder::complete() const {
  ir::Operation result = operation;
  const auto fill = [](const std::vector<Slot>& slots, std::vector<ir::Operand>& operands) {
    operands.resize(std::max(operands.size(), slots.size()));
    for (std::size_t k = 0; k < slots.size(); ++k)
      operands[k].kind =
          slots[k] == Slot::predicate ? ir::Operand::Kind::predicate : ir::Operand::Kind::reg;
  };
  fill(sources, result.sources);
  fill(destinations, result.destinations);
  return result;
}

bool Builder::bind(Instruction& instruction, CpuLevel level) const {
  instruction = {};
  place(sources, 0, 0, instruction.source, instruction.predicate_source);
  place(destinations, LaneMachine::first_destination, LaneMachine::first_predicate_destination,
        instruction.destination, instruction.predicate_destination);
  return bind_semantics(complete(), instruction, level);
}

namespace {

std::uint64_t integer(std::uint64_t raw, unsigned kind) {
  switch (kind) {
    case 0:
      return raw % 5 - 2;  // around zero
    case 1:
      return (std::uint64_t{1} << raw % 64) - (raw >> 8) % 3 + 1;
    case 2:
      return ~std::uint64_t{0} << raw % 64;
    case 3:
      return raw % 70;  // shift amounts, positions
    default:
      return raw;
  }
}
std::uint64_t floating(std::uint64_t raw, unsigned kind, unsigned exponent_bits,
                       unsigned mantissa_bits) {
  const std::uint64_t sign = (raw >> 63) << (exponent_bits + mantissa_bits);
  const std::uint64_t ones = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t fraction = raw & ((std::uint64_t{1} << mantissa_bits) - 1);
  const std::uint64_t near = (ones >> 1) - 4 + (raw >> 53) % 9;  // exponents around one
  switch (kind) {
    case 0:  // zero, infinity, NaN, largest, smallest, one
      switch (raw % 7) {
        case 0:
          return sign;
        case 1:
          return sign | ones << mantissa_bits;
        case 2:
          return sign | ones << mantissa_bits | 1 << 3 | std::uint64_t{1} << (mantissa_bits - 1);
        case 3:
          return sign | ((ones << mantissa_bits) - 1);
        case 4:
          return sign | std::uint64_t{1} << mantissa_bits;
        case 5:
          return sign | 1;
        default:
          return sign | (ones >> 1) << mantissa_bits;
      }
    case 1:  // subnormal
      return sign | fraction >> raw % 9;
    case 2:  // anything
      return sign | (raw >> 3 & (((ones + 1) << mantissa_bits) - 1));
    case 3:  // few significant bits: ties
      return sign | near << mantissa_bits | (fraction & ~std::uint64_t{0} << mantissa_bits / 2);
    case 4:  // close to overflow or underflow
      return sign |
             (raw >> 62 & 1 ? ones - 1 - (raw >> 56) % 3 : (raw >> 56) % 30) << mantissa_bits |
             fraction;
    default:
      return sign | near << mantissa_bits | fraction;
  }
}
std::uint64_t half(std::uint64_t raw, unsigned kind, unsigned mantissa_bits) {
  raw ^= raw << 48;
  return floating(raw, kind, 15 - mantissa_bits, mantissa_bits) & 0xffff;
}

}  // namespace

std::uint64_t Values::operator()(Type type) {
  const std::uint64_t raw = random_();
  const unsigned kind = static_cast<unsigned>(random_() % 8);
  switch (type) {
    case Type::f16:
    case Type::bf16:
      return half(raw, kind, type == Type::f16 ? 10 : 7);
    case Type::f16x2:
    case Type::bf16x2: {
      const unsigned mantissa = type == Type::f16x2 ? 10 : 7;
      return half(raw, kind, mantissa) | half(raw >> 16, (kind + 3) & 7, mantissa) << 16;
    }
    case Type::f32:
      return floating(raw, kind, 8, 23);
    case Type::f64:
      return floating(raw, kind, 11, 52);
    default:
      return integer(raw, kind) & width_mask(type == Type::none ? Type::b64 : type);
  }
}

Lanes Values::lanes(Type type) {
  Lanes result;
  for (std::uint64_t& lane : result) lane = (*this)(type);
  return result;
}

std::uint32_t Values::mask() {
  return random_() % 3 == 0 ? 0xffffffffu : static_cast<std::uint32_t>(random_());
}

std::string describe(const ir::Operation& op) {
  return "opcode " + std::to_string(static_cast<int>(op.opcode)) + " type " +
         std::to_string(static_cast<int>(op.type)) + " from " +
         std::to_string(static_cast<int>(op.source_type)) + " rounding " +
         std::to_string(static_cast<int>(op.rounding)) + " comparison " +
         std::to_string(static_cast<int>(op.comparison)) + " part " +
         std::to_string(static_cast<int>(op.part)) + " mode " + std::to_string(op.mode) +
         (op.flush ? " ftz" : "") + (op.saturate ? " sat" : "") + (op.carry_out ? " cc" : "");
}

void expect_lanes(const Builder& builder, const std::vector<Type>& source_types,
                  const Reference& reference, unsigned rounds) {
  Values values(0x5eed + static_cast<std::uint64_t>(builder.operation.opcode) * 977 +
                static_cast<std::uint64_t>(builder.operation.type));
  for (unsigned round = 0; round < rounds; ++round) {
    LaneMachine initial;
    for (std::size_t r = 0; r < initial.rows.size(); ++r)
      initial.rows[r] = static_cast<std::uint32_t>(values.raw());
    for (std::uint32_t& p : initial.predicates) p = static_cast<std::uint32_t>(values.raw());
    std::vector<Lanes> inputs;
    for (std::size_t k = 0; k < source_types.size(); ++k) {
      inputs.push_back(values.lanes(source_types[k]));
      initial.set(static_cast<unsigned>(2 * k), slot_of(source_types[k]), inputs.back());
    }
    initial.context.active = round == 0 ? 0xffffffff : values.mask();
    for (const CpuLevel level : levels()) {
      Instruction instruction;
      ASSERT_TRUE(builder.bind(instruction, level)) << describe(builder.operation);
      LaneMachine machine;
      machine.rows = initial.rows;
      machine.predicates = initial.predicates;
      machine.context.active = initial.context.active;
      instruction.execute(instruction, machine.context);
      const Slot slot = builder.destinations.at(0);
      const Lanes before = initial.get(LaneMachine::first_destination, slot);
      const Lanes after = machine.get(LaneMachine::first_destination, slot);
      for (unsigned i = 0; i < warp_size; ++i) {
        const bool active = (machine.context.active >> i & 1) != 0;
        LaneInput input;
        for (std::size_t k = 0; k < inputs.size(); ++k) input.row[k] = inputs[k][i];
        for (std::size_t k = 0; k < 2; ++k)
          input.predicate[k] = (initial.predicates[k] >> i & 1) != 0;
        std::uint64_t got = after[i], want = active ? reference(input) : before[i];
        if (slot == Slot::predicate) {
          constexpr unsigned p = LaneMachine::first_predicate_destination;
          got = machine.predicates[p] >> i & 1;
          if (!active) want = initial.predicates[p] >> i & 1;
        }
        ASSERT_EQ(got, want) << describe(builder.operation) << " level v" << static_cast<int>(level)
                             << " lane " << i << (active ? " active" : " inactive") << std::hex
                             << " inputs " << input.row[0] << " " << input.row[1] << " "
                             << input.row[2] << " " << input.row[3] << " got " << got << " want "
                             << want;
      }
    }
  }
}

}  // namespace lockstep::isa::test
