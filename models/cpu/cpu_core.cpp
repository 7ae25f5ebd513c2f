#include "models/cpu/cpu_core.hpp"

#include <algorithm>
#include <bit>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "core/memory/slots.hpp"
#include "models/noc/core_messages.hpp"

namespace lockstep {

namespace {

constexpr unsigned line_sectors = cpu_line_bytes / sector_bytes;

}  // namespace

CpuCore::CpuCore(Setup setup)
    : clock_(setup.parameters.clock),
      width_(setup.parameters.width),
      credits_(setup.parameters.credits),
      index_(setup.index),
      tenant_(setup.tenant),
      memory_(setup.memory),
      measured_after_(static_cast<std::int64_t>(setup.measured)),
      to_host_(setup.to_host),
      to_partitions_(setup.to_partitions),
      stream_(std::move(setup.stream)),
      window_(setup.parameters.window),
      occupancy_(memory_.banks()),
      contents_(memory_.bytes(), setup.check),
      used_(memory_.partitions()) {
  window_.start(slot_at_or_after(setup.arrival));
  fetch();
  plan();
}

void CpuCore::fetch() {
  next_ = stream_->next();
  if (next_) next_place_ = memory_.place_of(next_->offset);
}

void CpuCore::plan() {
  entry_ = measure_ = InstructionWindow::unknown;
  if (next_ && !stopped_) {
    const std::int64_t slot = window_.entry(next_->instruction);
    if (used(next_place_.partition) < credits_) entry_ = slot;
  }
  if (measured_after_ != 0 && !measured_ && !stopped_)
    measure_ = window_.retirement(measured_after_, next_instruction());
  const std::int64_t slot = std::min(entry_, measure_);
  wake_ = slot == InstructionWindow::unknown ? Time::never() : time_of(slot);
}

void CpuCore::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  for (;;) {
    const Time arrival = inbox.empty() ? Time::never() : inbox.front()->arrival;
    if (std::min(arrival, wake_) >= horizon) return;
    if (arrival <= wake_) {
      take(*inbox.front(), outbox);
      inbox = inbox.subspan(1);
    } else if (measure_ <= entry_) {
      report(outbox);
    } else {
      send(outbox);
    }
    plan();
  }
}

void CpuCore::take(const MessageHeader& message, Outbox& outbox) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response:
      take_answer(message, outbox);
      break;
    case MessageKind::stop_core:
      count_instructions(message.arrival);
      stopped_ = true;
      break;
    default:
      LOCKSTEP_CHECK(false, "a CPU core got a message it does not understand");
  }
}

void CpuCore::take_answer(const MessageHeader& message, Outbox& outbox) {
  const auto& answer = message.body<MemoryResponse>();
  const std::int64_t slot = slot_at_or_after(message.arrival);
  if (answer.operation == MemoryOperation::store)
    return give_back(PartitionId{static_cast<std::uint16_t>(answer.tag)}, slot);
  const Read& read = reads_[answer.tag];
  give_back(read.place.partition, slot);
  occupancy_.answered(read.place.bank, slot / width_, bank_counters());
  statistics_.read_cycles += static_cast<std::uint64_t>(slot / width_ - read.sent);
  window_.answer(read.miss, slot);
  if (contents_.remembers()) compare(read, message, outbox);
  free_.push_back(answer.tag);
}

/// Returns a credit: an access that waited for it enters now.
void CpuCore::give_back(PartitionId partition, std::int64_t slot) {
  if (next_ && used(partition) == credits_ && next_place_.partition == partition)
    window_.hold(next_->instruction, slot);
  --used(partition);
  --unanswered_;
}

void CpuCore::compare(const Read& read, const MessageHeader& message, Outbox& outbox) {
  ++compared_;
  if (mistaken_ || LineContents::holds(message.payload(), read.offset, read.version)) return;
  mistaken_ = true;
  outbox.send(to_host_, message.arrival, kind_of(MessageKind::core_mistaken),
              CoreMistaken{read.offset, tenant_.value(), {}});
}

MemoryRequest CpuCore::request_for(const CpuAccess& access) const {
  const std::uint64_t address = memory_.address(access.offset).value();
  MemoryRequest request;
  request.line = address / line_bytes * line_bytes;
  request.virtual_page = access.offset >> 12;
  request.requester = static_cast<std::uint16_t>(index_);
  request.tenant = tenant_.value();
  request.operation = access.write ? MemoryOperation::store : MemoryOperation::load;
  constexpr unsigned sectors = (1u << line_sectors) - 1;
  request.sectors = static_cast<std::uint8_t>(sectors << address % line_bytes / sector_bytes);
  request.source = SourceKind::cpu;
  return request;
}

void CpuCore::send(Outbox& outbox) {
  const CpuAccess access = *next_;
  const CoreMemory::Place place = next_place_;
  const std::int64_t cycle = entry_ / width_;
  MemoryRequest request = request_for(access);
  Link& link = to_partitions_[place.partition.value()];
  const std::uint16_t kind = kind_of(MessageKind::memory_request);
  if (access.write) {
    request.tag = place.partition.value();
    const std::uint32_t version = contents_.write(access.offset);
    std::byte* payload =
        outbox.reserve(link, wake_, kind, request, line_sectors * 4 + cpu_line_bytes);
    std::memset(payload, 0xff, line_sectors * 4);
    const LineContents::Words words = LineContents::words(access.offset, version);
    std::memcpy(payload + line_sectors * 4, words.data(), sizeof words);
    ++statistics_.writes;
  } else {
    request.tag = take_slot(reads_, free_);
    reads_[request.tag] = {access.offset, cycle, place, window_.miss(access.instruction),
                           contents_.version(access.offset)};
    occupancy_.sent(place.bank, cycle, bank_counters());
    outbox.send(link, wake_, kind, request);
    ++statistics_.reads;
  }
  ++used(place.partition);
  ++unanswered_;
  end_ = access.instruction + 1;
  fetch();
}

void CpuCore::report(Outbox& outbox) {
  measured_ = true;
  outbox.send(
      to_host_, wake_, kind_of(MessageKind::core_measured),
      CoreMeasured{
          wake_, static_cast<std::uint64_t>(measured_after_), compared_, tenant_.value(), {}});
}

void CpuCore::count_instructions(Time now) {
  if (stopped_) return;
  const auto retired = static_cast<std::uint64_t>(
      window_.retired(clock_.cycle_at_or_before(now).count() * width_, next_instruction()));
  const std::uint64_t counted = statistics_.instructions.value();
  // Instructions are counted once, even if a later miss delays the retirement of counted ones.
  if (retired > counted) statistics_.instructions += retired - counted;
}

StatisticsView CpuCore::statistics(Time now) {
  count_instructions(now);
  return statistics_view(statistics_);
}

std::string CpuCore::waiting_for() const {
  if (unanswered_ == 0) return "";
  return std::to_string(unanswered_) + " lines of tenant " + std::to_string(tenant_.value());
}

void CpuCore::serialize(Archive& archive) {
  archive.section("cpu", 1);
  archive(to_host_, to_partitions_, statistics_, next_, next_place_, end_, window_, occupancy_,
          reads_, free_, used_, unanswered_, compared_, measured_, mistaken_, stopped_, entry_,
          measure_, wake_);
  archive.section("cpu/lines", 1);
  archive(contents_);
  archive.section("cpu/stream", 2);
  stream_->serialize(archive);
}

}  // namespace lockstep
