#include "models/sm/translation/l1_tlb.hpp"

#include <algorithm>

namespace lockstep {

namespace {

/// Mark of a TLB entry: a store under it needs nothing more.
constexpr std::uint32_t may_store = 1;

/// Returns whether a store to GPU memory has gone out under the entry.
bool has_stored(const TlbArray::Entry& entry) {
  return entry.mark == may_store && !entry.value.is(PageTableEntry::remote);
}

std::uint32_t mark_of(PageTableEntry entry) {
  return L1Tlb::is_known_written(entry) ? may_store : 0;
}

}  // namespace

bool L1Tlb::is_known_written(PageTableEntry entry) {
  return entry.is(PageTableEntry::writable) &&
         entry.is(PageTableEntry::dirty | PageTableEntry::remote);
}

bool L1Tlb::find_in_arrays(TlbKey key, bool write) {
  TlbArray* array = &hot_.tlb.base;
  std::uint32_t index = array->find(key);
  PageTableEntry entry;
  if (index != TlbArray::none) {
    entry = (*array)[index].value;
  } else {
    array = &hot_.tlb.large;
    index = array->find(TlbKey::large(key.where()));
    if (index == TlbArray::none) return false;
    entry = Tlb::entry_within((*array)[index].value, key.where().page);
  }
  const bool stored = (*array)[index].mark == may_store;
  if (write && !stored) return false;
  array->touch(index);
  hot_.last_key = key;
  hot_.last_frame = entry.address();
  hot_.last_stored = stored;
  hot_.last_remote = entry.is(PageTableEntry::remote);
  return true;
}

TlbArray::Entry* L1Tlb::entry_of(TlbKey key) {
  if (const std::uint32_t i = hot_.tlb.base.find(key); i != TlbArray::none)
    return &hot_.tlb.base[i];
  if (const std::uint32_t i = hot_.tlb.large.find(TlbKey::large(key.where())); i != TlbArray::none)
    return &hot_.tlb.large[i];
  return nullptr;
}

void L1Tlb::fill(TlbKey key, PageTableEntry entry) {
  hot_.last_key = {};
  flushed_.forget(key.where());
  if (entry.is(PageTableEntry::large)) {
    hot_.tlb.large[hot_.tlb.large.insert(TlbKey::large(key.where()), entry)].mark = mark_of(entry);
  } else {
    hot_.tlb.base[hot_.tlb.base.insert(key, entry)].mark = mark_of(entry);
  }
}

bool L1Tlb::drop(TlbKey key) {
  hot_.last_key = {};
  flushed_.forget(key.where());
  return hot_.tlb.drop(key.where());
}

std::uint32_t L1Tlb::flush(TenantId tenant) {
  hot_.last_key = {};
  flushed_.flushed(hot_.tlb, tenant);
  return hot_.tlb.drop_tenant(tenant);
}

bool L1Tlb::stored_under(TlbKey key) {
  const TlbArray::Entry* entry = entry_of(key);
  return entry != nullptr && has_stored(*entry);
}

void L1Tlb::mark_stored(TenantPage first, std::uint32_t count, PageBits& bits) const {
  const std::uint64_t begin = first.page.value(), end = begin + count;
  const auto mark = [&](std::uint64_t place, bool stored) {
    const std::uint64_t bit = std::uint64_t{1} << place % 64;
    bits[place / 64] = (bits[place / 64] & ~bit) | (stored ? bit : 0);
  };
  for (std::uint64_t page = begin; page < end;) {
    const std::uint64_t next = std::min(end, (page / pages_per_large + 1) * pages_per_large);
    const TlbArray& large = hot_.tlb.large;
    const std::uint32_t i = large.find(TlbKey::large({first.tenant, VirtualPage{page}}));
    const bool stored = i != TlbArray::none && has_stored(large[i]);
    for (; page < next; ++page)
      if (stored) mark(page - begin, true);
  }
  // A page's own entry goes before that of the large page.
  hot_.tlb.base.for_each([&](const TlbArray::Entry& entry) {
    const std::uint64_t place = entry.key.number() - begin;
    if (entry.key.tenant() == first.tenant && place < count) mark(place, has_stored(entry));
  });
}

bool L1Tlb::note_store(TlbKey key) {
  TlbArray::Entry* entry = entry_of(key);
  if (entry == nullptr) return true;
  const bool first = entry->mark != may_store;
  entry->mark = may_store;
  return first;
}

void L1Tlb::serialize(Archive& archive) {
  hot_.last_key = {};
  archive(hot_.tlb, flushed_);
}

}  // namespace lockstep
