#include "models/sm/translation/translation_unit.hpp"

namespace lockstep {

namespace {

/// Mark of a TLB entry: a store under it needs nothing more.
constexpr std::uint32_t may_store = 1;

std::uint32_t mark_of(PageTableEntry entry) {
  return TranslationUnit::is_known_written(entry) ? may_store : 0;
}

constexpr std::uint64_t large_key_of(std::uint64_t base_key) {
  return Tlb::large_key(TlbArray::tenant_of(base_key), TlbArray::number_of(base_key));
}

}  // namespace

bool TranslationUnit::is_known_written(PageTableEntry entry) {
  return entry.is(PageTableEntry::writable) &&
         entry.is(PageTableEntry::dirty | PageTableEntry::remote);
}

bool TranslationUnit::find_in_arrays(std::uint64_t key, bool write) {
  TlbArray* array = &tlb.base;
  std::uint32_t index = array->find(key);
  PageTableEntry entry;
  if (index != TlbArray::none) {
    entry = (*array)[index].value;
  } else {
    array = &tlb.large;
    index = array->find(large_key_of(key));
    if (index == TlbArray::none) return false;
    entry = Tlb::entry_within((*array)[index].value, TlbArray::number_of(key));
  }
  const bool stored = (*array)[index].mark == may_store;
  if (write && !stored) return false;
  array->touch(index);
  last_key_ = key;
  last_frame_ = entry.address();
  last_stored_ = stored;
  last_remote_ = entry.is(PageTableEntry::remote);
  return true;
}

TlbArray::Entry* TranslationUnit::entry_of(std::uint64_t key) {
  if (const std::uint32_t i = tlb.base.find(key); i != TlbArray::none) return &tlb.base[i];
  if (const std::uint32_t i = tlb.large.find(large_key_of(key)); i != TlbArray::none)
    return &tlb.large[i];
  return nullptr;
}

void TranslationUnit::fill(std::uint64_t key, PageTableEntry entry) {
  last_key_ = no_page;
  flushed_.forget(TlbArray::tenant_of(key), TlbArray::number_of(key));
  if (entry.is(PageTableEntry::large)) {
    tlb.large[tlb.large.insert(large_key_of(key), entry)].mark = mark_of(entry);
  } else {
    tlb.base[tlb.base.insert(key, entry)].mark = mark_of(entry);
  }
}

bool TranslationUnit::drop(std::uint64_t key) {
  last_key_ = no_page;
  flushed_.forget(TlbArray::tenant_of(key), TlbArray::number_of(key));
  return tlb.drop(TlbArray::tenant_of(key), TlbArray::number_of(key));
}

std::uint32_t TranslationUnit::flush(std::uint16_t tenant) {
  last_key_ = no_page;
  flushed_.flushed(tlb, tenant);
  return tlb.drop_tenant(tenant);
}

bool TranslationUnit::stored_under(std::uint64_t key) {
  const TlbArray::Entry* entry = entry_of(key);
  return entry != nullptr && entry->mark == may_store && !entry->value.is(PageTableEntry::remote);
}

bool TranslationUnit::note_store(std::uint64_t key) {
  TlbArray::Entry* entry = entry_of(key);
  if (entry == nullptr) return true;
  const bool first = entry->mark != may_store;
  entry->mark = may_store;
  return first;
}

std::uint16_t TranslationUnit::find_miss(std::uint64_t key) {
  std::uint16_t index = head_of(key);
  while (index != none && misses_[index].key != key) index = misses_[index].chain;
  return index;
}

std::uint16_t TranslationUnit::take_miss(std::uint64_t key) {
  const std::uint16_t index = misses_.take();
  std::uint16_t& head = head_of(key);
  misses_[index] = PageMiss{};
  misses_[index].key = key;
  misses_[index].chain = head;
  head = index;
  return index;
}

void TranslationUnit::give_back_miss(std::uint16_t index) {
  set_faulted(index, false);
  set_state(index, PageMiss::State::unused);
  std::uint16_t* place = &head_of(misses_[index].key);
  while (*place != index) place = &misses_[*place].chain;
  *place = misses_[index].chain;
  misses_.give_back(index);
}

void TranslationUnit::set_state(std::uint16_t index, PageMiss::State state) {
  PageMiss& miss = misses_[index];
  asked_ -= miss.state == PageMiss::State::asked;
  asked_ += state == PageMiss::State::asked;
  if (miss.state == PageMiss::State::draining) std::erase(draining, index);
  if (state == PageMiss::State::draining) draining.push_back(index);
  miss.state = state;
}

void TranslationUnit::set_faulted(std::uint16_t index, bool faulted) {
  PageMiss& miss = misses_[index];
  faulted_ -= miss.faulted;
  faulted_ += faulted;
  miss.faulted = faulted;
}

void TranslationUnit::park(std::uint16_t index, Access& access, unsigned group) {
  if (access.parked == none) {
    access.parked = accesses_.take();
    Access& copy = accesses_[access.parked];
    copy.take_global(access);
    copy.parked = access.parked;
    copy.holders = 2;
  } else {
    ++accesses_[access.parked].holders;
  }
  const std::uint16_t place = groups_.take();
  groups_[place] = {none, access.parked, static_cast<std::uint16_t>(group)};
  PageMiss& miss = misses_[index];
  (miss.last == none ? miss.first : groups_[miss.last].next) = place;
  miss.last = place;
}

void TranslationUnit::pop(std::uint16_t index) {
  PageMiss& miss = misses_[index];
  const std::uint16_t place = miss.first;
  const std::uint16_t access = groups_[place].access;
  miss.first = groups_[place].next;
  if (miss.first == none) miss.last = none;
  groups_.give_back(place);
  release(access);
}

void TranslationUnit::serialize(Archive& archive) {
  tlb.serialize(archive);
  known.serialize(archive);
  flushed_.serialize(archive);
  last_key_ = no_page;
  archive(draining, asked_, faulted_, heads_);
  shootdowns.serialize(archive);
  misses_.serialize(archive);
  groups_.serialize(archive);
  accesses_.serialize(archive);
}

}  // namespace lockstep
