#include "models/memory/memory_partition.hpp"

#include <algorithm>

#include "core/memory/warm.hpp"

namespace lockstep {

MemoryPartition::MemoryPartition(Setup setup)
    : clock_(setup.parameters.clock),
      zeroed_per_cycle_(setup.parameters.l2.total_banks() * setup.parameters.l2.bank_width),
      sources_(std::move(setup.sources)),
      bytes_(setup.parameters.capacity.count() / setup.parameters.partitions, setup.index,
             setup.mapping, setup.tenants, transactions_),
      banks_(setup.parameters, setup.index, setup.tenants, std::move(setup.cache_policy),
             std::move(setup.replacement), std::move(setup.dram_schedulers), transactions_,
             statistics_, agenda_),
      input_(setup.noc, setup.parameters.l2,
             L2Halves(setup.noc.halves, setup.topology, setup.index), sources_, setup.tenants,
             transactions_, banks_, statistics_, agenda_, setup.express),
      controller_(sources_, transactions_, banks_, agenda_),
      stretches_(std::move(setup.initial)),
      answers_(setup.parameters.l2, clock_, setup.noc, sources_, transactions_, bytes_, stretches_,
               statistics_, agenda_),
      epochs_(std::move(setup.epochs)) {
  set_tenants(statistics_, setup.tenants);
  if (setup.count_banks) banks_.dram().count_banks(setup.tenants);
  bytes_.hold_foreign(setup.foreign_pages);
  epochs_.add(EpochTopic::cache_policy, banks_.cache_policy());
  for (std::uint32_t i = 0; i < banks_.dram().count(); ++i)
    epochs_.add(EpochTopic::dram_scheduler, banks_.dram().scheduler(i));
}

Time MemoryPartition::next_activity() const {
  const Time own = std::min(clock_.edge(cycle_), banks_.next_command());
  return std::min({own, epochs_.next(own), stretches_.next()});
}

void MemoryPartition::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  accept(horizon, inbox);
  banks_.warm_returns(bytes_);
  banks_.warm_answers(bytes_);
  while (true) {
    const Time mark = marks_.empty() ? horizon : marks_.front().at;
    run_before(std::min({horizon, mark, epochs_.limit()}), outbox);
    const Time own = std::min(banks_.next_command(), clock_.edge(cycle_));
    const Time epoch = epochs_.next(own);
    if (mark < horizon && mark <= std::min(own, epoch)) [[unlikely]] {
      take_mark();
    } else if (std::min(own, epoch) >= horizon) {
      return;
    } else if (epoch <= own) {
      run_epochs(epoch, outbox);
    } else {
      epochs_.before(own);  // the limit is behind `own` now
    }
  }
}

void MemoryPartition::run_before(Time end, Outbox& outbox) {
  while (true) {
    const Time dram = banks_.next_command(), l2 = clock_.edge(cycle_);
    if (std::min(dram, l2) >= end) return;
    dram <= l2 ? step_dram(std::min(l2, end - Time{1})) : step(end, outbox);
  }
}

void MemoryPartition::step_dram(Time last) {
  const DramChannel::Step& step = banks_.step_dram(last);
  if (!step.left) return;
  if ((banks_.wanted_room() | input_.wanted_room() | controller_.wanted_room()) != 0) {
    const L2Cycle cycle = clock_.at_or_after(step.at);
    const unsigned room = banks_.room();
    banks_.room_made(room, cycle);
    input_.room_made(room, cycle);
    controller_.room_made(room, cycle);
  }
  cycle_ = agenda_.next();
}

void MemoryPartition::step(Time end, Outbox& outbox) {
  if (agenda_.controls <= cycle_) answers_.send_controls(cycle_, outbox);
  if (agenda_.arrivals <= cycle_) input_.receive(cycle_, end);
  if (agenda_.input <= cycle_) input_.arbitrate(cycle_);
  if (agenda_.controller <= cycle_) controller_.run(cycle_);
  if (agenda_.returns <= cycle_) banks_.take_returns(cycle_);
  const bool passes_first = agenda_.bypasses <= cycle_ && input_.passes_first(cycle_);
  if (passes_first) input_.pass(cycle_);
  if (agenda_.banks <= cycle_ && banks_.run(cycle_)) input_.place_made(cycle_);
  if (!passes_first && agenda_.bypasses <= cycle_) input_.pass(cycle_);
  if (agenda_.answers <= cycle_) answers_.collect(banks_, cycle_, outbox);
  cycle_ = agenda_.next();
}

