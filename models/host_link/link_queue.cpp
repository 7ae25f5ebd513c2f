#include "models/host_link/link_queue.hpp"

#include <optional>

#include "core/error/error.hpp"

namespace lockstep {

LinkQueue::Entry LinkQueue::pop() {
  for (ClassQueue& one : classes_) {
    const auto rank = [&](std::size_t tenant) {
      return one.turns.rank(tenant, one.by_tenant[tenant].front().arrival);
    };
    std::optional<std::size_t> next;
    for (std::size_t tenant = 0; tenant < one.by_tenant.size(); ++tenant)
      if (!one.by_tenant[tenant].empty() && (!next || rank(tenant) < rank(*next))) next = tenant;
    if (!next) continue;
    const Entry entry = one.by_tenant[*next].front();
    one.by_tenant[*next].pop_front();
    one.turns.took(*next);
    --waiting_;
    return entry;
  }
  internal_error(__FILE__, __LINE__, "not empty", "no transfer waits for the host link");
}

}  // namespace lockstep
