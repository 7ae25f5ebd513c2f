#include "jobs/observe/kernel_sums.hpp"

#include <algorithm>
#include <map>

#include "jobs/observe/gpus_of_run.hpp"
#include "jobs/observe/kernel_metrics.hpp"

namespace lockstep {

std::vector<std::vector<KernelSum>> sum_of_kernels(const h5::File& run, std::size_t tenants,
                                                   const Node& configuration) {
  constexpr std::size_t rows_at_once = 1 << 14;
  const TableSchema& schema = table_schema_of<KernelRow>();
  const GpusOfRun gpus(configuration);
  std::vector<KernelMetrics> metrics;
  for (std::size_t gpu = 0; gpu < gpus.count(); ++gpu)
    metrics.emplace_back(gpus.configuration(gpu));
  std::vector<std::map<std::string, KernelSum>> sums(tenants);
  const std::size_t count = count_rows(run, schema);
  std::vector<KernelRow> rows;
  for (std::size_t first = 0; first < count; first += rows_at_once) {
    rows.assign(std::min(rows_at_once, count - first), {});
    read_rows(run, schema, rows.data(), rows.size(), first);
    for (const KernelRow& row : rows) {
      if (row.launched == Time::never()) continue;
      if (row.tenant >= tenants) run.refuse(schema.path, "names a tenant that is not there");
      KernelSum& kernel = sums[row.tenant][row.kernel];
      kernel.sum.kernel = row.kernel;
      ++kernel.launches;
      add_launch(kernel.sum, row);
    }
  }
  std::vector<std::vector<KernelSum>> sorted;
  for (std::size_t tenant = 0; tenant < tenants; ++tenant) {
    std::vector<KernelSum>& list = sorted.emplace_back();
    for (auto& [name, kernel] : sums[tenant]) {
      metrics[gpus.gpu_of(tenant)].derive(kernel.sum);
      list.push_back(std::move(kernel));
    }
    std::ranges::stable_sort(list, std::greater<>(),
                             [](const KernelSum& kernel) { return kernel.sum.cycles; });
  }
  return sorted;
}

}  // namespace lockstep
