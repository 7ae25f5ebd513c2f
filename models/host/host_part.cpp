#include "models/host/host_part.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"
#include "models/fabric/port_messages.hpp"
#include "models/host/remote_memory.hpp"
#include "models/noc/core_messages.hpp"
#include "models/noc/peer_address.hpp"
#include "models/workload/tenant_priorities.hpp"

namespace lockstep {

namespace {

/// Mark in a peer copy's number: the bytes belong to a page of managed memory.
constexpr std::uint64_t page_move_bit = std::uint64_t{1} << 63;

/// Returns the frames in GPU memory among page table entries.
std::vector<FrameRun> frames_of(const std::vector<std::uint64_t>& entries) {
  std::vector<FrameRun> runs;
  for (const std::uint64_t bits : entries) {
    const PageTableEntry entry{bits};
    if (!entry.is(PageTableEntry::present) || entry.is(PageTableEntry::remote)) continue;
    append_frame(runs, PhysicalAddress{entry.address()}, page_bytes);
  }
  return runs;
}

Driver::Setup driver_setup(const HostPart::Setup& setup) {
  const std::size_t tenants = setup.tenants->size();
  return {setup.mapping.partitions(), tenants,
          make_page_manager(setup.page_manager,
                            {setup.memory_bytes, tenants, setup.mapping,
                             setup.memory_bytes_per_second / setup.mapping.partitions(), setup.seed,
                             setup.foreign_pages}),
          setup.to_gmmu, setup.device_pages};
}

ManagedMemory::Setup managed_setup(const HostPart::Setup& setup, HostPart& part,
                                   SharedPages* shared) {
  return {setup.parameters.link_latency,
          setup.seed,
          priorities_of(*setup.tenants),
          setup.record_faults,
          setup.fault_handling,
          setup.prefetcher,
          setup.eviction,
          shared,
          shared != nullptr ? shared->join(part) : 0};
}

}  // namespace

HostPart::HostPart(Setup setup, Shared shared)
    : numbers_(setup.numbers),
      logs_(shared.logs),
      all_settled_(std::move(shared.all_settled)),
      shared_(shared.shared),
      counts_accesses_(shared.shared != nullptr && shared.shared->policy().counts_to() > 0),
      link_(
          setup.parameters, setup.mapping, std::move(setup.to_partitions),
          [this](const Transfer& transfer, std::uint64_t offset, std::uint64_t bytes) {
            if (transfer.owner.part == TransferPart::inspection) return foreign_.at(offset, bytes);
            return runs_[transfer.tenant]->buffers().host_bytes(transfer, offset, bytes);
          },
          priorities_of(*setup.tenants), {}, setup.to_unit, setup.stretches),
      directory_(runs_),
      services_(driver_setup(setup), managed_setup(setup, *this, shared.shared), directory_,
                {setup.to_dispatcher, logs_.kernels, numbers_, setup.gpu, setup.fabric,
                 std::move(setup.to_port)},
                setup.parameters),
      to_sms_(std::move(setup.to_sms)),
      to_cores_(std::move(setup.to_cores)),
      capture_(setup.capture),
      group_(setup.group),
      moved_(setup.tenants->size()),
      changed_(setup.tenants->size()) {
  services_.sends_bounds = setup.bounds;
  services_.cycle_at = [this](Time now, Outbox& outbox) { return cycle(now, outbox); };
  for (std::size_t t = 0; t < setup.tenants->size(); ++t) {
    const std::uint16_t module = setup.module_of_tenant[t];
    runs_.push_back(std::make_unique<TenantRun>((*setup.tenants)[t],
                                                TenantId{static_cast<std::uint16_t>(t)}, module,
                                                *setup.modules[module], setup.capture, services_));
  }
  set_tenants(statistics_, setup.tenants->size());
}

Time HostPart::next_beside_link() const {
  Time next = std::min(services_.driver.next_activity(), services_.managed.next_activity());
  for (const auto& run : runs_) next = std::min(next, run->wake());
  return next;
}

std::size_t HostPart::run_link(Inbox messages, Time horizon, Outbox& outbox) {
  // At equal times the link acts before the rest.
  const Time others = next_beside_link();
  return link_.run(messages, others < horizon ? others + Time{1} : horizon, outbox);
}

void HostPart::give_away(std::uint32_t allocation, std::uint64_t first, std::uint64_t count,
                         Time now, Outbox& outbox) {
  services_.managed.give_away(allocation, first, count, cycle(now, outbox));
}

PagePlace HostPart::place(std::uint32_t allocation, std::uint64_t unit) const {
  const ManagedPages& pages = services_.managed.pages();
  return pages.place(pages.pages_of_units(allocation, unit, 1).first);
}

std::vector<FrameRun> HostPart::lend(std::uint32_t allocation, std::uint64_t unit) {
  std::vector<FrameRun> frames = services_.managed.lend(allocation, unit);
  for (FrameRun& run : frames)
    run.physical =
        peer_address(services_.gpu, run.physical) | (counts_accesses_ ? counted_peer_bit : 0);
  return frames;
}

void HostPart::send(std::uint32_t allocation, const std::vector<FrameRun>& from,
                    const std::vector<FrameRun>& to, std::uint32_t gpu, std::uint64_t id, Time now,
                    Outbox& outbox) {
  PeerCopy copy;
  copy.id = id | page_move_bit;
  for (const FrameRun& run : to) copy.bytes += run.bytes;
  copy.from_runs = static_cast<std::uint32_t>(from.size());
  copy.tenant = services_.managed.allocation(allocation).tenant.value();
  copy.gpu = static_cast<std::uint16_t>(gpu);
  std::vector<FrameRun> runs = from;
  runs.insert(runs.end(), to.begin(), to.end());
  outbox.send(services_.to_port.front(), now, kind_of(MessageKind::peer_copy), copy,
              std::as_bytes(std::span(runs)));
}

void HostPart::act(const HostCycle& cycle) {
  if (link_.next_activity() <= cycle.now) return link_.act(cycle.now, cycle.outbox);
  services_.driver.act(cycle);
  follow_up(cycle);
}

void HostPart::take(const MessageHeader& message, const HostCycle& cycle) {
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response:
      return take_answer(message, cycle);
    case MessageKind::stretch_done:
      return take_landed(message, cycle);
    case MessageKind::memory_request:
      return serve(message, cycle);
    case MessageKind::link_bytes:
      return link_.take_bytes(message);
    case MessageKind::link_moved:
      transfer_done(link_.take_moved(message), cycle);
      break;
    case MessageKind::inspected:
      link_.take_inspected(message);
      break;
    case MessageKind::zero_done:
      services_.driver.zero_done(message.body<ZeroRange>(), cycle);
      break;
    case MessageKind::page_copied:
      services_.driver.page_copied(message.body<PageCopy>(), cycle);
      break;
    case MessageKind::grid_done: {
      const auto& done = message.body<GridDone>();
      const std::uint32_t number = services_.kernels[done.grid].tenant;
      const auto tenant = std::lower_bound(numbers_.begin(), numbers_.end(), number);
      runs_[static_cast<std::size_t>(tenant - numbers_.begin())]->grid_done(done, cycle);
      break;
    }
    case MessageKind::peer_copied:
      take_copied(message.body<PeerCopy>(), cycle);
      break;
    case MessageKind::peer_counted: {
      const auto& counted = message.body<PeerCounted>();
      const TenantId tenant{static_cast<std::uint16_t>(counted.tenant)};
      services_.managed.counted(tenant, counted.page, cycle);
      break;
    }
    case MessageKind::instructions_reached: {
      const auto& progress = message.body<TenantProgress>();
      runs_[progress.tenant]->instructions_reached(progress.executed, cycle);
      break;
    }
    case MessageKind::core_measured:
      runs_[message.body<CoreMeasured>().tenant]->core_measured(message.body<CoreMeasured>());
      break;
    case MessageKind::core_mistaken:
      runs_[message.body<CoreMistaken>().tenant]->core_mistaken(message.body<CoreMistaken>());
      break;
    case MessageKind::far_fault:
      // All faults of one time are queued before any of them is handled.
      return services_.managed.fault(message, cycle);
    case MessageKind::pages_handled:
      services_.managed.mapped_by_gpu(message, cycle);
      break;
    case MessageKind::unmapped:
      services_.driver.unmapped(message, cycle);
      break;
    case MessageKind::access_violation:
      take_violation(message, cycle);
      break;
    case MessageKind::printed:
      return take_printed(message);
    case MessageKind::warning:
      return take_warning(message);
    default:
      LOCKSTEP_CHECK(false, "the host got a message of kind " + std::to_string(message.kind));
  }
  follow_up(cycle);
}

