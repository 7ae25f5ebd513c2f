#include "models/driver/managed/fault_queue.hpp"

#include <algorithm>

#include "models/vm/page_table_entry.hpp"

namespace lockstep {

void FaultQueue::push_again(PageFault fault, Time now) {
  fault.queued = now;
  queue_.push_back(fault);
}

PageFault FaultQueue::take_next() {
  std::size_t next = 0;
  const auto tenant = [&](std::size_t i) { return pages_.owner(queue_[i].page).tenant.value(); };
  for (std::size_t i = 1; i < queue_.size() && parameters_.order != TenantOrder::fifo; ++i)
    if (turns_.rank(tenant(i), i) < turns_.rank(tenant(next), next)) next = i;
  const PageFault fault = queue_[next];
  turns_.took(tenant(next));
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(next));
  return fault;
}

bool FaultQueue::together(const PageFault& first, const PageFault& other) const {
  const bool same_cycle = other.queued == first.queued;
  const Residency& residency = pages_.residency();
  switch (parameters_.batch) {
    case FaultBatch::per_page:
      return same_cycle && other.page == first.page;
    case FaultBatch::per_block:
      return same_cycle && residency.owner_index(other.page) == residency.owner_index(first.page) &&
             other.page.rounded_down(pages_per_block) == first.page.rounded_down(pages_per_block);
    case FaultBatch::per_batch:
      return same_cycle;
    case FaultBatch::all_waiting:
      return true;
  }
  return false;
}

std::vector<PageFault> FaultQueue::take_with(const PageFault& first) {
  std::vector<PageFault> taken;
  const bool all = parameters_.batch == FaultBatch::all_waiting;
  for (auto other = queue_.begin();
       other != queue_.end() && (all || other->queued <= first.queued);) {
    if (!together(first, *other)) {
      ++other;
      continue;
    }
    taken.push_back(*other);
    other = queue_.erase(other);
  }
  return taken;
}

void FaultQueue::await(const PageFault& fault) {
  pages_.set({fault.page, 1}, ManagedPages::awaited);
  awaited_.push_back(fault);
}

std::vector<PageFault> FaultQueue::take_awaited(PageRange range) {
  std::vector<PageFault> taken;
  bool any = false;
  for (ManagedPage page = range.first; page < range.end() && !any; ++page)
    any = pages_.has(page, ManagedPages::awaited);
  if (!any) return taken;
  pages_.clear(range, ManagedPages::awaited);
  std::erase_if(awaited_, [&](const PageFault& fault) {
    if (fault.is_in(range)) taken.push_back(fault);
    return fault.is_in(range);
  });
  return taken;
}

void FaultQueue::reconsider(Time now) {
  std::vector<PageFault> still;
  for (const PageFault& fault : deferred_) {
    const bool waits = pages_.place(fault.page) == PagePlace::leaving ||
                       pages_.buffer_of(fault.page).holds > 0 ||
                       pages_.waits_for_others(fault.page);
    if (waits) {
      still.push_back(fault);
    } else {
      push_again(fault, now);
    }
  }
  deferred_ = std::move(still);
}

void FaultQueue::serialize(Archive& archive) {
  archive(queue_, turns_, deferred_, awaited_);
}

}  // namespace lockstep
