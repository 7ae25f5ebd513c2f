#include "models/sm/translation/l1_tlb.hpp"

namespace lockstep {

namespace {

/// Mark of a TLB entry: a store under it needs nothing more.
constexpr std::uint32_t may_store = 1;

std::uint32_t mark_of(PageTableEntry entry) {
  return L1Tlb::is_known_written(entry) ? may_store : 0;
}

constexpr std::uint64_t large_key_of(std::uint64_t base_key) {
  return Tlb::large_key(TlbArray::tenant_of(base_key), TlbArray::number_of(base_key));
}

}  // namespace

bool L1Tlb::is_known_written(PageTableEntry entry) {
  return entry.is(PageTableEntry::writable) &&
         entry.is(PageTableEntry::dirty | PageTableEntry::remote);
}

bool L1Tlb::find_in_arrays(std::uint64_t key, bool write) {
  TlbArray* array = &hot_.tlb.base;
  std::uint32_t index = array->find(key);
  PageTableEntry entry;
  if (index != TlbArray::none) {
    entry = (*array)[index].value;
  } else {
    array = &hot_.tlb.large;
    index = array->find(large_key_of(key));
    if (index == TlbArray::none) return false;
    entry = Tlb::entry_within((*array)[index].value, TlbArray::number_of(key));
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

TlbArray::Entry* L1Tlb::entry_of(std::uint64_t key) {
  if (const std::uint32_t i = hot_.tlb.base.find(key); i != TlbArray::none)
    return &hot_.tlb.base[i];
  if (const std::uint32_t i = hot_.tlb.large.find(large_key_of(key)); i != TlbArray::none)
    return &hot_.tlb.large[i];
  return nullptr;
}

void L1Tlb::fill(std::uint64_t key, PageTableEntry entry) {
  hot_.last_key = no_page;
  flushed_.forget(TlbArray::tenant_of(key), TlbArray::number_of(key));
  if (entry.is(PageTableEntry::large)) {
    hot_.tlb.large[hot_.tlb.large.insert(large_key_of(key), entry)].mark = mark_of(entry);
  } else {
    hot_.tlb.base[hot_.tlb.base.insert(key, entry)].mark = mark_of(entry);
  }
}

bool L1Tlb::drop(std::uint64_t key) {
  hot_.last_key = no_page;
  flushed_.forget(TlbArray::tenant_of(key), TlbArray::number_of(key));
  return hot_.tlb.drop(TlbArray::tenant_of(key), TlbArray::number_of(key));
}

std::uint32_t L1Tlb::flush(TenantId tenant) {
  hot_.last_key = no_page;
  flushed_.flushed(hot_.tlb, tenant.value());
  return hot_.tlb.drop_tenant(tenant.value());
}

bool L1Tlb::stored_under(std::uint64_t key) {
  const TlbArray::Entry* entry = entry_of(key);
  return entry != nullptr && entry->mark == may_store && !entry->value.is(PageTableEntry::remote);
}

bool L1Tlb::note_store(std::uint64_t key) {
  TlbArray::Entry* entry = entry_of(key);
  if (entry == nullptr) return true;
  const bool first = entry->mark != may_store;
  entry->mark = may_store;
  return first;
}

void L1Tlb::serialize(Archive& archive) {
  hot_.last_key = no_page;
  archive(hot_.tlb, flushed_);
}

}  // namespace lockstep
