#include "models/vm/gmmu/local_handlers.hpp"

#include <algorithm>
#include <cstring>

#include "core/memory/slots.hpp"

namespace lockstep {
namespace {

constexpr Time swap_time{1'000'000'000};  // 1 us

std::int64_t cycles_of(Time time, const Clock& clock) {
  return clock.cycle_at_or_after(time).count();
}

}  // namespace

LocalHandlers::LocalHandlers(const Setup& setup, TableMemory& memory, GmmuStatistics& statistics)
    : parameters_(setup.parameters),
      latency_(cycles_of(parameters_.latency, setup.clock)),
      until_swap_(std::max<std::int64_t>(latency_ - cycles_of(swap_time, setup.clock), 0)),
      memory_(memory),
      statistics_(statistics),
      running_(setup.sms),
      by_tenant_(setup.tenants) {}

void LocalHandlers::offered(const PageSpan& span, PhysicalAddress entries_at) {
  const std::uint64_t entry = span.page % pages_per_large;
  tables_[table_of(span.first())] = entries_at - entry * sizeof(PageTableEntry);
}

bool LocalHandlers::take(const TranslateRequest& request, GmmuCycle& cycle) {
  const TenantPage granule = granule_of(request.where());
  if (by_granule_.contains(granule)) return true;
  if (pool_.empty() || !tables_.contains(table_of(granule))) {
    ++statistics_.local_refused[request.tenant];
    return false;
  }
  count(cycle.number);
  const std::uint32_t index = take_slot(handlers_, free_);
  LocalHandler& handler = handlers_[index] = {};
  handler.sm = request.sm;
  handler.warp = request.warp;
  handler.first = granule;
  handler.faulted = request.where().page;
  handler.found = cycle.now;
  handler.frames = pool_.front();
  pool_.pop_front();
  by_granule_[granule] = index;
  ++by_tenant_[request.tenant];
  ++statistics_.local_handlers[request.tenant];
  if (by_granule_.size() > statistics_.local_handlers_most.value())
    statistics_.local_handlers_most = by_granule_.size();
  if (has_room(handler.sm)) {
    begin(index, cycle.number);
  } else {
    handler.state = LocalHandler::State::queued;
    queue_.push_back(index);
  }
  return true;
}

void LocalHandlers::begin(std::uint32_t index, std::int64_t cycle) {
  LocalHandler& handler = handlers_[index];
  ++running_[handler.sm];
  handler.state = LocalHandler::State::running;
  handler.begun = cycle;
  swaps_.push_back({cycle + until_swap_, index});
  ends_.push_back({cycle + latency_, index});
}

bool LocalHandlers::handles_in(const PageSpan& span) const {
  const auto handler = by_granule_.lower_bound(granule_of(span.first()));
  return handler != by_granule_.end() && handler->first < span.end();
}

void LocalHandlers::forget_tenant(TenantId tenant) {
  std::erase_if(tables_, [&](const auto& table) { return table.first.tenant == tenant; });
}

std::int64_t LocalHandlers::next() const {
  std::int64_t next = GmmuCycle::never;
  if (!swaps_.empty()) next = std::min(next, swaps_.front().first);
  if (!ends_.empty()) next = std::min(next, ends_.front().first);
  return next;
}

void LocalHandlers::send_swaps(const FarFaults& faults, GmmuCycle& cycle) {
  for (; !swaps_.empty() && swaps_.front().first <= cycle.number; swaps_.pop_front()) {
    const std::uint32_t index = swaps_.front().second;
    LocalHandler& handler = handlers_[index];
    handler.state = LocalHandler::State::swapping;
    for (unsigned i = 0; i < pages_per_block; ++i) {
      const TenantPage page{handler.first.tenant, handler.first.page + i};
      if (!faults.host_has(page)) handler.wanted |= static_cast<std::uint16_t>(1u << i);
    }
    const std::uint64_t entry = handler.first.page.value() % pages_per_large;
    memory_.swap(index, handler.first.tenant,
                 tables_.at(table_of(handler.first)) + entry * sizeof(PageTableEntry),
                 handler.wanted, handler.frames, cycle);
  }
}

void LocalHandlers::swapped(std::uint32_t index, const std::byte* old_entries) {
  LocalHandler& handler = handlers_[index];
  handler.answered = true;
  for (unsigned i = 0; i < pages_per_block; ++i) {
    if (!(handler.wanted >> i & 1)) continue;
    std::uint64_t old;
    std::memcpy(&old, old_entries, sizeof old);
    old_entries += sizeof old;
    if (old == PageTableEntry::untouched)
      handler.entries[i] = granule_entry(handler.frames[i]).bits;
  }
  if (handler.ended) finished_.push_back(index);
}

std::optional<LocalHandler> LocalHandlers::take_finished(GmmuCycle& cycle) {
  for (; !ends_.empty() && ends_.front().first <= cycle.number; ends_.pop_front()) {
    const std::uint32_t index = ends_.front().second;
    handlers_[index].ended = true;
    if (handlers_[index].answered) finished_.push_back(index);
  }
  if (finished_.empty()) return std::nullopt;
  count(cycle.number);
  const std::uint32_t index = finished_.front();
  finished_.erase(finished_.begin());
  const LocalHandler handler = std::exchange(handlers_[index], LocalHandler{});
  free_.push_back(index);
  by_granule_.erase(handler.first);
  --by_tenant_[handler.first.tenant.value()];
  --running_[handler.sm];
  const auto waits = [&](std::uint32_t other) { return has_room(handlers_[other].sm); };
  if (const auto other = std::find_if(queue_.begin(), queue_.end(), waits); other != queue_.end()) {
    const std::uint32_t chosen = *other;
    queue_.erase(other);
    begin(chosen, cycle.number);
  }
  return handler;
}

void LocalHandlers::count(std::int64_t cycle) {
  const auto cycles = static_cast<std::uint64_t>(cycle - counted_);
  for (std::size_t tenant = 0; tenant < by_tenant_.size(); ++tenant)
    statistics_.local_handler_cycles[tenant] += by_tenant_[tenant] * cycles;
  counted_ = cycle;
}

void LocalHandlers::serialize(Archive& archive) {
  archive(pool_, tables_, handlers_, free_, by_granule_, swaps_, ends_, finished_, queue_, running_,
          by_tenant_, counted_);
}

}  // namespace lockstep
