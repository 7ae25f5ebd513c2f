/// The whole expansion issues as one instruction: it takes its scheduler's slots one after the
/// other, and lasts as long as its chain.  Only the busiest unit is occupied: the other units got
/// work in few of the slots, and have done it when the scheduler is free again.
///
/// Where the expansion branches (the path of normal operands), the warp's next instruction waits
/// for its end, because ptxas moves nothing past a branch; elsewhere surrounding code fills the
/// waits.
///
/// Simplified: no other warp issues between the operations of an expansion, although they wait for
/// each other.
#include "models/sm/tables/expansion_timing.hpp"

#include <algorithm>
#include <array>

#include "core/error/error.hpp"

namespace lockstep {
namespace {

using isa::LatencyClass;
using isa::Unit;

struct Part {
  Unit unit;
  std::int64_t latency, interval;
};

Part part_of(char letter, const SmParameters& p) {
  const SmLatencyParameters& latency = p.latency;
  const SmIntervalParameters& interval = p.interval;
  const auto part = [&](Unit unit, Cycles result, Cycles busy) {
    return Part{unit, result.count() + p.operand_read.count(), busy.count()};
  };
  switch (letter) {
    case 'a':
      return part(Unit::integer, latency[LatencyClass::integer], interval[LatencyClass::integer]);
    case 'p':
      return part(Unit::integer, latency[LatencyClass::predicate],
                  interval[LatencyClass::predicate]);
    case 'i':
      return part(multiply_unit(p), latency[LatencyClass::integer_multiply],
                  interval[LatencyClass::integer_multiply]);
    case 'w':
      return part(multiply_unit(p), latency.multiply_wide, interval.multiply_wide);
    case 'h':
      return part(multiply_unit(p), latency.multiply_high, interval.multiply_wide);
    case 'f':
      return part(Unit::fp32, latency[LatencyClass::fp32], interval[LatencyClass::fp32]);
    case 'x':
      return part(Unit::half, latency[LatencyClass::half], interval[LatencyClass::half]);
    case 'd':
      return part(Unit::fp64, latency[LatencyClass::fp64], interval[LatencyClass::fp64]);
    case 'm':
      return part(Unit::special, latency[LatencyClass::special], interval[LatencyClass::special]);
    case 'q':
      return part(Unit::special, latency.division_check, interval.division_check);
    case 'c':
      return part(Unit::special, latency[LatencyClass::convert], interval[LatencyClass::convert]);
    case 'n':
      return part(Unit::special, latency.bit_count, interval[LatencyClass::convert]);
    default:
      LOCKSTEP_CHECK(letter == 'b' || letter == 't',
                     "an expansion has an unknown machine operation");
      // The next instruction is fetched anew; no operands are read.
      const bool taken = letter == 't' && latency.taken_branch.count() != 0;
      return {Unit::control,
              (taken ? latency.taken_branch : latency[LatencyClass::control]).count(),
              interval[LatencyClass::control].count()};
  }
}

}  // namespace

isa::Unit present_unit(isa::Unit unit, const SmUnitParameters& units) {
  if (unit == Unit::integer && units[Unit::integer] == 0) unit = Unit::fp32;
  if (unit == Unit::half && units[Unit::half] == 0) unit = Unit::fp32;
  if (unit == Unit::fp64 && units[Unit::fp64] == 0) unit = Unit::special;
  if (unit == Unit::special && units[Unit::special] == 0) unit = Unit::fp32;
  return unit;
}

isa::Unit multiply_unit(const SmParameters& parameters) {
  return parameters.multiply_unit == MultiplyUnit::fp32 ? Unit::fp32 : Unit::integer;
}

ExpansionTiming timing_of(const isa::Expansion& expansion, const SmParameters& parameters) {
  ExpansionTiming timing;
  std::array<std::int64_t, static_cast<std::size_t>(Unit::count)> busy{};
  const auto occupy = [&](const Part& part) {
    const Unit unit = present_unit(part.unit, parameters.units);
    std::int64_t& cycles = busy[static_cast<std::size_t>(unit)];
    cycles += part.interval;
    if (cycles > timing.interval) {
      timing.interval = cycles;
      timing.unit = unit;
    }
  };
  for (const char letter : expansion.chain) {
    const Part part = part_of(letter, parameters);
    timing.latency += part.latency;
    occupy(part);
  }
  for (const char letter : expansion.beside) occupy(part_of(letter, parameters));
  // All operations have issued before the next instruction of the warp.
  timing.latency = std::max(timing.latency, static_cast<std::int64_t>(expansion.size()));
  return timing;
}

}  // namespace lockstep
