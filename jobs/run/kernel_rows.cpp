#include "jobs/run/kernel_rows.hpp"

#include <algorithm>

#include "models/isa/text/kernel_title.hpp"

namespace lockstep {

KernelRows::KernelRows(const Node& configuration) : gpus_(configuration) {
  for (std::size_t gpu = 0; gpu < gpus_.count(); ++gpu) {
    const Node& of_it = gpus_.configuration(gpu);
    of_gpu_.push_back(
        {Clock(of_it.at("gpu").at("sm").at("clock").frequency()), KernelMetrics(of_it)});
  }
}

std::vector<KernelRow> KernelRows::of(const std::vector<KernelRecord>& kernels, Time now) const {
  std::vector<KernelRow> rows;
  for (const KernelRecord& kernel : kernels) {
    KernelRow& row = rows.emplace_back();
    row.kernel = isa::kernel_title(kernel.kernel);
    row.tenant = kernel.tenant;
    row.gpu = gpus_.are_several() ? kernel.gpu : 0;
    const OfGpu& gpu = of_gpu_[row.gpu];
    row.stream = kernel.stream;
    row.blocks_x = kernel.blocks[0];
    row.blocks_y = kernel.blocks[1];
    row.blocks_z = kernel.blocks[2];
    row.threads_x = kernel.threads[0];
    row.threads_y = kernel.threads[1];
    row.threads_z = kernel.threads[2];
    row.enqueued = kernel.enqueued;
    row.launched = kernel.launched;
    row.done = kernel.done;
    row.duration = std::max(std::min(kernel.done, now) - kernel.launched, Time::zero());
    row.cycles = static_cast<std::uint64_t>(gpu.clock.cycle_at_or_before(row.duration).count());
    row.counts = kernel.counts;
    gpu.metrics.derive(row);
  }
  return rows;
}

}  // namespace lockstep
