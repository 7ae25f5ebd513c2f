/// Stages of a request: lookups, the walk, the answer or the refusal.
/// Source: 004, section 6.4; 001, section B.2 (refusals); memory-interference.md, section 5.3.1.
#include <algorithm>

#include "models/vm/gmmu.hpp"

namespace lockstep {

void Gmmu::step(GmmuCycle& cycle) {
  for (std::uint32_t walk; (walk = walkers_.timer_done(cycle)) != Walkers::none;)
    if (walkers_[walk].done) finish_walk(walk, cycle);
  finish_lookups(cycle);
  retry_stalled(cycle);
  begin_lookups(cycle);
  const auto held = [&](TenantPage where) { return unmappings_.holds(where); };
  for (std::uint32_t walk; (walk = walkers_.begin(cycle, held)) != Walkers::none;)
    if (walkers_[walk].done) finish_walk(walk, cycle);
  local_.send_swaps(answers_.faults(), cycle);
  handlers_ended(cycle);
  retry_faults(cycle);
  cycle_ =
      std::min({walkers_.next_timer(), large_lookups_.next(), base_lookups_.next(), local_.next()});
  const bool more = stalled_.empty() ? !arrived_.empty() : walkers_.has_room();
  if (more) cycle_ = std::min(cycle_, cycle.number + 1);
}

/// Finishes lookups: first the older lookups, in the entries for base pages.
void Gmmu::finish_lookups(GmmuCycle& cycle) {
  TranslateRequest request;
  while (base_lookups_.take(cycle.number, request)) {
    if (!end_lookup(request, path_->find_base(request.where()), cycle)) miss(request, cycle);
  }
  while (large_lookups_.take(cycle.number, request)) {
    if (end_lookup(request, path_->find_large(request.where()), cycle)) continue;
    if (!timing_.together) {
      base_lookups_.add(cycle.number + timing_.lookup.count(), request);
    } else if (!end_lookup(request, path_->find_base(request.where()), cycle)) {
      miss(request, cycle);
    }
  }
}

/// Returns whether the lookup hit. An entry that forbids a write counts as a miss, since memory may
/// allow the write by now.
bool Gmmu::end_lookup(const TranslateRequest& request, const PageTableEntry* entry,
                      GmmuCycle& cycle) {
  if (!entry || (request.write && !entry->is(PageTableEntry::writable))) return false;
  if (!request.retried) {
    ++statistics_.tlb_hits[request.tenant];
    path_->looked_up(TenantId{request.tenant}, true, cycle.now);
  }
  answer(request, *entry, cycle);
  return true;
}

void Gmmu::miss(const TranslateRequest& request, GmmuCycle& cycle) {
  if (!request.retried) {
    ++statistics_.tlb_misses[request.tenant];
    if (const auto loss = path_->take_loss(request.where()))
      ++statistics_.tlb_lost_misses[request.tenant][static_cast<std::size_t>(*loss)];
    path_->looked_up(TenantId{request.tenant}, false, cycle.now);
  }
  walk_or_stall(request, cycle);
}

void Gmmu::walk_or_stall(const TranslateRequest& request, GmmuCycle& cycle) {
  if (walkers_.has_room() || walkers_.find(request.where()) != Walkers::none) {
    walkers_.translate(request, cycle.number);
  } else {
    ++statistics_.mshr_stalls[request.tenant];
    stalled_.add(cycle.number, request);
  }
}

/// Misses that found no MSHR.  The page may have been walked for meanwhile.
void Gmmu::retry_stalled(GmmuCycle& cycle) {
  TranslateRequest request;
  while (!stalled_.empty() && walkers_.has_room()) {
    waits_.take_stalled(stalled_, cycle.number, walkers_.last_tenant(), request);
    if (timing_.ports > 0) {
      const PageTableEntry* entry = path_->find_base(request.where());
      if (!entry) entry = path_->find_large(request.where());
      if (entry && (!request.write || entry->is(PageTableEntry::writable))) {
        answer(request, *entry, cycle);
        continue;
      }
    }
    walkers_.translate(request, cycle.number);
  }
}

void Gmmu::begin_lookups(GmmuCycle& cycle) {
  TranslateRequest request;
  for (std::uint32_t port = 0; stalled_.empty() && (timing_.ports == 0 || port < timing_.ports);
       ++port) {
    if (!waits_.take_arrived(arrived_, cycle.number, request)) return;
    if (timing_.ports > 0) {
      large_lookups_.add(cycle.number + timing_.lookup.count(), request);
    } else {
      walk_or_stall(request, cycle);
    }
  }
}

void Gmmu::finish_walk(std::uint32_t index, GmmuCycle& cycle) {
  Walk& walk = walkers_[index];
  if (walk.stale) return walkers_.again(index, cycle.number);
  if (walk.result.is(PageTableEntry::present)) {
    std::uint64_t bits = walk.written ? PageTableEntry::dirty : 0;
    if (!walk.requests.empty()) bits |= PageTableEntry::accessed;
    bits &= ~walk.result.bits;
    if (bits != 0) set_bits(walk, bits, cycle);
    walk.result.bits |= bits;
    if (!walk.requests.empty()) {
      const FinishedWalk walked{walk.where(), walk.result, walk.requests};
      waits_.evicted(path_->walked(walked, cycle.now), walk.tenant);
      answers_.note(walk.where());
    }
  }
  for (const TranslateRequest& request : walk.requests) answer(request, walk.result, cycle);
  walkers_.end(index, cycle.number);
}

void Gmmu::set_bits(const Walk& walk, std::uint64_t bits, GmmuCycle& cycle) {
  if (mirrored()) return mirror_.set(walk.where(), bits);
  memory_.set_bits(walk.where().tenant, walk.place, bits, cycle);
  path_->keep_level(walk.table_where(), walk_levels,
                    {(walk.result.bits & ~PageTableEntry::large) | bits});
  if ((bits & PageTableEntry::dirty) != 0) path_->set_dirty(walk.where());
}

/// A refusal may end the replay that an unmapping waits for.
void Gmmu::answer(const TranslateRequest& request, PageTableEntry entry, GmmuCycle& cycle) {
  if (!answers_.answer(request, entry, cycle)) unmap_ready(cycle);
}

/// Retries requests that wait for a far-fault MSHR, as these come free.
void Gmmu::retry_faults(GmmuCycle& cycle) {
  for (TranslateRequest request; answers_.faults().take_retry(request);) look_up(request, cycle);
}

}  // namespace lockstep
