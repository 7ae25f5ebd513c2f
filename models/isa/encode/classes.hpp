#pragma once

#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"

namespace lockstep::isa {

/// How the SM handles an operation, and where it executes.
struct ExecutionClass {
  Category category = Category::arithmetic;
  Unit unit = Unit::integer;
  LatencyClass latency = LatencyClass::integer;
};
ExecutionClass execution_class(const ir::Operation& operation);

/// Type in which a source's value stands in its lanes; decides the width of a constant.
Type source_lane_type(const ir::Operation& operation, std::size_t source);

}  // namespace lockstep::isa
