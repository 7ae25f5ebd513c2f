#include "models/sm/exception_scheme/operand_log_cost.hpp"

#include <array>

namespace lockstep {

namespace {

struct Row {
  double bytes;
  OperandLogCost cost;
};
constexpr std::array<Row, 4> table{{{8192, {1.04, 0.47, 1.82, 1.28}},
                                    {16384, {1.47, 0.67, 2.34, 1.64}},
                                    {20480, {1.67, 0.76, 2.61, 1.83}},
                                    {32768, {2.36, 1.08, 3.38, 2.37}}}};

}  // namespace

std::optional<OperandLogCost> operand_log_cost(Bytes bytes) {
  const auto size = static_cast<double>(bytes.count());
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    const Row &low = table[i], &high = table[i + 1];
    if (size < low.bytes || size > high.bytes) continue;
    const double share = (size - low.bytes) / (high.bytes - low.bytes);
    const auto between = [&](double OperandLogCost::*value) {
      return low.cost.*value + share * (high.cost.*value - low.cost.*value);
    };
    return OperandLogCost{between(&OperandLogCost::sm_area), between(&OperandLogCost::gpu_area),
                          between(&OperandLogCost::sm_power), between(&OperandLogCost::gpu_power)};
  }
  return std::nullopt;
}

}  // namespace lockstep
