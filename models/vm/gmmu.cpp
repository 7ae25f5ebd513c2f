#include "models/vm/gmmu.hpp"

#include <algorithm>

#include "core/checkpoint/archive.hpp"
#include "core/error/error.hpp"

namespace lockstep {

Gmmu::Gmmu(Setup setup)
    : parameters_(setup.parameters),
      replay_(setup.replay),
      clock_(setup.parameters.clock),
      memory_(setup.mapping, std::move(setup.to_partitions)),
      local_({setup.local, clock_, setup.to_sms.size(), setup.tenants}, memory_, statistics_),
      answers_(std::move(setup.to_sms), setup.to_host,
               {setup.parameters.far_fault_mshrs,
                setup.parameters.fault_granule.count() / page_bytes, setup.tenants, setup.squashes},
               local_, statistics_),
      path_(std::move(setup.translation)),
      timing_(path_->timing()),
      mirror_(setup.tenants),
      walkers_(parameters_, setup.tenants, *path_, memory_, mirror_, statistics_),
      unmappings_(memory_),
      epochs_(std::move(setup.epochs)) {
  set_tenants(statistics_, setup.tenants);
  epochs_.add(EpochTopic::translation, *path_);
  if (TlbFill* fill = path_->fill()) epochs_.add(EpochTopic::tlb_fill, *fill);
}

Time Gmmu::next_activity() const {
  return std::min(next_cycle(), epochs_.next());
}

void Gmmu::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  for (;;) {
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time own = next_cycle(), epoch = epochs_.next();
    const Time now = std::min(arrival, own);
    if (std::min(now, epoch) >= horizon) break;
    if (epoch <= now) {
      epochs_.run(epoch, outbox);
      continue;
    }
    epochs_.before(now);
    if (arrival <= own && grids_.take_mark(*inbox[next])) {
      ++next;
    } else if (arrival <= own) {
      GmmuCycle cycle{clock_.cycle_at_or_after(arrival).count(), {}, outbox};
      cycle.now = edge(cycle.number);
      take(*inbox[next++], cycle);
      retry_faults(cycle);
      cycle_ = std::min(cycle_, cycle.number);
    } else {
      GmmuCycle cycle{cycle_, own, outbox};
      step(cycle);
    }
  }
}

void Gmmu::take(const MessageHeader& message, GmmuCycle& cycle) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::translate: {
      const auto& request = message.body<TranslateRequest>();
      if (!request.known) ++statistics_.requests[request.tenant];
      return look_up(request, cycle);
    }
    case MessageKind::memory_response:
      return take_memory(message, cycle);
    case MessageKind::page_written:
      return page_written(message.body<PageNotice>(), cycle);
    case MessageKind::replayed:
      answers_.replayed(message.body<PageNotice>(), cycle);
      return unmap_ready(cycle);
    case MessageKind::shootdown_done:
      return shootdown_done(message, cycle);
    case MessageKind::epoch_values:
      return epochs_.take(message);
    case MessageKind::set_root:
      return set_root(message.body<PageTableRoot>(), cycle);
    case MessageKind::pages_mapped:
      return pages_mapped(message, cycle);
    case MessageKind::zeroed_frames:
      return local_.add_frames(message.body<GranuleFrames>());
    case MessageKind::unmap:
      unmappings_.add(message.body<UnmapRequest>());
      return unmap_ready(cycle);
    default:
      LOCKSTEP_CHECK(false, "the GMMU got a message of kind " + std::to_string(message.kind));
  }
}

void Gmmu::look_up(const TranslateRequest& request, GmmuCycle& cycle) {
  if (!timing_.walks) {
    const PageTableEntry entry = mirror_.find(request.where());
    if (entry.is(PageTableEntry::present)) {
      mirror_.set(request.where(), PageTableEntry::accessed);
      answers_.note(request.where());
    }
    if (!request.known) answer(request, entry, cycle);
  } else {
    arrived_.add(cycle.number, request);
  }
}

void Gmmu::take_memory(const MessageHeader& message, GmmuCycle& cycle) {
  const auto& response = message.body<MemoryResponse>();
  const std::uint32_t asker = TableMemory::asker_of(response.tag);
  memory_.answered();
  std::uint32_t unmapping = Unmappings::none;
  switch (TableMemory::purpose_of(response.tag)) {
    case TableMemory::Purpose::walk:
      walkers_.read_done(asker, message.payload_data(), cycle);
      if (walkers_[asker].done) finish_walk(asker, cycle);
      return;
    case TableMemory::Purpose::set_bits:
      return;
    case TableMemory::Purpose::swap:
      return local_.swapped(asker, message.payload_data());
    case TableMemory::Purpose::exchange:
      unmapping = unmappings_.exchanged(asker, message.payload_data(), response.lanes, cycle);
      break;
    case TableMemory::Purpose::clear_bits:
      unmapping = unmappings_.cleared(asker);
      break;
  }
  if (unmapping != Unmappings::none) entries_taken(unmapping, cycle);
}

void Gmmu::page_written(const PageNotice& notice, GmmuCycle& cycle) {
  ++statistics_.pages_written[notice.tenant];
  if (Unmapping* unmapping = unmappings_.unmapping_of(notice.where())) {
    unmapping->note_store(notice.where());
  } else if (mirrored()) {
    mirror_.set(notice.where(), PageTableEntry::dirty);
  } else if (!path_->known_dirty(notice.where())) {
    walkers_.written(notice.where(), cycle.number);
  }
}

bool Gmmu::finished() const {
  return arrived_.empty() && large_lookups_.empty() && base_lookups_.empty() && stalled_.empty() &&
         walkers_.idle() && local_.under_way() == 0 && unmappings_.idle() &&
         memory_.in_flight() == 0;
}

std::string Gmmu::waiting_for() const {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  };
  add(walkers_.waiting_for());
  if (!stalled_.empty()) add(std::to_string(stalled_.size()) + " misses without an MSHR");
  add(answers_.faults().waiting_for());
  if (local_.under_way() > 0)
    add(std::to_string(local_.under_way()) + " handlers of untouched pages");
  add(unmappings_.waiting_for());
  return text;
}

std::vector<StatisticsView> Gmmu::parts(Time) {
  const TlbFill* fill = path_->fill();
  if (fill == nullptr || fill->statistics().schema == nullptr) return {};
  return {fill->statistics()};
}

StatisticsView Gmmu::statistics(Time now) {
  answers_.count_waiting(clock_.cycle_at_or_after(now).count());
  answers_.sample_waiting();
  local_.count(clock_.cycle_at_or_after(now).count());
  return statistics_view(statistics_);
}

void Gmmu::serialize(Archive& archive) {
  archive.section("gmmu", 5);
  archive(statistics_, arrived_, large_lookups_, base_lookups_, stalled_, waits_, cycle_, epochs_,
          grids_);
  archive.section("gmmu/answers", 3);
  answers_.serialize(archive);
  archive.section("gmmu/local_handlers", 1);
  local_.serialize(archive);
  archive.section("gmmu/translation", 2);
  path_->serialize(archive);
  archive.section("gmmu/walks", 1);
  archive(mirror_, memory_, walkers_);
  archive.section("gmmu/unmapping", 1);
  unmappings_.serialize(archive);
}

}  // namespace lockstep
