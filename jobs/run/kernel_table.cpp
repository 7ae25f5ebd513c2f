#include "jobs/run/kernel_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jobs/run/text_columns.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_kernels = 10, name_columns = 24;

std::string percent(double ratio) {
  return std::isnan(ratio) ? "-" : fmt::format("{:.0f}%", 100 * ratio);
}

std::string line_of(const KernelSum& kernel) {
  const KernelRow& row = kernel.sum;
  const double bandwidth = row.kernel_dram_bandwidth;
  return fmt::format("  {:<24}{:>9}{:>10}{:>7}{:>10}{:>6}{:>6}{:>6}\n",
                     shortened(row.kernel, name_columns - 1), kernel.launches, row.cycles,
                     rate_text(row.kernel_instructions_per_cycle), percent(row.occupancy),
                     percent(row.l1_hit_rate), percent(row.l2_hit_rate),
                     std::isnan(bandwidth) ? "-" : fmt::format("{:.1f}", bandwidth * 1e-9));
}

}  // namespace

std::string kernel_table(const std::vector<KernelSum>& kernels) {
  if (kernels.empty()) return "";
  std::string text =
      fmt::format("  {:<24}{:>9}{:>10}{:>7}{:>10}{:>6}{:>6}{:>6}\n", "kernel, of its own time",
                  "launches", "cycles", "IPC", "occupancy", "L1", "L2", "GB/s");
  const std::size_t shown = std::min(kernels.size(), most_kernels);
  for (std::size_t k = 0; k < shown; ++k) text += line_of(kernels[k]);
  if (shown < kernels.size())
    text += fmt::format("  and {} more: see /kernels\n", kernels.size() - shown);
  return text;
}

}  // namespace lockstep