void HostPart::take_copied(const PeerCopy& copy, const HostCycle& cycle) {
  if ((copy.id & page_move_bit) != 0)
    return shared_->copied(copy.id & ~page_move_bit, cycle.now, cycle.outbox);
  runs_[copy.tenant]->operation_done(copy.id);
}

void HostPart::take_answer(const MessageHeader& message, const HostCycle& cycle) {
  if (RequestOwner::of(message.body<MemoryResponse>().tag).part == RequestPart::transfer)
    return take_landed(message, cycle);
  services_.driver.memory_answered(message, cycle);
  follow_up(cycle);
}

void HostPart::take_landed(const MessageHeader& message, const HostCycle& cycle) {
  const std::optional<Transfer> done = link_.take(message);
  if (!done) return;
  transfer_done(*done, cycle);
  follow_up(cycle);
}

void HostPart::transfer_done(const Transfer& transfer, const HostCycle& cycle) {
  switch (transfer.owner.part) {
    case TransferPart::program:
      if (transfer.owner.number != 0) runs_[transfer.tenant]->operation_done(transfer.owner.number);
      break;
    case TransferPart::write_back:
      return services_.managed.transfer_done(transfer, cycle);
    case TransferPart::mapping:
      return services_.driver.transfer_done(transfer, cycle);
    case TransferPart::inspection:
      break;
  }
}