void MemoryPartition::run_epochs(Time now, Outbox& outbox) {
  if (!epochs_.run(now, outbox)) return;
  const L2Cycle cycle = clock_.at_or_after(now);
  banks_.policies_changed(cycle);
  input_.room_made(read_room | write_room, cycle);
  controller_.room_made(read_room | write_room, cycle);
  cycle_ = agenda_.next();
}

void MemoryPartition::accept(Time horizon, Inbox inbox) {
  // Number of transactions whose data fit together in a core's nearest cache.
  constexpr std::size_t at_once = 32;
  for (Inbox some;;) {
    if (some.empty() && !inbox.empty()) {
      some = inbox.first(std::min(at_once, inbox.size()));
      inbox = inbox.subspan(some.size());
      warm_requests(some);
    }
    const bool is_line = some.empty() || stretches_.comes_before(*some.front());
    if (is_line && stretches_.next() >= horizon) break;
    accept(is_line ? take_line() : *some.front());
    if (!is_line) some = some.subspan(1);
  }
  cycle_ = agenda_.next();
}

void MemoryPartition::accept(const MessageHeader& message) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_request:
      accept_request(message);
      break;
    case MessageKind::copy_stretch:
      stretches_.take(message);
      break;
    case MessageKind::zero_range:
      accept_zero(message);
      break;
    case MessageKind::inspect_range: {
      const auto& range = message.body<InspectedRange>();
      answers_.add_inspected(range, bytes_.inspect(range), clock_.at_or_after(message.arrival));
      break;
    }
    case MessageKind::copy_page:
      accept_copy(message);
      break;
    case MessageKind::epoch_values:
      epochs_.take(message);
      break;
    case MessageKind::grid_begins:
    case MessageKind::grid_ends:
      marks_.push_back({message.arrival, message.kind == kind_of(MessageKind::grid_begins),
                        message.body<GridMark>()});
      break;
    default:
      LOCKSTEP_CHECK(false, "a partition got a message it does not understand");
  }
}

/// Fetches the words that the requests will touch.
void MemoryPartition::warm_requests(Inbox inbox) const {
  const auto for_each_request = [&](auto&& function) {
    for (const MessageHeader* message : inbox) {
      if (message->kind != kind_of(MessageKind::memory_request)) continue;
      const auto& request = message->body<MemoryRequest>();
      const std::uint32_t line = bytes_.line_of(PhysicalAddress{request.line});
      function(request, banks_[banks_.bank_of(line)], line);
    }
  };
  const auto warm_line = [&](const L2Bank& bank, std::uint32_t line) {
    bank.warm_set(line);
    bytes_.warm_line(line);
  };
  for (const MessageHeader* message : inbox) warm(message);
  std::size_t count = 0;
  for_each_request([&](const MemoryRequest& request, const L2Bank& bank, std::uint32_t line) {
    const std::uint32_t slot = transactions_.free(count++);
    transactions_.warm(slot);
    input_.warm_arrival(request, slot);
    if (request.source == SourceKind::cpu) {
      bytes_.warm_line(line);
    } else if (request.operation == MemoryOperation::load) {
      bank.warm_tags(line);
    } else {
      warm_line(bank, line);
    }
  });
  // The bytes of loads are needed when these are answered: soon if L2 has the line.
  for_each_request([&](const MemoryRequest& request, const L2Bank& bank, std::uint32_t line) {
    if (request.operation != MemoryOperation::load || request.source == SourceKind::cpu) return;
    if (bank.has(line)) {
      warm_line(bank, line);
    } else {
      bank.warm_miss(line);
    }
  });
}

const MessageHeader& MemoryPartition::take_line() {
  const MessageHeader& message = stretches_.take_line();
  if (stretches_.next() == Time::never()) return message;
  const std::uint64_t next = stretches_.next_address();
  const std::uint32_t line = bytes_.line_of(PhysicalAddress{next - next % line_bytes});
  banks_[banks_.bank_of(line)].warm_set(line);
  bytes_.warm_line(line);
  return message;
}

