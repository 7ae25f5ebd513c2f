#include "models/sm/translation/translation.hpp"

#include <cstring>

namespace lockstep {

namespace {

constexpr unsigned page_number_bits = 9 * walk_levels;

bool same_large_page(TlbKey key, TlbKey other) {
  return TlbKey::large(key.where()) == TlbKey::large(other.where());
}

}  // namespace

Translation::Translation(const SmContext& sm, ParkedLines& lines)
    : constants_(sm.constants),
      statistics_(sm.statistics),
      blocks_(sm.blocks),
      ports_(sm.ports),
      lines_(lines),
      tlb_(sm.constants.setup.vm.l1_tlb),
      gpc_(sm.constants.setup.vm.gpc_tlb),
      pages_(sm.constants.setup.vm.l1_tlb.mshrs),
      known_(sm.constants.setup.tenants.size()),
      waits_(sm.statistics, sm.blocks),
      has_small_pages_(sm.constants.setup.tenants.size()),
      squashes_(sm.constants.setup.preemptible) {}

Translation::Lookup Translation::look_up(Access& access, unsigned group, SmCycle now) {
  const VirtualPage page = page_of(VirtualAddress{access.group[group].line});
  const TlbKey key = TlbKey::base({TenantId{access.tenant}, page});
  if (recall(key, access, now) && !access.writes()) {
    tlb_.find(key, false);
    return Lookup::found;
  }
  if (access.writes()) {
    const TlbArray::Entry* entry = tlb_.entry_of(key);
    if (entry != nullptr && entry->value.is(PageTableEntry::writable)) {
      note_store(key, now);
      tlb_.find(key, true);
      return Lookup::found;
    }
  }
  if (find_in_gpc(key, access, now)) return Lookup::found_behind;
  const bool outside = page.value() >> page_number_bits != 0;
  std::uint16_t miss = pages_.find_miss(key);
  const bool merges = miss != ParkedPages::none;
  if ((!merges && !outside && pages_.full()) ||
      (access.parked == ParkedPages::none &&
       pages_.parked_accesses() >= constants_.parameters.parked_accesses))
    return Lookup::wait;
  GridCounts& counts = blocks_.counts(access.grid);
  if (merges && squashes_ && pages_.miss(miss).state == PageMiss::State::refused) {
    if (!pages_.miss(miss).come) {
      ++counts.l1_tlb_merges;
      waits_.begin(access, now);
      return Lookup::refused;
    }
    pages_.park(miss, access, group);
    ++counts.l1_tlb_misses;
    ask(miss, now);
    return Lookup::parked;
  }
  if (!merges) {
    statistics_.tenant[access.tenant].tlb_flush_misses += tlb_.was_flushed(key);
    tlb_.drop(key);
    gpc_.drop(key);
    miss = pages_.take_miss(key);
  }
  const bool is_first = !pages_.miss(miss).has_lines();
  pages_.park(miss, access, group);
  if (pages_.miss(miss).was_refused()) waits_.begin(access, now);
  const bool held = !merges && !outside && hold(miss);
  ++(merges || held ? counts.l1_tlb_merges : counts.l1_tlb_misses);
  if (held) return Lookup::parked;
  const bool invalid = merges && is_first && pages_.miss(miss).state == PageMiss::State::invalid;
  if (merges && !invalid) return Lookup::parked;
  if (outside || invalid) {
    page_invalid(miss, false, now);
  } else {
    ask(miss, now);
  }
  return Lookup::parked;
}

/// Puts the entry of a page into the TLB at no cost, because with ideal translation the SM knows
/// the page. A page of a large page gets an entry of its own, since lines of the other pages may
/// wait. Returns whether the TLB has such an entry now.
bool Translation::recall(TlbKey key, const Access& access, SmCycle now) {
  const auto [tenant, page] = key.where();
  const PageTableEntry entry = known_.find({tenant, page});
  if (!entry.is(PageTableEntry::present) || tlb_.entry_of(key) != nullptr ||
      pages_.find_miss(key) != ParkedPages::none)
    return false;
  const PageTableEntry own =
      entry.is(PageTableEntry::large) ? Tlb::entry_within(entry, page) : entry;
  tlb_.fill(key, {own.bits & ~PageTableEntry::large});
  TranslateRequest use;
  use.page = page.value();
  use.tenant = tenant.value();
  use.sm = static_cast<std::uint16_t>(constants_.setup.index);
  use.warp = access.warp;
  use.known = 1;
  ports_.tell_gmmu(MessageKind::translate, use, now);
  return true;
}

/// The GPC's TLB is asked only when no line waits for the page: waiting lines go first.
bool Translation::find_in_gpc(TlbKey key, const Access& access, SmCycle now) {
  const std::optional<PageTableEntry> entry = gpc_.find(key);
  if (!entry || pages_.find_miss(key) != ParkedPages::none) return false;
  if (access.writes() && !entry->is(PageTableEntry::writable)) return false;
  tlb_.fill(key, *entry);
  if (access.writes()) note_store(key, now);
  tlb_.find(key, access.writes());
  ++statistics_.tenant[access.tenant].gpc_tlb_hits;
  return true;
}

void Translation::on_pages_mapped(const PagesMapped& mapped, std::span<const std::byte> entries) {
  const PageSpan& span = mapped.span;
  for (std::uint32_t i = 0; i < span.count; ++i) {
    PageTableEntry entry;
    std::memcpy(&entry, entries.data() + i * sizeof entry, sizeof entry);
    known_.map(span.at(i), entry, mapped.is_large());
  }
}

bool Translation::hold(std::uint16_t index) {
  const TlbKey key = pages_.miss(index).key;
  if (!constants_.setup.vm.l1_tlb.merges_large || has_small_pages_[key.tenant().value()] != 0)
    return false;
  bool is_under_way = false;
  pages_.for_each_miss([&](std::uint16_t i) {
    const PageMiss& other = pages_.miss(i);
    is_under_way |= other.state == PageMiss::State::asked && !other.held && i != index &&
                    same_large_page(other.key, key);
  });
  if (!is_under_way) return false;
  pages_.miss(index).held = true;
  pages_.set_state(index, PageMiss::State::asked);
  return true;
}

void Translation::ask_held(TlbKey key, SmCycle now) {
  pages_.for_each_miss([&](std::uint16_t i) {
    PageMiss& miss = pages_.miss(i);
    if (!miss.held || !same_large_page(miss.key, key)) return;
    miss.held = false;
    if (miss.has_lines()) return ask(i, now);
    pages_.give_back_miss(i);  // the tenant of the miss was ended
  });
}

void Translation::ask(std::uint16_t index, SmCycle now) {
  const PageMiss& miss = pages_.miss(index);
  const Access& first = pages_.access_of(pages_.front(index));
  TranslateRequest request;
  request.page = miss.where().page.value();
  request.tenant = miss.tenant().value();
  request.sm = static_cast<std::uint16_t>(constants_.setup.index);
  request.warp = first.warp;
  request.write = first.writes();
  pages_.set_state(index, PageMiss::State::asked);
  ports_.tell_gmmu(MessageKind::translate, request, now);
}

void Translation::on_answer(const TranslationAnswer& answer, SmCycle now, bool blocks_in_memory) {
  const TlbKey key = TlbKey::base(answer.where());
  const std::uint16_t miss = pages_.find_miss(key);
  switch (answer.status) {
    case TranslationStatus::found:
      page_found(key, miss, answer.entry, now);
      break;
    case TranslationStatus::refused:
    case TranslationStatus::handled:
      if (miss != ParkedPages::none) page_refused(miss, answer, now);
      break;
    case TranslationStatus::invalid:
      if (miss != ParkedPages::none) page_invalid(miss, blocks_in_memory, now);
      break;
  }
  if (!constants_.setup.vm.l1_tlb.merges_large) return;
  has_small_pages_[answer.tenant] = !answer.entry.is(PageTableEntry::large);
  ask_held(key, now);
}

/// A large page may bring the translation for lines that wait for its other pages.
void Translation::page_found(TlbKey key, std::uint16_t miss, PageTableEntry entry, SmCycle now) {
  using State = PageMiss::State;
  bool hidden = false;
  if (miss != ParkedPages::none) {
    const State state = pages_.miss(miss).state;
    hidden = state == State::invalid;
    if (state == State::asked || state == State::refused) start_draining(miss, entry, now);
  }
  if (entry.is(PageTableEntry::large)) {
    pages_.for_each_miss([&](std::uint16_t i) {
      const PageMiss& other = pages_.miss(i);
      if (!same_large_page(other.key, key) || other.state == State::draining) return;
      if (other.state == State::asked && can_leave(i, entry)) return start_draining(i, entry, now);
      hidden = true;
    });
  }
  if (hidden) return;
  tlb_.fill(key, entry);
  gpc_.fill(key, entry);
}

void Translation::note_store(TlbKey key, SmCycle now) {
  if (!tlb_.note_store(key)) return;
  gpc_.note_store(key);
  tell_page(MessageKind::page_written, key, now);
}

bool Translation::can_leave(std::uint16_t miss, PageTableEntry entry) const {
  if (!pages_.miss(miss).has_lines()) return true;
  return entry.is(PageTableEntry::writable) || !pages_.access_of(pages_.front(miss)).writes();
}

void Translation::start_draining(std::uint16_t index, PageTableEntry entry, SmCycle now) {
  PageMiss& miss = pages_.miss(index);
  miss.held = false;
  miss.entry =
      entry.is(PageTableEntry::large) ? Tlb::entry_within(entry, miss.where().page) : entry;
  miss.stored = L1Tlb::is_known_written(entry);
  count_fault(index, now);
  if (ports_.marks().any()) [[unlikely]]
    tell_waiting(index, now);
  if (!miss.has_lines()) return page_done(index, now);
  pages_.set_state(index, PageMiss::State::draining);
}

void Translation::tell_waiting(std::uint16_t index, SmCycle now) const {
  std::uint64_t warps = 0;
  pages_.for_each_parked(index, [&](const Access& access, unsigned) {
    warps |= std::uint64_t{1} << access.warp;
    return false;
  });
  ports_.marks().translated(pages_.miss(index).tenant(), warps, now);
}

void Translation::count_fault(std::uint16_t index, SmCycle now) {
  const PageMiss& miss = pages_.miss(index);
  if (!miss.was_refused()) return;
  statistics_.tenant[miss.tenant().value()].fault_page_cycles +=
      static_cast<std::uint64_t>(now - miss.refused_since);
  end_fault_wait(index, now);
}

void Translation::page_refused(std::uint16_t index, const TranslationAnswer& answer, SmCycle now) {
  PageMiss& miss = pages_.miss(index);
  if (miss.state != PageMiss::State::asked) return;
  ++statistics_.tenant[miss.tenant().value()].tlb_refusals;
  miss.replayed = false;                                       // a refusal ends the replay
  if (!miss.has_lines()) return pages_.give_back_miss(index);  // the tenant of the miss was ended
  if (!miss.was_refused()) {
    pages_.set_refused_since(index, now);
    pages_.for_each_parked(index, [&](const Access& access, unsigned) {
      waits_.begin(access, now);
      return false;
    });
  }
  miss.position = answer.position;
  miss.handled = answer.status == TranslationStatus::handled;
  pages_.set_faulted(index, true);
  pages_.set_state(index, PageMiss::State::refused);
  miss.come = false;
  if (squashes_) squash_lines(index, now);
}

void Translation::squash_lines(std::uint16_t index, SmCycle now) {
  while (pages_.miss(index).has_lines()) {
    const ParkedGroup line = pages_.front(index);
    const Access& access = pages_.access_of(line);
    if (!access.prefetches()) lines_.squashed(access, line.group, now);
    if (pages_.pop(index)) lines_.dropped(access, now);
  }
}

void Translation::end_fault_wait(std::uint16_t miss, SmCycle now) {
  waits_.count(now);
  pages_.set_refused_since(miss, PageMiss::not_refused);
  waits_.find(pages_, lines_.stopped_warps());
}

/// Drops prefetches; any other access is the tenant's mistake. Squashed accesses are issued again
/// to find the mistake, without asking for the page again, because their block might leave each
/// time.
void Translation::page_invalid(std::uint16_t index, bool blocks_in_memory, SmCycle now) {
  bool mistaken = false;
  pages_.for_each_parked(index, [&](const Access& access, unsigned group) {
    mistaken = !access.prefetches();
    if (mistaken) lines_.violated(access, group, now);
    return mistaken;
  });
  pages_.set_faulted(index, false);
  if (pages_.miss(index).was_refused()) end_fault_wait(index, now);
  pages_.set_state(index, PageMiss::State::invalid);
  if (mistaken) return;
  while (pages_.miss(index).has_lines()) {
    const Access& access = pages_.access_of(pages_.front(index));
    if (pages_.pop(index)) lines_.dropped(access, now);
  }
  const bool squashed = squashes_ && lines_.come(pages_.miss(index).key, now);
  if (!squashed && !blocks_in_memory) pages_.give_back_miss(index);
}

Translation::Line Translation::next_line(SmCycle now) {
  const std::uint16_t index = pages_.draining().front();
  PageMiss& miss = pages_.miss(index);
  const unsigned group = pages_.front(index).group;
  Access& access = pages_.access_of(pages_.front(index));
  if (access.writes() && !miss.entry.is(PageTableEntry::writable)) {
    tell_replayed(index, now);
    pages_.set_faulted(index, false);
    tlb_.drop(miss.key);
    gpc_.drop(miss.key);
    ask(index, now);
    return {};
  }
  if (access.writes() && !miss.stored) {
    miss.stored = true;
    note_store(miss.key, now);
  }
  return {&access, group,
          PhysicalAddress(miss.entry.address() | (access.group[group].line & (page_bytes - 1))),
          miss.entry.is(PageTableEntry::remote)};
}

bool Translation::line_left(SmCycle now) {
  const std::uint16_t index = pages_.draining().front();
  const bool last = pages_.pop(index);
  if (!pages_.miss(index).has_lines()) page_done(index, now);
  return last;
}

void Translation::page_done(std::uint16_t miss, SmCycle now) {
  tell_replayed(miss, now);
  pages_.give_back_miss(miss);
}

void Translation::on_replay(const PageNotice& notice, SmCycle now) {
  if (notice.page == all_pages) {
    pages_.for_each_miss([&](std::uint16_t i) {
      if (pages_.miss(i).state == PageMiss::State::refused) page_replayed(i, now);
    });
    return;
  }
  const TlbKey key = TlbKey::base(notice.where());
  const std::uint16_t index = pages_.find_miss(key);
  if (index == ParkedPages::none || pages_.miss(index).state == PageMiss::State::invalid)
    return tell_page(MessageKind::replayed, key, now);
  pages_.miss(index).replayed = true;
  if (pages_.miss(index).state == PageMiss::State::refused) page_replayed(index, now);
}

/// Lets parked lines ask at once; squashed accesses ask after they have issued again.
void Translation::page_replayed(std::uint16_t index, SmCycle now) {
  if (!squashes_) return ask(index, now);
  pages_.miss(index).come = true;
  if (lines_.come(pages_.miss(index).key, now)) return;
  count_fault(index, now);
  page_done(index, now);
}

void Translation::nobody_asks_again(TlbKey key, SmCycle now) {
  const std::uint16_t index = pages_.find_miss(key);
  if (index == ParkedPages::none) return;
  const PageMiss& miss = pages_.miss(index);
  if (miss.state != PageMiss::State::refused || !miss.come || miss.has_lines()) return;
  count_fault(index, now);
  page_done(index, now);
}

void Translation::tell_replayed(std::uint16_t index, SmCycle now) {
  PageMiss& miss = pages_.miss(index);
  if (miss.replayed) tell_page(MessageKind::replayed, miss.key, now);
  miss.replayed = false;
}

void Translation::tell_page(MessageKind kind, TlbKey key, SmCycle now) {
  const PageNotice notice{key.number(), key.tenant().value(),
                          static_cast<std::uint16_t>(constants_.setup.index), 0};
  ports_.tell_gmmu(kind, notice, now);
}

void Translation::on_flush(TenantId tenant) {
  for (std::uint16_t t = 0; t < statistics_.tenant.size(); ++t)
    if (t == tenant.value() || tenant.value() == all_tenants)
      statistics_.tenant[t].tlb_flushed += tlb_.flush(TenantId(t)) + gpc_.flush(TenantId(t));
}

PageBits Translation::shoot_down(const PageSpan& span, SmCycle now) {
  PageBits stored{}, dropped{};
  // A long span costs a look at all entries, a short one a look for each page.
  if (known_.is_empty() && tlb_.places() + gpc_.places() <= std::size_t{4} * span.count) {
    tlb_.mark_stored(span.first(), span.count, stored);
    tlb_.mark(span.first(), span.count, dropped);
    gpc_.mark(span.first(), span.count, dropped);
  } else {
    for (std::uint32_t i = 0; i < span.count; ++i)
      stored[i / 64] |= std::uint64_t{tlb_.stored_under(TlbKey::base(span.at(i)))} << (i % 64);
    dropped.fill(~std::uint64_t{0});
  }
  tlb_.forget_last();
  for (std::uint32_t i = 0; i < span.count; ++i) {
    if ((dropped[i / 64] >> (i % 64) & 1) == 0) continue;
    const bool behind = gpc_.drop(TlbKey::base(span.at(i)));
    statistics_.tenant[span.tenant].tlb_shot_down += tlb_.drop(TlbKey::base(span.at(i))) || behind;
    known_.take(span.at(i));
  }
  pages_.for_each_miss([&](std::uint16_t i) {
    const PageMiss& miss = pages_.miss(i);
    if (miss.state == PageMiss::State::draining && span.covers(miss.where())) ask(i, now);
  });
  return stored;
}

std::string Translation::waiting_for() const {
  std::string text;
  if (pages_.asked() > 0) text += "; " + std::to_string(pages_.asked()) + " pages asked for";
  if (pages_.faulted() > 0)
    text += "; " + std::to_string(pages_.faulted()) + " pages wait for the host";
  return text;
}

}  // namespace lockstep