void HostPart::take_printed(const MessageHeader& message) {
  const std::span<const std::byte> text = message.payload();
  logs_.printed.add(numbers_[message.body<TenantNotice>().tenant],
                    {reinterpret_cast<const char*>(text.data()), text.size()});
}

void HostPart::take_warning(const MessageHeader& message) {
  const std::string where = reinterpret_cast<const char*>(message.payload_data());
  const char* what = reinterpret_cast<const char*>(message.payload_data()) + where.size() + 1;
  logs_.warnings.add(where, what);
}

void HostPart::take_violation(const MessageHeader& message, const HostCycle& cycle) {
  const char* where = reinterpret_cast<const char*>(message.payload_data());
  const char* what = where + std::strlen(where) + 1;
  const char* advice = what + std::strlen(what) + 1;
  const UserError error(where, what, advice);
  runs_[message.body<TenantNotice>().tenant]->violation(error.what(), cycle);
}

/// Starts the work that waited for something which has ended.
bool HostPart::follow_up(const HostCycle& cycle) {
  bool more = true, any = false;
  while (more) {
    more = pass_on_pages(cycle);
    services_.managed.act(cycle);
    for (const Migrations::Failure& failure : services_.managed.take_failures()) {
      runs_[failure.tenant.value()]->violation(failure.message, cycle);
      more = true;
    }
    more |= run_tenants(cycle);
    for (const std::uint64_t operation : services_.managed.take_operations()) {
      for (const auto& run : runs_) run->operation_done(operation);
      more = true;
    }
    any |= more;
  }
  hold_issue(cycle);
  if (wants_inspection() && all_done() && services_.driver.idle())
    foreign_.begin(services_.driver.page_manager().foreign_pages(), cycle);
  return any;
}

/// Holds issue back as the page manager wants it.
void HostPart::hold_issue(const HostCycle& cycle) {
  if (services_.driver.page_manager().holds_issue() == issue_held_) return;
  issue_held_ = !issue_held_;
  for (Link& sm : to_sms_)
    cycle.outbox.send(sm, cycle.now, kind_of(MessageKind::hold_issue), IssueHold{issue_held_});
}

