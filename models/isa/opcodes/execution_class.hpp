#pragma once

#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// Class of an operation: its handling in the SM and its execution unit.
struct ExecutionClass {
  Category category = Category::arithmetic;
  Unit unit = Unit::integer;
  LatencyClass latency = LatencyClass::integer;
};
ExecutionClass execution_class(const ir::Operation& operation);

}  // namespace lockstep::isa
