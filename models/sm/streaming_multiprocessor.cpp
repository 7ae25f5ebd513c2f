#include "models/sm/streaming_multiprocessor.hpp"

#include <algorithm>
#include <bit>

#include "models/sm/front_end/issue_path.hpp"

namespace lockstep {

SmState::SmState(StreamingMultiprocessor::Setup given)
    : setup(std::move(given)),
      parameters(setup.parameters),
      limits(parameters.occupancy_limits()),
      clock(parameters.clock),
      exceptions(make_exception_scheme(setup.exception_scheme)),
      tables(setup.issue_tables ? setup.issue_tables
                                : make_issue_tables(parameters, setup.modules)),
      constant_rows(setup.constant_rows),
      local_base(setup.local_memory_base + setup.index * local_memory_bytes(parameters)),
      units(parameters),
      scheduler(make_warp_scheduler(setup.warp_scheduler, parameters.schedulers)),
      // A cycle's issues may overshoot the limit that the gate watches.
      queue(parameters.memory_queue + 2 * parameters.schedulers * parameters.issue_width + 2),
      misses(parameters.l1.mshrs),
      port({setup.noc, setup.to_partitions, setup.to_host, parameters.port.queue,
            clock.duration(parameters.port.injection_latency)}),
      reception(setup.noc),
      shared(parameters.shared.bytes.count()),
      blocks(parameters.blocks),
      translation(setup.vm.l1_tlb, setup.tenants.size()),
      shared_ranges(static_cast<std::uint32_t>(parameters.shared.bytes.count())),
      to_dispatcher(setup.to_dispatcher),
      to_gmmu(setup.to_gmmu),
      tenant_blocks(setup.tenants.size()),
      tenant_warps(setup.tenants.size()),
      tenant_counted(setup.tenants.size()),
      tenant_violated(setup.tenants.size()) {
  const SmL1Parameters& p = parameters.l1;
  const std::uint64_t bytes = p.unified_bytes.count() ? p.unified_bytes.count() : p.bytes.count();
  l1 = L1Cache(static_cast<std::uint32_t>(bytes / line_bytes), p.sets);
  set_tenants(statistics, setup.tenants.size());
}

StreamingMultiprocessor::StreamingMultiprocessor(Setup setup)
    : state_(std::make_unique<SmState>(std::move(setup))) {}

StreamingMultiprocessor::~StreamingMultiprocessor() = default;

Time StreamingMultiprocessor::next_activity() const {
  return state_->wake == no_cycle ? Time::never() : state_->time_of(state_->wake);
}

/// They hold nothing between instructions.
static std::uint32_t* scratch_rows_of_this_thread() {
  alignas(64) static thread_local std::array<std::uint32_t, 64 * isa::warp_size> rows;
  return rows.data();
}

void StreamingMultiprocessor::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  SmState& s = *state_;
  s.outbox = &outbox;
  s.scratch_rows = scratch_rows_of_this_thread();
  s.warm_window(inbox);
  std::visit([&](auto& policy) { s.run(policy, horizon, inbox); }, s.scheduler);
  s.outbox = nullptr;
  s.scratch_rows = nullptr;
}

/// Messages and own cycles in the order of time; at equal times messages come first.  A message is
/// taken at the first clock edge at or after its arrival, so cutting the window anywhere changes
/// nothing.
template <class Policy>
void SmState::run(Policy& policy, Time horizon, Inbox inbox) {
  const std::int64_t end =
      horizon == Time::never() ? no_cycle : clock.cycle_at_or_after(horizon).count();
  std::size_t next = 0;
  std::int64_t arrival = next_arrival(inbox, next);
  for (;;) {
    if (arrival <= wake && next < inbox.size()) {
      wheel.advance_to(arrival - 1);
      take(*inbox[next], arrival);
      arrival = next_arrival(inbox, ++next);
      wake = std::min(wake, next_work());
    } else if (wake < end) {
      step(policy, wake);
    } else {
      return;
    }
  }
}

std::int64_t SmState::next_arrival(Inbox inbox, std::size_t next) const {
  return next < inbox.size() ? clock.cycle_at_or_after(inbox[next]->arrival).count() : no_cycle;
}

void SmState::take(const MessageHeader& message, std::int64_t now) {
  account_stalls(now);  // for what held until now
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response:
      on_response(message, now);
      break;
    case MessageKind::start_grid:
      start_grid(message.body<GridLaunch>(), message.payload());
      break;
    case MessageKind::start_block:
      staged.push_back(message.body<BlockReference>());
      start_staged(now);
      break;
    case MessageKind::end_grid:
      end_grid(message.body<GridReference>().grid);
      break;
    case MessageKind::translation:
      on_translation(message.body<TranslationAnswer>(), now);
      break;
    case MessageKind::pages_mapped:
      on_pages_mapped(message.body<PagesMapped>(), message.payload());
      break;
    case MessageKind::replay:
      on_replay(message.body<PageNotice>(), now);
      break;
    case MessageKind::flush:
      on_flush(message.body<TlbFlush>().tenant);
      break;
    case MessageKind::shootdown:
      on_shootdown(message.body<PageSpan>(), message.payload(), now);
      break;
    case MessageKind::abort_tenant:
      abort_tenant(message.body<TenantNotice>().tenant, now);
      break;
    default:
      internal_error(__FILE__, __LINE__, "message", "an SM got a message it does not know");
  }
}

