#include "models/host/link_queue.hpp"

#include "core/error/error.hpp"

namespace lockstep {

LinkQueue::Entry LinkQueue::pop() {
  for (ClassQueue& one : classes_) {
    std::size_t next = one.by_tenant.size();
    for (std::size_t tenant = 0; tenant < one.by_tenant.size(); ++tenant) {
      const auto rank = [&](std::size_t t) {
        return one.turns.rank(t, one.by_tenant[t].front().arrival);
      };
      if (one.by_tenant[tenant].empty()) continue;
      if (next == one.by_tenant.size() || rank(tenant) < rank(next)) next = tenant;
    }
    if (next == one.by_tenant.size()) continue;
    const Entry entry = one.by_tenant[next].front();
    one.by_tenant[next].pop_front();
    one.turns.took(next);
    --waiting_;
    return entry;
  }
  internal_error(__FILE__, __LINE__, "not empty", "no transfer waits for the host link");
}

}  // namespace lockstep
