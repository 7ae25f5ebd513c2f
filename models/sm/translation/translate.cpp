/// What an SM asks of the GMMU and hears from it, and what leaves when a page is there.
///
/// Source: architecture.md, section 8, rules 6 and 7; 001, section B.2 (Nack-Replayable, replay).
///
/// Simplified: a store to a page that is there but must not be written takes the entry out of the
/// TLB until it has gone, so that loads behind it cannot pass.
#include <cstring>

#include "models/sm/sm_state.hpp"

namespace lockstep {

namespace {

constexpr unsigned page_number_bits = 9 * walk_levels;

bool same_large_page(std::uint64_t key, std::uint64_t other) {
  return key / pages_per_large == other / pages_per_large;
}

}  // namespace

SmState::Lookup SmState::translate(Access& access, unsigned group, std::int64_t now) {
  const std::uint8_t tenant = warps[access.warp].tenant;
  const std::uint64_t page = access.group[group].line >> page_shift;
  const std::uint64_t key = Tlb::base_key(tenant, page);
  if (recall(key, access, now) && !access.writes()) {
    translation.find(key, false);
    return Lookup::found;
  }
  if (access.writes()) {
    const TlbArray::Entry* entry = translation.entry_of(key);
    if (entry != nullptr && entry->value.is(PageTableEntry::writable)) {
      if (translation.note_store(key)) tell_page(MessageKind::page_written, key, now);
      translation.find(key, true);
      return Lookup::found;
    }
  }
  const bool outside = page >> page_number_bits != 0;
  std::uint16_t miss = translation.find_miss(key);
  const bool merges = miss != TranslationUnit::none;
  if ((!merges && !outside && translation.full()) ||
      (access.parked == TranslationUnit::none &&
       translation.parked_accesses() >= parameters.parked_accesses)) {
    no_page_entry = true;
    return Lookup::wait;
  }
  if (!merges) {
    statistics.tenant[tenant].tlb_flush_misses += translation.was_flushed(key);
    translation.drop(key);
    miss = translation.take_miss(key);
  }
  translation.park(miss, access, group);
  if (translation.miss(miss).refused_since >= 0) wait_for_fault(access.warp, now);
  if (access.flight != SlotPool<Flight>::none) ++flights[access.flight].outstanding;
  SmStatistics::OfTenant& counts = statistics.tenant[tenant];
  ++(merges ? counts.tlb_merges : counts.tlb_misses);
  if (merges) return Lookup::parked;
  if (outside) {
    page_invalid(miss, now);
  } else {
    ask(miss, now);
  }
  return Lookup::parked;
}

/// Ideal translation: the SM knows the page, so that its entry is there at no cost.  One entry for
/// a page of a large page, since others of its pages may have lines that wait.
bool SmState::recall(std::uint64_t key, const Access& access, std::int64_t now) {
  const std::uint16_t tenant = TlbArray::tenant_of(key);
  const std::uint64_t page = TlbArray::number_of(key);
  const PageTableEntry entry = translation.known.find(tenant, page);
  if (!entry.is(PageTableEntry::present) || translation.entry_of(key) != nullptr ||
      translation.find_miss(key) != TranslationUnit::none)
    return false;
  const PageTableEntry own =
      entry.is(PageTableEntry::large) ? Tlb::entry_within(entry, page) : entry;
  translation.fill(key, {own.bits & ~PageTableEntry::large});
  TranslateRequest use;
  use.page = page;
  use.tenant = tenant;
  use.sm = static_cast<std::uint16_t>(setup.index);
  use.warp = access.warp;
  use.known = 1;
  outbox->send(to_gmmu, time_of(now), kind_of(MessageKind::translate), use);
  return true;
}

void SmState::on_pages_mapped(const PagesMapped& mapped, std::span<const std::byte> entries) {
  const PageSpan& span = mapped.span;
  for (std::uint32_t i = 0; i < span.count; ++i) {
    PageTableEntry entry;
    std::memcpy(&entry, entries.data() + i * sizeof entry, sizeof entry);
    translation.known.map(span.tenant, span.page + i, entry, (mapped.entries_at & 1) != 0);
  }
}

void SmState::ask(std::uint16_t index, std::int64_t now) {
  const PageMiss& miss = translation.miss(index);
  const Access& first = translation.access_of(translation.front(index));
  TranslateRequest request;
  request.page = miss.page();
  request.tenant = miss.tenant();
  request.sm = static_cast<std::uint16_t>(setup.index);
  request.warp = first.warp;
  request.write = first.writes();
  translation.set_state(index, PageMiss::State::asked);
  outbox->send(to_gmmu, time_of(now), kind_of(MessageKind::translate), request);
}

void SmState::on_translation(const TranslationAnswer& answer, std::int64_t now) {
  const std::uint64_t key = Tlb::base_key(answer.tenant, answer.page);
  const std::uint16_t miss = translation.find_miss(key);
  switch (answer.status) {
    case TranslationStatus::found:
      page_found(key, miss, answer.entry, now);
      break;
    case TranslationStatus::refused:
      if (miss != TranslationUnit::none) page_refused(miss, now);
      break;
    case TranslationStatus::invalid:
      if (miss != TranslationUnit::none) page_invalid(miss, now);
      break;
  }
  wake_queue(now);
}

/// A large page may bring what others of its pages wait for.
void SmState::page_found(std::uint64_t key, std::uint16_t miss, PageTableEntry entry,
                         std::int64_t now) {
  using State = PageMiss::State;
  bool hidden = false;
  if (miss != TranslationUnit::none) {
    const State state = translation.miss(miss).state;
    hidden = state == State::invalid;
    if (state == State::asked || state == State::refused) start_draining(miss, entry, now);
  }
  if (entry.is(PageTableEntry::large)) {
    translation.for_each_miss([&](std::uint16_t i) {
      const PageMiss& other = translation.miss(i);
      if (!same_large_page(other.key, key) || other.state == State::draining) return;
      if (other.state == State::asked && can_leave(i, entry)) return start_draining(i, entry, now);
      hidden = true;
    });
  }
  if (!hidden) translation.fill(key, entry);
}

bool SmState::can_leave(std::uint16_t miss, PageTableEntry entry) {
  if (translation.miss(miss).first == TranslationUnit::none) return true;
  return entry.is(PageTableEntry::writable) ||
         !translation.access_of(translation.front(miss)).writes();
}

void SmState::start_draining(std::uint16_t index, PageTableEntry entry, std::int64_t now) {
  PageMiss& miss = translation.miss(index);
  miss.entry = entry.is(PageTableEntry::large) ? Tlb::entry_within(entry, miss.page()) : entry;
  miss.stored = TranslationUnit::is_known_written(entry);
  if (miss.refused_since >= 0) {
    statistics.tenant[miss.tenant()].fault_page_cycles +=
        static_cast<std::uint64_t>(now - miss.refused_since);
    end_fault_wait(index, now);
  }
  if (miss.first == TranslationUnit::none) return page_done(index, now);
  translation.set_state(index, PageMiss::State::draining);
}

void SmState::page_refused(std::uint16_t index, std::int64_t now) {
  PageMiss& miss = translation.miss(index);
  if (miss.state != PageMiss::State::asked) return;
  ++statistics.tenant[miss.tenant()].tlb_refusals;
  miss.replayed = false;  // a refusal ends the replay
  if (miss.first == TranslationUnit::none)
    return translation.give_back_miss(index);  // its tenant was ended
  if (miss.refused_since < 0) {
    miss.refused_since = now;
    translation.for_each_parked(index, [&](const Access& access, unsigned) {
      wait_for_fault(access.warp, now);
      return false;
    });
  }
  translation.set_faulted(index, true);
  translation.set_state(index, PageMiss::State::refused);
  exceptions->refused(*this, index);
}

/// Prefetches are dropped; anything else is the tenant's mistake.
void SmState::page_invalid(std::uint16_t index, std::int64_t now) {
  bool mistaken = false;
  translation.for_each_parked(index, [&](const Access& access, unsigned group) {
    mistaken = access.kind != Access::Kind::prefetch;
    if (mistaken) report_violation(access, group, now);
    return mistaken;
  });
  translation.set_faulted(index, false);
  if (translation.miss(index).refused_since >= 0) end_fault_wait(index, now);
  translation.set_state(index, PageMiss::State::invalid);
  if (mistaken) return;
  while (translation.miss(index).first != TranslationUnit::none) {
    const std::uint16_t flight = translation.access_of(translation.front(index)).flight;
    translation.pop(index);
    answered(flight, 0, now);
  }
  translation.give_back_miss(index);
}

bool SmState::drain_group(std::int64_t now) {
  const std::uint16_t index = translation.draining.front();
  PageMiss& miss = translation.miss(index);
  const unsigned group = translation.front(index).group;
  Access& access = translation.access_of(translation.front(index));
  if (access.writes() && !miss.entry.is(PageTableEntry::writable)) {
    tell_replayed(index, now);
    translation.set_faulted(index, false);
    translation.drop(miss.key);
    ask(index, now);
    return true;
  }
  if (access.writes() && !miss.stored) {
    miss.stored = true;
    if (translation.note_store(miss.key)) tell_page(MessageKind::page_written, miss.key, now);
  }
  const std::uint64_t physical =
      miss.entry.address() | (access.group[group].line & (page_bytes - 1));
  if (!process_line(access, group, physical, miss.entry.is(PageTableEntry::remote), now))
    return false;
  const std::uint16_t flight = access.flight;
  translation.pop(index);
  if (flight != SlotPool<Flight>::none) answered(flight, 0, now);
  if (miss.first == TranslationUnit::none) page_done(index, now);
  return true;
}

void SmState::page_done(std::uint16_t miss, std::int64_t now) {
  tell_replayed(miss, now);
  translation.give_back_miss(miss);
}

void SmState::on_replay(const PageNotice& notice, std::int64_t now) {
  if (notice.page == all_pages) {
    translation.for_each_miss([&](std::uint16_t i) {
      if (translation.miss(i).state == PageMiss::State::refused) ask(i, now);
    });
    return;
  }
  const std::uint64_t key = Tlb::base_key(notice.tenant, notice.page);
  const std::uint16_t index = translation.find_miss(key);
  if (index == TranslationUnit::none || translation.miss(index).state == PageMiss::State::invalid)
    return tell_page(MessageKind::replayed, key, now);
  translation.miss(index).replayed = true;
  if (translation.miss(index).state == PageMiss::State::refused) ask(index, now);
}

void SmState::tell_replayed(std::uint16_t index, std::int64_t now) {
  PageMiss& miss = translation.miss(index);
  if (miss.replayed) tell_page(MessageKind::replayed, miss.key, now);
  miss.replayed = false;
}

void SmState::tell_page(MessageKind kind, std::uint64_t key, std::int64_t now) {
  const PageNotice notice{TlbArray::number_of(key), TlbArray::tenant_of(key),
                          static_cast<std::uint16_t>(setup.index), 0};
  outbox->send(to_gmmu, time_of(now), kind_of(kind), notice);
}

void SmState::report_violation(const Access& access, unsigned group, std::int64_t now) {
  const Warp& warp = warps[access.warp];
  const unsigned lane = static_cast<unsigned>(std::countr_zero(access.group[group].lanes));
  report(warp.tenant,
         mistake(warp, access.pc, lane,
                 std::string(access.kind == Access::Kind::load    ? "load from "
                             : access.kind == Access::Kind::store ? "store to "
                                                                  : "atomic at ") +
                     hexadecimal(access.group[group].line + access.group[group].first_offset) +
                     ", which is outside of every buffer",
                 "an index runs over a buffer, or the buffer was freed"),
         now);
}

}  // namespace lockstep
