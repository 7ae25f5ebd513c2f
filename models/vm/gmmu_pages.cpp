/// Pages come and go: what the host tells, replays, shootdowns.
#include <cstring>

#include "models/vm/gmmu.hpp"

namespace lockstep {

/// Sets the tenant's page tables; without tables the tenant has ended. Entries read from older
/// tables are dropped.
void Gmmu::set_root(const PageTableRoot& root, GmmuCycle& cycle) {
  const TenantId tenant{root.tenant};
  walkers_.set_root(tenant, PhysicalAddress{root.table});
  path_->forget_tenant(tenant);
  if (root.table != 0) return;
  local_.forget_tenant(tenant);
  answers_.forget_tenant(tenant, cycle);
}

void Gmmu::pages_mapped(const MessageHeader& message, GmmuCycle& cycle) {
  const auto& body = message.body<PagesMapped>();
  std::vector<std::uint64_t> entries(body.span.count);
  std::memcpy(entries.data(), message.payload_data(), entries.size() * sizeof entries[0]);
  if (body.entries_at != 0) note_entries(body, entries, cycle);
  const auto entry = [&](TenantPage where) {
    return PageTableEntry{entries[where.page - body.span.first().page]};
  };
  answers_.pages_came(body.span, FarFaults::Which::all, replay_, entry, cycle);
}

/// Translations of pages that were coalesced stay right in the TLBs (004, section 7.3.3).
void Gmmu::note_entries(const PagesMapped& body, Entries entries, GmmuCycle& cycle) {
  const PageSpan& span = body.span;
  if (PageTableEntry{entries[0]}.is(PageTableEntry::untouched))
    local_.offered(span, body.first_entry());
  if (mirrored())
    for (std::uint32_t i = 0; i < span.count; ++i)
      mirror_.map(span.at(i), {entries[i]}, body.is_large());
  if (!timing_.walks) tell_sms(body, entries, cycle);
  if (!body.is_coalesced()) return shoot_down_for_mapping(span, cycle);
  path_->coalesced(span.first());
  memory_.disable(span.first().tenant, body.first_entry(), cycle);
}

/// Tells every SM about every page before any access waits for it, for ideal translation.
void Gmmu::tell_sms(const PagesMapped& body, Entries entries, GmmuCycle& cycle) {
  answers_.told(body.span.first().tenant).assign(answers_.sms().size(), true);
  for (Link& sm : answers_.sms())
    cycle.outbox.send(sm, cycle.now, kind_of(MessageKind::pages_mapped), body,
                      std::as_bytes(entries));
}

void Gmmu::handlers_ended(GmmuCycle& cycle) {
  while (const std::optional<LocalHandler> handler = local_.take_finished(cycle)) {
    for (std::uint32_t first = 0; first < pages_per_block;) {
      std::uint32_t end = first;
      while (end < pages_per_block && handler->entries[end] != 0) ++end;
      if (end > first) {
        PagesMapped body;
        body.span = handler->span();
        body.span.page += first;
        body.span.count = end - first;
        note_entries(body, Entries(handler->entries).subspan(first, end - first), cycle);
      }
      first = end + 1;
    }
    // SMs that wait for a page which the handler found taken ask again, too.
    answers_.pages_came(
        handler->span(), FarFaults::Which::local, replay_,
        [](TenantPage) { return PageTableEntry{PageTableEntry::untouched}; }, cycle);
    tell_handled(*handler, cycle);
  }
  unmap_ready(cycle);
}

void Gmmu::tell_handled(const LocalHandler& handler, GmmuCycle& cycle) {
  PagesHandled body;
  body.span = handler.span();
  body.faulted = handler.faulted.value();
  body.found = handler.found;
  body.replayed = cycle.now;
  GranuleFrames result = handler.entries;
  for (std::size_t i = 0; i < result.size(); ++i)
    if (result[i] == 0) result[i] = handler.frames[i];
  cycle.outbox.send(answers_.host(), cycle.now, kind_of(MessageKind::pages_handled), body,
                    std::as_bytes(std::span(result)));
}

/// Absent entries are never kept in TLBs, so every dropped entry was valid: the flush costs only
/// misses.
/// Source: 001, sections C.3 and D.2; virtual-memory-and-exceptions.md, section 6.
void Gmmu::shoot_down_for_mapping(const PageSpan& span, GmmuCycle& cycle) {
  if (parameters_.shootdown == ShootdownGranularity::entry)
    statistics_.entries_dropped[span.tenant] += path_->drop(span, TlbLoss::flush);
  if (parameters_.shootdown == ShootdownGranularity::whole) flush_tlbs(span.tenant, cycle);
}

/// Flushes TLBs because of a change in a tenant's tables.
void Gmmu::flush_tlbs(std::uint16_t tenant, GmmuCycle& cycle) {
  TlbFlush flush;
  if (parameters_.shootdown_scope == ShootdownScope::tenant) flush.tenant = tenant;
  statistics_.entries_dropped[tenant] += path_->flush(TenantId{flush.tenant});
  for (Link& sm : answers_.sms()) {
    cycle.outbox.send(sm, cycle.now, kind_of(MessageKind::flush), flush);
    ++statistics_.flushes[tenant];
  }
}

void Gmmu::unmap_ready(GmmuCycle& cycle) {
  for (std::uint32_t index;
       (index = unmappings_.ready(answers_.faults(), local_)) != Unmappings::none;)
    begin_unmapping(index, cycle);
}

void Gmmu::begin_unmapping(std::uint32_t index, GmmuCycle& cycle) {
  Unmapping& unmapping = unmappings_[index];
  const PageSpan span = unmapping.span();
  statistics_.entries_dropped[span.tenant] += path_->drop(span, TlbLoss::shootdown);
  if (parameters_.shootdown == ShootdownGranularity::whole) flush_tlbs(span.tenant, cycle);
  walkers_.unmap(span, [&](TenantPage where) { unmapping.note_store(where); });
  if (mirrored())
    for (std::uint32_t i = 0; i < span.count; ++i) unmapping.entries[i] = mirror_.take(span.at(i));
  unmappings_.start_exchange(index, cycle);
}

/// The entries are 0 in memory: walks may read them again.
void Gmmu::entries_taken(std::uint32_t index, GmmuCycle& cycle) {
  Unmapping& unmapping = unmappings_[index];
  const PageSpan& span = unmapping.span();
  unmapping.stage = Unmapping::Stage::shootdown;
  walkers_.release(span, cycle.number);
  statistics_.pages_unmapped[span.tenant] += span.count;
  for (std::size_t sm = 0; sm < answers_.sms().size(); ++sm) {
    if (!answers_.told(span.first().tenant)[sm]) continue;
    PageSpan body = span;
    body.id = index;
    body.sm = static_cast<std::uint16_t>(sm);
    cycle.outbox.send(answers_.sms()[sm], cycle.now, kind_of(MessageKind::shootdown), body,
                      std::as_bytes(std::span(unmapping.entries)));
    ++statistics_.shootdowns[span.tenant];
    ++unmapping.missing;
  }
  if (unmapping.missing == 0) finish_unmapping(index, cycle);
}

void Gmmu::shootdown_done(const MessageHeader& message, GmmuCycle& cycle) {
  const std::uint32_t index = message.body<PageSpan>().id;
  if (unmappings_.shot_down(index, message.payload())) finish_unmapping(index, cycle);
}

void Gmmu::finish_unmapping(std::uint32_t index, GmmuCycle& cycle) {
  Unmapping& unmapping = unmappings_[index];
  unmapping.merge_stores();
  cycle.outbox.send(answers_.host(), cycle.now, kind_of(MessageKind::unmapped), unmapping.span(),
                    std::as_bytes(std::span(unmapping.entries)));
  unmappings_.remove(index);
}

}  // namespace lockstep
