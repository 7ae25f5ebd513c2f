/// Cost of an operand log in chip area and power.
/// Source: 000, section 5.2, Table 2 (40 nm, CACTI 6.5, 16 SMs of 16 mm2 and 5.7 W on a GPU of 561
/// mm2 and 130 W).
///
/// Simplified: costs between the four sizes of the table lie on straight lines; beyond these sizes
/// there is none.
#pragma once

#include <optional>

#include "core/time/bytes.hpp"

namespace lockstep {

/// Percent of an SM's and of the whole GPU's area and power.
struct OperandLogCost {
  double sm_area, gpu_area, sm_power, gpu_power;
};

/// Returns the cost of a log of `bytes` bytes in each SM; nothing outside of 8 to 32 KiB.
std::optional<OperandLogCost> operand_log_cost(Bytes bytes);

}  // namespace lockstep
