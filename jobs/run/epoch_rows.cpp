#include "jobs/run/epoch_rows.hpp"

#include "jobs/run/results.hpp"

namespace lockstep {

std::vector<std::byte> EpochRows::sample(Time end, std::span<const LocalComponent> components) {
  for (const LocalComponent& local : components) {
    auto* const host = kernels_ ? dynamic_cast<Host*>(local.component) : nullptr;
    if (host) kernels_->append(kernel_rows(host->kernels().take_over()));
  }
  return statistics_.sample(end, components);
}

void EpochRows::collect(Time end, std::span<const std::vector<std::byte>> contributions) {
  statistics_.collect(end, contributions);
}

}  // namespace lockstep
