#include "models/host/link_queue.hpp"

#include "core/error/error.hpp"

namespace lockstep {

std::uint32_t LinkQueue::pop() {
  for (ClassQueue& one : classes_) {
    const std::size_t tenants = one.by_tenant.size();
    for (std::size_t step = 1; step <= tenants; ++step) {
      const std::size_t tenant = (one.last_tenant + step) % tenants;
      Waiting& waiting = one.by_tenant[tenant];
      if (waiting.empty()) continue;
      const std::uint32_t transfer = waiting.front();
      waiting.pop_front();
      one.last_tenant = tenant;
      --waiting_;
      return transfer;
    }
  }
  internal_error(__FILE__, __LINE__, "not empty", "no transfer waits for the host link");
}

}  // namespace lockstep