/// One cycle: what commits, then the load-store unit's queue, then issue.
template <class Policy>
void SmState::step(Policy& policy, std::int64_t now) {
  account_stalls(now);
  cycle = now;
  wheel.take(
      now, [&](std::uint16_t event) { on_event(event, now); },
      [&](std::uint64_t bytes) { units.release(bytes); });
  if (gate_wake <= now) update_memory_gate(now);
  if (queue_wake <= now) pump_queue(now);

  const std::uint64_t candidates = issuable();
  const unsigned issued = candidates != 0 ? issue_cycle(policy, candidates, now) : 0;
  const unsigned stalled = units.all_schedulers() & ~issued;
  if (stalled != 0) count_stalled(stalled, 1);
  accounted = now;
  wake = candidates != 0 ? now + 1 : next_work();
}

/// Each scheduler issues what it can; returns those that did.
template <class Policy>
unsigned SmState::issue_cycle(Policy& policy, std::uint64_t candidates, std::int64_t now) {
  // Another one begins each cycle: none is first at what they share.
  const unsigned last = parameters.schedulers - 1;
  const unsigned first = static_cast<unsigned>(now) & last;
  const auto turns_of = [&](std::uint64_t warps_ready) {
    return units.schedulers_of(std::rotr(warps_ready, static_cast<int>(first)));
  };
  unsigned issued = 0;
  for (unsigned turns = turns_of(candidates); turns != 0;) {
    const auto turn = static_cast<unsigned>(std::countr_zero(turns));
    const unsigned s = (turn + first) & last;
    const std::uint64_t open = memory_open;
    issue_chosen(policy, s, candidates & units.warps_of(1u << s), now);
    issued |= 1u << s;
    if (parameters.issue_width > 1) [[unlikely]]
      issue_more(policy, s, now);
    turns &= turns - 1;
    if (units.shared()) [[unlikely]] {
      candidates = issuable();
      turns = turns_of(candidates) & (~1u << turn);
    } else if (open != memory_open) {
      candidates &= ~ready[static_cast<std::size_t>(isa::Unit::memory)];
      turns &= turns_of(candidates);
    }
  }
  return issued;
}

/// What a scheduler may issue in a cycle beyond its first instruction.
template <class Policy>
void SmState::issue_more(Policy& policy, unsigned side, std::int64_t now) {
  for (unsigned more = 1; more < parameters.issue_width; ++more)
    if (const std::uint64_t left = issuable() & units.warps_of(1u << side); left != 0)
      issue_chosen(policy, side, left, now);
}

template <class Policy>
void SmState::issue_chosen(Policy& policy, unsigned side, std::uint64_t candidates,
                           std::int64_t now) {
  const unsigned warp = policy.choose(side, candidates);
  try {
    issue(warp, now);
  } catch (const Mistake& mistake) {
    halt(warp, mistake, now);
  }
}

std::uint64_t SmState::issuable() const {
  std::uint64_t warps_ready = 0;
  for (std::size_t u = 0; u < unit_classes; ++u)
    warps_ready |=
        ready[u] & units.free(u) &
        (u == static_cast<std::size_t>(isa::Unit::memory) ? memory_open : ~std::uint64_t{0});
  return warps_ready & units.schedulers_free();
}

StatisticsView StreamingMultiprocessor::statistics(Time now) {
  state_->flush_statistics(state_->clock.cycle_at_or_after(now).count());
  return statistics_view(state_->statistics);
}

bool StreamingMultiprocessor::finished() const {
  return state_->used.blocks == 0 && state_->staged.empty();
}

std::string StreamingMultiprocessor::waiting_for() const {
  const SmState& s = *state_;
  if (s.resident == 0) return "";
  std::string text;
  static constexpr const char* names[] = {"a unit",
                                          "the memory queue",
                                          "results",
                                          "memory",
                                          "branches",
                                          "acknowledgements",
                                          "barriers",
                                          "their last "
                                          "requests"};
  for (std::size_t cause = 0; cause + 1 < stall_causes; ++cause) {
    const int count = std::popcount(s.waiting[cause]);
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " warps wait for " + names[cause];
  }
  const std::string requests = s.port.waiting_for();
  if (s.misses.used() > 0) text += "; " + std::to_string(s.misses.used()) + " misses outstanding";
  if (s.translation.asked() > 0)
    text += "; " + std::to_string(s.translation.asked()) + " pages asked for";
  if (s.translation.faulted() > 0)
    text += "; " + std::to_string(s.translation.faulted()) + " pages wait for the host";
  if (!requests.empty()) text += "; " + requests;
  return text;
}

void StreamingMultiprocessor::serialize(Archive& archive) {
  archive.section("sm", 1);
  state_->serialize(archive);
}

}  // namespace lockstep
