#include "models/memory/l2/l2_bank.hpp"

#include <algorithm>
#include <bit>

#include "core/error/error.hpp"

namespace lockstep {

namespace {

PartitionOffset offset_of(std::uint32_t line) {
  return PartitionOffset{std::uint64_t{line} * line_bytes};
}

/// Sends the dirty sectors of the line at `place` to DRAM, because of `request`; false: no room.
bool write_back(const L2Context& context, const L2Tags& tags, std::uint32_t place,
                const MemoryRequest& request, L2Cycle cycle) {
  const L2Tags::Line& line = tags[place];
  MemoryRequest writeback = request;
  writeback.tenant = line.tenant;
  writeback.flags = 0;
  writeback.walk_level = 0;
  writeback.marks = 0;
  const PartitionOffset offset = offset_of(tags.tag(place));
  if (!context.dram.room(offset, writeback, true)) return false;
  context.dram.enqueue(context.clock.edge(cycle), offset, line.dirty, true, writeback,
                       Transaction::none);
  context.statistics.tenant[line.tenant].writebacks +=
      static_cast<unsigned>(std::popcount(line.dirty));
  return true;
}

/// Cleans the oldest dirty line of a set before a store makes more lines dirty than allowed: the
/// store's line is at `place`, or will come (absent).  Returns false without room for the write.
bool keep_dirty_limit(const L2Context& context, L2Tags& tags, const Transaction& store,
                      std::uint32_t place, L2Cycle cycle) {
  const std::uint32_t limit = context.parameters.dirty_ways;
  if (limit == 0 || (place != L2Tags::absent && tags[place].dirty != 0)) return true;
  const std::uint32_t begin = tags.set_begin(store.line);
  if (tags.dirty_lines(begin) < limit) return true;
  const std::uint32_t oldest = tags.oldest_dirty(begin);
  if (!write_back(context, tags, oldest, store.request, cycle)) return false;
  tags.clean(oldest);
  return true;
}

}  // namespace

L2Bank::L2Bank(const L2Parameters& p, std::uint32_t number, std::size_t tenants)
    : number_(number),
      queue_limit_(p.bank_queue),
      fill_limit_(p.fill_queue),
      answer_limit_(static_cast<std::uint32_t>(p.latency.count()) + 1),
      width_shift_(static_cast<std::uint32_t>(std::bit_width(p.bank_width)) - 1),
      first_set_(number * p.sets_per_bank()),
      tags_(p.sets_per_bank(), p.ways, p.total_banks()),
      mshrs_(p.mshrs / p.banks),
      waits_(tenants) {
  LOCKSTEP_CHECK(tenants <= L2Tags::most_tenants,
                 "the tags of L2 cannot tell so many tenants apart");
}

L2Bank::Progress L2Bank::run(const L2Context& context, L2Cycle cycle) {
  const std::size_t requests = requests_.size(), fills = fills_.size();
  const L2Cycle filling = fill(context, cycle);
  const L2Cycle serving = serve(context, cycle);
  wanted_room_ = 0;
  if (filling == blocked) wanted_room_ |= write_room;
  if (serving == blocked && stall_ == BankStall::dram_queue)
    wanted_room_ |= stall_write_ ? write_room : read_room;
  // Every event that can free a blocked bank wakes it; a fill looks at the head again.
  due_ = std::min(filling == blocked ? idle : filling, serving == blocked ? idle : serving);
  return {requests_.size() != requests, fills_.size() != fills};
}

L2Cycle L2Bank::serve(const L2Context& context, L2Cycle cycle) {
  if (requests_.empty()) return idle;
  const Pending head = requests_.front();
  const L2Cycle start = std::max(head.ready, busy_until_);
  if (start > cycle) return start;
  if (is_blocked() && still_stalled(context)) return blocked;
  const Transaction& t = context.transactions[head.transaction];
  bool served;
  if (answers_[0].size() >= answer_limit_) {
    served = stalled(BankStall::responses);
  } else if (t.request.operation == MemoryOperation::store) {
    served = serve_store(context, head.transaction, cycle);
  } else {
    served = serve_read(context, head.transaction, cycle);
  }
  if (!served) {
    if (!is_blocked()) blocked_since_ = cycle;
    return blocked;
  }
  finish_service(context, cycle);
  return requests_.empty() ? idle : std::max(requests_.front().ready, busy_until_);
}

/// Counts a service that starts now, and the queue behind it.
void L2Bank::finish_service(const L2Context& context, L2Cycle cycle) {
  PartitionStatistics& statistics = context.statistics;
  const Transaction& t = context.transactions[requests_.front().transaction];
  const std::uint16_t tenant = t.request.tenant;
  // A request that waits here waited for the last one served if the bank was busy until now;
  // otherwise for this one, which was blocked.
  waits_.charge(statistics.l2_wait_behind, is_blocked() ? tenant : last_tenant_, cycle.value());
  waits_.leave(tenant, cycle.value());
  last_tenant_ = tenant;
  if (is_blocked()) {
    statistics.stall(stall_, cycle - blocked_since_);
    blocked_since_ = not_blocked;
  }
  const auto waited = static_cast<std::uint64_t>(cycle - t.arrival);
  statistics.queue_latency.add(waited);
  statistics.tenant[tenant].queue_cycles += waited;
  std::int64_t taken = beats(t.request.sector_count());
  if (t.request.operation == MemoryOperation::atomic) {
    const std::int64_t rate = context.parameters.atomic_rate;
    taken = std::max(taken, (t.request.lanes + rate - 1) / rate);
  }
  busy_until_ = cycle + taken;
  if (t.missing == 0) {
    answers_[0].push(
        {requests_.front().transaction, cycle + context.parameters.latency.count() + taken - 1});
  }
  requests_.pop();
  of_store_.made = false;
  // Prefetch the request after the next one, and the set of the next one.
  if (requests_.size() > 1) context.transactions.prefetch(requests_[1].transaction);
  if (!requests_.empty()) tags_.prefetch(context.transactions[requests_.front().transaction].line);
}

bool L2Bank::serve_read(const L2Context& context, std::uint32_t index, L2Cycle cycle) {
  Transaction& t = context.transactions[index];
  const std::uint16_t tenant = t.request.tenant;
  const bool modifies = t.request.operation == MemoryOperation::atomic;
  const bool through = modifies && context.parameters.write == L2Write::through;
  const std::uint32_t place = tags_.find(t.line);
  if ((t.request.flags & flag_discard) != 0) [[unlikely]] {
    if (place != L2Tags::absent) tags_.clean(place);
    t.missing = 0;
    return true;
  }
  const bool uses_line = place != L2Tags::absent && !t.copied;
  const std::uint8_t valid = t.copied    ? std::uint8_t{L2Tags::all_sectors}
                             : uses_line ? tags_[place].valid
                                         : std::uint8_t{0};
  const auto missing = static_cast<std::uint8_t>(t.request.sectors & ~valid);
  // The write first, and once: the read may have to wait for a place that the write takes.
  if (through && !t.written) {
    if (!context.dram.room(offset_of(t.line), t.request, true))
      return stalled(BankStall::dram_queue, true);
    context.dram.enqueue(context.clock.edge(cycle), offset_of(t.line), t.request.sectors, true,
                         t.request, Transaction::none);
    t.written = true;
  }
  if (missing != 0 && !serve_miss(context, index, missing, valid, cycle)) return false;

  t.missing = missing;
  t.hits = t.request.sectors & valid & 0xf;
  if (uses_line) {
    use(context, t.request, place);
    if (modifies && !through) {
      tags_.make_dirty(place, t.hits);
      tags_.set_tenant(place, tenant);
    }
  }
  if (modifies) context.statistics.tenant[tenant].atomic_lanes += t.request.lanes;
  context.statistics.tenant[tenant].sector_hits += static_cast<unsigned>(std::popcount(t.hits));
  context.statistics.tenant[tenant].sector_misses += static_cast<unsigned>(std::popcount(missing));
  if (context.policy.has(CachePolicy::observes))
    context.policy.on_lookup(t.request, {t.hits, t.arriving}, context.clock.edge(cycle));
  return true;
}

/// Attaches a transaction to the MSHR of its line, and requests from DRAM the sectors that are not
/// on their way yet.
bool L2Bank::serve_miss(const L2Context& context, std::uint32_t index, std::uint8_t missing,
                        std::uint8_t valid, L2Cycle cycle) {
  Transaction& t = context.transactions[index];
  std::uint32_t entry = mshrs_.find(t.line);
  if (entry == L2Mshrs::none) {
    if (mshrs_.full()) return stalled(BankStall::mshrs);
    if (!context.dram.room(offset_of(t.line), t.request, false))
      return stalled(BankStall::dram_queue);
    entry = mshrs_.allocate(t.line);
  }
  L2Mshrs::Entry& mshr = mshrs_[entry];
  // The rest of a line comes only with a sector that a request waits for: the MSHR is freed with
  // the last waiting request.
  const bool reads = (missing & ~mshr.pending) != 0;
  const unsigned fetched =
      context.parameters.fetch == L2Fetch::line ? L2Tags::all_sectors & ~valid : missing;
  const auto wanted = static_cast<std::uint8_t>(reads ? fetched & ~mshr.pending : 0);
  const std::uint8_t arriving = missing & mshr.pending;
  if (mshr.waiting >= context.parameters.merges) return stalled(BankStall::merges);
  if (wanted != 0) {
    if (!context.dram.room(offset_of(t.line), t.request, false))
      return stalled(BankStall::dram_queue);
    context.dram.enqueue(context.clock.edge(cycle), offset_of(t.line), wanted, false, t.request,
                         number_ << 16 | entry);
    mshr.pending |= wanted;
  }
  t.arriving = arriving & 0xf;
  context.statistics.tenant[t.request.tenant].merged_sectors +=
      static_cast<unsigned>(std::popcount(arriving));
  t.next = Transaction::none;
  (mshr.first == L2Mshrs::none ? mshr.first : context.transactions[mshr.last].next) = index;
  mshr.last = index;
  ++mshr.waiting;
  return true;
}

bool L2Bank::serve_store(const L2Context& context, std::uint32_t index, L2Cycle cycle) {
  Transaction& t = context.transactions[index];
  const bool through = context.parameters.write == L2Write::through;
  std::uint32_t place = tags_.find(t.line);
  bool to_dram = through;
  const bool is_new = place == L2Tags::absent;
  if (!through && !keep_dirty_limit(context, tags_, t, place, cycle))
    return stalled(BankStall::dram_queue, true);
  if (place == L2Tags::absent && !through) {
    const CacheInsertion decision = of_store_.ask(context, t.request, t.line, cycle);
    to_dram = !decision.allocate;
    if (!to_dram && !allocate(context, t.line, t.request, decision, cycle, place))
      return stalled(BankStall::dram_queue, true);
  }
  if (to_dram) {
    if (!context.dram.room(offset_of(t.line), t.request, true))
      return stalled(BankStall::dram_queue, true);
    context.dram.enqueue(context.clock.edge(cycle), offset_of(t.line), t.request.sectors, true,
                         t.request, Transaction::none);
  }
  if (place != L2Tags::absent) {
    const auto present =
        static_cast<std::uint8_t>(tags_[place].valid | (through ? 0 : tags_[place].partial));
    t.hits = t.request.sectors & present & 0xf;
    write_sectors(context.transactions, index, place, through ? t.hits : t.request.sectors,
                  !through);
    if (!through) tags_.set_tenant(place, t.request.tenant);
    if (is_new)
      tags_.touch(place);
    else
      use(context, t.request, place);
  }
  context.statistics.tenant[t.request.tenant].store_sectors += t.request.sector_count();
  if (context.policy.has(CachePolicy::observes))
    context.policy.on_lookup(t.request, {t.hits, t.arriving}, context.clock.edge(cycle));
  return true;
}

void L2Bank::write_sectors(const TransactionPool& transactions, std::uint32_t index,
                           std::uint32_t place, std::uint8_t sectors, bool dirty) {
  if (transactions[index].whole) return tags_.write_whole(place, sectors, dirty);
  for (unsigned rest = sectors; rest != 0; rest &= rest - 1) {
    const auto sector = static_cast<unsigned>(std::countr_zero(rest));
    tags_.write(place, sector, transactions.mask(index, sector), dirty);
  }
}

bool L2Bank::allocate(const L2Context& context, std::uint32_t line, const MemoryRequest& request,
                      const CacheInsertion& decision, L2Cycle cycle, std::uint32_t& place) {
  const std::uint32_t victim = choose_victim(context, line);
  const L2Tags::Line& old = tags_[victim];
  if (tags_.tag(victim) != L2Tags::absent) {
    if (old.dirty != 0 && !write_back(context, tags_, victim, request, cycle)) return false;
    ++context.statistics.evicted_by.at(old.tenant, request.tenant);
    if (context.policy.has(CachePolicy::mourns) && (tags_.tag(victim) & copy_bit) == 0)
      context.policy.on_eviction(tags_.tag(victim), old.line_class);
  }
  tags_.install(victim, line, decision.position);
  LOCKSTEP_CHECK(decision.line_class < 16, "a cache policy has too many classes of lines");
  tags_[victim].line_class = decision.line_class;
  tags_.set_tenant(victim, request.tenant);
  if (context.replacement.has(Replacement::installs))
    context.replacement.on_install(place_of(victim), request, decision.position);
  place = victim;
  return true;
}

bool L2Bank::use_copy(const L2Context& context, const MemoryRequest& request, std::uint32_t line) {
  const std::uint32_t place = tags_.find(line | copy_bit);
  if (place == L2Tags::absent) return false;
  if (request.operation != MemoryOperation::load || (request.flags & flag_discard) != 0) {
    tags_[place].valid = 0;
    return false;
  }
  use(context, request, place);
  return (request.sectors & ~tags_[place].valid) == 0;
}

void L2Bank::keep_copy(const L2Context& context, const Transaction& load, L2Cycle cycle) {
  const std::uint32_t line = load.line | copy_bit;
  std::uint32_t place = tags_.find(line);
  if (place == L2Tags::absent && !allocate(context, line, load.request, {}, cycle, place)) return;
  tags_[place].valid |= load.request.sectors;
  tags_.touch(place);
}

L2Cycle L2Bank::fill(const L2Context& context, L2Cycle cycle) {
  if (fills_.empty()) return idle;
  if (fill_busy_until_ > cycle) return fill_busy_until_;
  const Fill head = fills_.front();
  L2Mshrs::Entry& mshr = mshrs_[head.mshr];
  std::uint32_t place = tags_.find(mshr.line);
  if (place == L2Tags::absent) {
    const MemoryRequest& request = context.transactions[mshr.first].request;
    const CacheInsertion decision = of_fill_.ask(context, request, mshr.line, cycle);
    if (decision.allocate && !allocate(context, mshr.line, request, decision, cycle, place))
      return blocked;
  }
  if (place != L2Tags::absent) {
    L2Tags::Line& line = tags_[place];
    line.valid |= head.sectors;
    line.partial &= static_cast<std::uint8_t>(~head.sectors);
  }
  fills_.pop();
  of_fill_.made = false;
  if (may_help_head(context, mshr.line)) ++fills_done_;
  fill_busy_until_ = cycle + beats(static_cast<std::uint32_t>(std::popcount(head.sectors)));
  answer_waiting(context, head.mshr, head.sectors, place, cycle);
  return fills_.empty() ? idle : fill_busy_until_;
}

/// Answers the transactions whose last sectors these were, one per cycle.
void L2Bank::answer_waiting(const L2Context& context, std::uint32_t entry, std::uint8_t sectors,
                            std::uint32_t place, L2Cycle cycle) {
  L2Mshrs::Entry& mshr = mshrs_[entry];
  mshr.pending &= static_cast<std::uint8_t>(~sectors);
  std::uint32_t previous = L2Mshrs::none;
  std::uint32_t index = mshr.first;
  while (index != Transaction::none) {
    Transaction& t = context.transactions[index];
    const std::uint32_t following = t.next;
    t.missing &= static_cast<std::uint8_t>(~sectors);
    if (t.missing != 0) {
      previous = index;
    } else {
      (previous == L2Mshrs::none ? mshr.first : context.transactions[previous].next) = following;
      if (mshr.last == index) mshr.last = previous;
      --mshr.waiting;
      answers_[1].push({index, cycle += 1});
    }
    if (t.request.operation == MemoryOperation::atomic && place != L2Tags::absent &&
        context.parameters.write == L2Write::back) {
      tags_.make_dirty(place, static_cast<std::uint8_t>(t.request.sectors & sectors));
      tags_.set_tenant(place, t.request.tenant);
    }
    index = following;
  }
  if (mshr.first == L2Mshrs::none) mshrs_.release(entry);
}

void L2Bank::probe_store(const L2Context& context, std::uint32_t index) {
  const Transaction& t = context.transactions[index];
  const std::uint32_t place = tags_.find(t.line);
  if (place == L2Tags::absent) return;
  // The store goes to DRAM as well, so that resident sectors keep their state and incomplete ones
  // gain the bytes.
  write_sectors(context.transactions, index, place, t.request.sectors & tags_[place].partial,
                context.parameters.write == L2Write::back);
}

CachePlace L2Bank::place_of(std::uint32_t place) const {
  return {first_set_ + tags_.set_number(place), L2Tags::way_of(place),
          tags_.tag(place) & ~copy_bit};
}

void L2Bank::use(const L2Context& context, const MemoryRequest& request, std::uint32_t place) {
  tags_.touch(place);
  if (context.replacement.has(Replacement::uses))
    context.replacement.on_use(place_of(place), request);
}

/// Returns a free place of the line's set, or the place of the line that the policies let go.
inline std::uint32_t L2Bank::choose_victim(const L2Context& context, std::uint32_t line) const {
  const std::uint32_t oldest = tags_.victim(line);
  const bool policies_choose =
      context.policy.has(CachePolicy::restricts) || context.replacement.has(Replacement::chooses);
  return policies_choose && tags_.tag(oldest) != L2Tags::absent ? let_policies_choose(context, line)
                                                                : oldest;
}

std::uint32_t L2Bank::let_policies_choose(const L2Context& context, std::uint32_t line) const {
  std::array<CacheWay, L2Tags::most_ways> ways;
  const std::uint32_t begin = tags_.set_begin(line), count = tags_.ways();
  for (std::uint32_t way = 0; way < count; ++way) {
    const L2Tags::Line& l = tags_[begin + way];
    ways[way] = {l.line_class, l.tenant, tags_.tag(begin + way) & ~copy_bit,
                 tags_.last_use(begin + way)};
  }
  const std::span<const CacheWay> full(ways.data(), count);
  std::uint64_t candidates = ~std::uint64_t{0} >> (L2Tags::most_ways - count);
  if (context.policy.has(CachePolicy::restricts)) candidates &= context.policy.candidates(full);
  const std::uint32_t way = context.replacement.victim(first_set_ + tags_.set_number(begin),
                                                       line & ~copy_bit, full, candidates);
  LOCKSTEP_CHECK((candidates >> way & 1) != 0, "a replacement policy chose a line that must stay");
  return begin + way;
}

void L2Bank::serialize(Archive& archive) {
  archive(tags_, mshrs_, requests_, fills_, answers_, waits_, due_, wanted_room_, busy_until_,
          fill_busy_until_, blocked_since_, stall_, stall_write_, fills_done_, stall_fills_,
          last_tenant_, of_store_, of_fill_);
}

}  // namespace lockstep
