/// A warp's registers and predicates around one instruction, and the comparison of its semantics
/// at every x86-64 level with a scalar reference.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa::test {

using Lanes = std::array<std::uint64_t, warp_size>;

std::vector<CpuLevel> levels();

/// What one operand looks like: bytes of a lane (4 or 8), or a predicate.
enum class Slot { word, pair, predicate };

/// Source k stands at row 2k, destination k at row 16 + 2k; predicate sources at 0, 1 and
/// destinations at 4, 5.
class LaneMachine {
 public:
  static constexpr unsigned first_destination = 16, first_predicate_destination = 4;
  LaneMachine();

  void set(unsigned row, Slot slot, const Lanes& values);
  Lanes get(unsigned row, Slot slot) const;

  alignas(64) std::array<std::uint32_t, 32 * warp_size> rows{};
  std::array<std::uint32_t, 8> predicates{};
  WarpIdentity identity;
  WarpContext context;
};

/// Builds an operation and the instruction for it, operands where LaneMachine has them.
class Builder {
 public:
  Builder(Opcode opcode, Type type, Type source_type = Type::none) {
    operation.opcode = opcode;
    operation.type = type;
    operation.source_type = source_type;
  }
  Builder& from(std::vector<Slot> slots) {
    sources = std::move(slots);
    return *this;
  }
  Builder& to(std::vector<Slot> slots) {
    destinations = std::move(slots);
    return *this;
  }
  Builder& with(const std::function<void(ir::Operation&)>& change) {
    change(operation);
    return *this;
  }

  /// The operation with operands filled in.
  ir::Operation complete() const;
  /// False when there are no such semantics.
  bool bind(Instruction& instruction, CpuLevel level) const;

  ir::Operation operation;
  std::vector<Slot> sources, destinations;
};

inline Slot slot_of(Type type) {
  return type == Type::pred ? Slot::predicate : bytes_of(type) == 8 ? Slot::pair : Slot::word;
}
constexpr std::uint64_t width_mask(Type type) {
  return bytes_of(type) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes_of(type))) - 1;
}
/// Sign- or zero-extends the low bits as the type says.
constexpr std::int64_t signed_value(std::uint64_t bits, Type type) {
  const unsigned unused = 64 - 8 * bytes_of(type);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

/// Values where things go wrong, by type, mixed with random ones.
class Values {
 public:
  explicit Values(std::uint64_t seed) : random_(seed) {}

  std::uint64_t operator()(Type type);
  Lanes lanes(Type type);
  std::uint32_t mask();
  std::uint64_t raw() { return random_(); }

 private:
  std::mt19937_64 random_;
};

/// One lane's inputs: source rows in order, predicate sources in order.
struct LaneInput {
  std::array<std::uint64_t, 5> row{};
  std::array<bool, 2> predicate{};
};
using Reference = std::function<std::uint64_t(const LaneInput&)>;

std::string describe(const ir::Operation& op);

/// Runs `builder`'s instruction at every level on values of the given source types and compares
/// destination 0 with the reference; lanes that do not execute must keep what they had.
void expect_lanes(const Builder& builder, const std::vector<Type>& source_types,
                  const Reference& reference, unsigned rounds = 40);

inline float as_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
inline double as_double(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline std::uint64_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

}  // namespace lockstep::isa::test