bool HostPart::pass_on_pages(const HostCycle& cycle) {
  bool any = false;
  for (const std::uint32_t migration : services_.driver.take_mapped()) {
    services_.managed.mapped(migration, cycle);
    any = true;
  }
  for (const Unmapped& pages : services_.driver.take_unmapped()) {
    any = true;
    if (pages.owner.part == UnmappingPart::nobody) {
      services_.driver.give_back(pages.pages.tenant, frames_of(pages.entries), cycle);
    } else {
      services_.managed.unmapped(pages, cycle);
    }
  }
  return any;
}

void HostPart::serve(const MessageHeader& message, const HostCycle& cycle) {
  const auto& request = message.body<MemoryRequest>();
  ++statistics_.remote_requests[request.tenant];
  HostBuffer& buffer = runs_[request.tenant]->buffers().host(remote_buffer(request.line));
  if (changed_[request.tenant] == 0 && changes_remote(message, buffer))
    changed_[request.tenant] = progress::got_on;
  const std::vector<std::byte> answer = serve_remote(message, buffer);
  link_.answer(answer_to(request), answer, message.payload_bytes, cycle.now,
               to_sms_[request.requester], cycle.outbox);
}

bool HostPart::run_each(const HostCycle& cycle) {
  bool changed = false;
  for (std::size_t t = 0; t < runs_.size(); ++t) {
    TenantRun& run = *runs_[t];
    if (run.done()) continue;
    const bool was_leaving = run.is_leaving();
    run.run(cycle);
    changed |= was_leaving != run.is_leaving();
    if (run.done()) logs_.printed.end(numbers_[t]);
  }
  return changed;
}

bool HostPart::run_tenants(const HostCycle& cycle) {
  bool changed = run_each(cycle);
  if (is_stopped_ || !is_settled() || !all_settled_()) return changed;
  is_stopped_ = true;
  for (const auto& run : runs_) run->stop(cycle);
  for (Link& core : to_cores_)
    cycle.outbox.send(core, cycle.now, kind_of(MessageKind::stop_core), CoreStop{});
  changed |= run_each(cycle);
  return changed;
}

bool HostPart::is_settled() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->is_settled(); });
}

bool HostPart::all_done() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& run) { return run->done(); });
}

bool HostPart::wants_inspection() const {
  return capture_ && !foreign_.has_begun() &&
         !services_.driver.page_manager().foreign_pages().empty();
}

bool HostPart::finished() const {
  return all_done() && services_.driver.idle() && !wants_inspection();
}

void HostPart::serialize(Archive& archive) {
  archive(statistics_, link_, services_, to_sms_, to_cores_, foreign_, is_stopped_, issue_held_,
          moved_, changed_);
  for (const auto& run : runs_) run->serialize(archive);
}

void HostPart::take_grid_counts(std::vector<GridContribution>& taken) {
  services_.grids.take(
      [this](std::uint16_t tenant) {
        return TenantServices::counts_of(tenant, link_, statistics_);
      },
      taken);
}

void HostPart::take_progress(std::span<std::uint8_t> tenants) {
  for (std::size_t t = 0; t < runs_.size(); ++t) {
    const auto number = static_cast<std::uint16_t>(t);
    const std::uint64_t moved = link_.moved_of(number);
    const bool transfers = std::exchange(moved_[t], moved) != moved || link_.is_moving(number);
    tenants[numbers_[t]] |= runs_[t]->take_progress(transfers) | std::exchange(changed_[t], 0);
  }
}

std::vector<StatisticsView> HostPart::statistics() {
  std::vector<StatisticsView> all{statistics_view(statistics_)};
  if (!link_.is_apart())
    for (const bool to_gpu : {false, true})
      all.push_back(statistics_view(link_.statistics(to_gpu)));
  if (const StatisticsView view = services_.driver.page_manager().statistics();
      view.schema != nullptr)
    all.push_back(view);
  for (StatisticsView& view : all) view.group = group_;
  return all;
}

std::string HostPart::waiting_for() const {
  std::string text;
  const auto add = [&](const std::string& one) {
    if (!one.empty()) text += (text.empty() ? "" : " | ") + one;
  };
  for (const auto& run : runs_) add(run->waiting_for());
  add(services_.driver.waiting_for());
  add(services_.managed.waiting_for());
  return text;
}

}  // namespace lockstep