void MemoryPartition::accept_request(const MessageHeader& message) {
  const auto& request = message.body<MemoryRequest>();
  LOCKSTEP_CHECK(request.sectors != 0 && request.sectors < 16 && request.line % line_bytes == 0,
                 "a request is for no sectors of one line");
  const std::uint32_t index = transactions_.allocate();
  Transaction& t = transactions_[index];
  t.request = request;
  t.next = Transaction::none;
  t.next_read = Transaction::has_read;
  t.missing = 0;
  t.hits = 0;
  t.arriving = 0;
  t.written = false;
  t.copied = false;
  t.stretch = stretches_.made(message) && request.operation == MemoryOperation::store;
  t.line = bytes_.line_of(PhysicalAddress{request.line});
  t.bank = static_cast<std::uint8_t>(banks_.bank_of(t.line));
  t.arrival = clock_.at_or_after(message.arrival);
  bytes_.accept(index, message.payload_data());
  if (request.operation == MemoryOperation::inspect) return answers_.add_inspected(index);
  PartitionStatistics::OfTenant& counts = statistics_.tenant[request.tenant];
  ++counts.requests;
  counts.bytes_in += message.payload_bytes;
  if (request.source == SourceKind::cpu) {
    controller_.add(index);
  } else {
    input_.add(index);
  }
}

/// Simplified: zeroing runs at the speed of the banks and does not take DRAM time.
void MemoryPartition::accept_zero(const MessageHeader& message) {
  const auto& range = message.body<ZeroRange>();
  const std::uint64_t bytes = bytes_.zero(range);
  answers_.add_zeroed(range, clock_.at_or_after(message.arrival) +
                                 static_cast<std::int64_t>(bytes / zeroed_per_cycle_));
}

/// Simplified: page copies go one after the other and take no time from other requests' banks and
/// channel; the L2's lines of the old frame age out.
void MemoryPartition::accept_copy(const MessageHeader& message) {
  const auto& copy = message.body<PageCopy>();
  bytes_.copy_page(PhysicalAddress{copy.from}, PhysicalAddress{copy.to});
  copied_until_ = std::max(copied_until_, message.arrival) + Time{copy.duration_fs};
  answers_.add_copied(copy, clock_.at_or_after(copied_until_));
}

void MemoryPartition::take_mark() {
  const auto [at, begins, mark] = marks_.front();
  marks_.pop_front();
  if (begins) {
    grids_.begin(mark, counts_of(mark.tenant));
  } else {
    grids_.end(mark, counts_of(mark.tenant));
  }
}

GridCounts MemoryPartition::counts_of(std::uint16_t tenant) const {
  const PartitionStatistics::OfTenant& counted = statistics_.tenant[tenant];
  GridCounts counts;
  counts.l2_hits = counted.sector_hits.value();
  counts.l2_misses = counted.sector_misses.value();
  counts.dram_reads = counted.dram_reads.value();
  counts.dram_writes = counted.dram_writes.value();
  return counts;
}

void MemoryPartition::take_grid_counts(Time, std::vector<GridContribution>& taken) {
  grids_.take([this](std::uint16_t tenant) { return counts_of(tenant); }, taken);
}

void MemoryPartition::take_progress(Time, std::span<std::uint8_t> tenants) {
  bytes_.take_changed(tenants);
}

StatisticsView MemoryPartition::statistics(Time) {
  return statistics_view(statistics_);
}

std::vector<StatisticsView> MemoryPartition::parts(Time) {
  std::vector<StatisticsView> parts;
  const auto add = [&](const StatisticsView& view) {
    if (view.schema != nullptr) parts.push_back(view);
  };
  add(banks_.cache_policy().statistics());
  add(banks_.replacement().statistics());
  for (std::uint32_t i = 0; i < banks_.dram().count(); ++i)
    add(banks_.dram().scheduler(i).statistics());
  return parts;
}

std::string MemoryPartition::waiting_for() const {
  if (finished()) return "";
  return std::to_string(transactions_.used()) + " requests in flight, " + banks_.waiting() +
         sources_.unanswered();
}

void MemoryPartition::serialize(Archive& archive) {
  archive.section("partition", 7);
  archive(sources_, statistics_, agenda_, cycle_, copied_until_, epochs_, grids_);
  archive.section("partition/stretches", 2);
  archive(stretches_);
  archive.section("partition/requests", 5);
  transactions_.serialize(archive);
  archive.section("partition/bytes", 2);
  bytes_.serialize(archive);
  archive.section("partition/input", 3);
  archive(input_);
  archive.section("partition/controller_input", 1);
  archive(controller_);
  archive.section("partition/answers", 4);
  archive(answers_);
  banks_.serialize(archive);
}

const StatisticsSchema& memory_partition_statistics() {
  return statistics_schema_of<PartitionStatistics>();
}

}  // namespace lockstep
