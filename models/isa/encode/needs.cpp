#include "core/error/error.hpp"
#include "models/isa/encode/encode.hpp"
#include "models/isa/encode/successors.hpp"
#include "models/isa/operand_lists.hpp"

namespace lockstep::isa {
namespace {

constexpr std::uint32_t rows_in_mask = 256;
using Mask = std::array<std::uint64_t, 4>;

void set(Mask& mask, Operand operand, std::uint32_t pair_rows) {
  if (!operand.is_register()) return;
  const unsigned count = operand.row() < pair_rows ? 2 : 1;
  for (unsigned r = operand.row(); r < operand.row() + count; ++r)
    mask[r / 64] |= std::uint64_t{1} << r % 64;
}

Mask mask_of(std::span<const Operand> operands, std::uint32_t pair_rows) {
  Mask mask{};
  for (const Operand operand : operands) set(mask, operand, pair_rows);
  return mask;
}

Mask read_rows(const Program& program, const Instruction& instruction) {
  return mask_of(sources_of(program, instruction), program.pair_rows);
}

Mask written_rows(const Program& program, const Instruction& instruction) {
  return mask_of(destinations_of(program, instruction), program.pair_rows);
}

}  // namespace

void find_needs(Program& program) {
  program.needs.clear();
  if (program.rows > rows_in_mask || program.predicates > 64) return;
  for (const Instruction& i : program.instructions) {
    ScoreboardNeed need;
    const Mask read = read_rows(program, i), written = written_rows(program, i);
    for (std::size_t w = 0; w < need.rows.size(); ++w) need.rows[w] = read[w] | written[w];
    const auto predicate = [&](std::uint8_t p) {
      if (p != no_predicate) need.predicates |= std::uint64_t{1} << p;
    };
    predicate(i.guard);
    for (const std::uint8_t p : i.predicate_source) predicate(p);
    for (const std::uint8_t p : i.predicate_destination) predicate(p);
    program.needs.push_back(need);
  }
}

void find_live_rows(Program& program) {
  LOCKSTEP_CHECK(program.rows <= rows_in_mask, "liveness of a program with too many rows");
  const auto next = successors(program);
  const std::size_t count = program.instructions.size();
  program.live_rows.assign(count, Mask{});
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t pc = count; pc-- > 0;) {
      const Instruction& i = program.instructions[pc];
      Mask live{};
      for (const std::uint32_t n : next[pc])
        for (std::size_t w = 0; w < live.size(); ++w) live[w] |= program.live_rows[n][w];
      // A guarded write keeps the other lanes' values.
      if (i.guard == no_predicate) {
        const Mask written = written_rows(program, i);
        for (std::size_t w = 0; w < live.size(); ++w) live[w] &= ~written[w];
      }
      const Mask read = read_rows(program, i);
      for (std::size_t w = 0; w < live.size(); ++w) live[w] |= read[w];
      if (live != program.live_rows[pc]) {
        program.live_rows[pc] = live;
        changed = true;
      }
    }
  }
}

}  // namespace lockstep::isa
