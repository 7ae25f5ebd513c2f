#include "models/sm/sm_core.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "core/error/error.hpp"
#include "models/sm/exception_scheme/registry.hpp"
#include "models/sm/front_end/issue_cycle.hpp"
#include "models/sm/turnover/standing_blocks.hpp"

namespace lockstep {

namespace {

/// Returns the setup with the values that it leaves open filled in.
SmSetup completed(SmSetup setup) {
  setup.preemptible = is_preemptible(setup.exception_scheme);
  setup.log_entries = log_entries_of(setup.exception_scheme);
  if (!setup.issue_tables)
    setup.issue_tables = make_issue_tables(
        setup.parameters, setup.modules,
        detail_for(setup.parameters, setup.exception_scheme, setup.contexts.places > 0));
  if (!setup.constant_rows) setup.constant_rows = std::make_shared<ConstantRows>();
  return setup;
}

/// Returns register rows of this thread, which hold nothing between instructions.
std::uint32_t* scratch_rows_of_this_thread() {
  alignas(64) static thread_local std::array<std::uint32_t, 64 * isa::warp_size> rows;
  return rows.data();
}

}  // namespace

SmCore::SmCore(SmSetup setup)
    : constants_(completed(std::move(setup))),
      ports_(constants_),
      blocks_(constants_, statistics_),
      mistakes_(constants_, blocks_, ports_),
      front_end_(sm_, turnover_, faultable_, mbarriers_),
      faultable_(sm_, front_end_),
      l1_(sm_),
      flights_(sm_, front_end_, l1_, faultable_),
      lines_(sm_, l1_, stores_, flights_),
      load_store_(sm_, front_end_, faultable_, translation_, lines_, flights_),
      translation_(sm_, load_store_),
      shootdowns_(sm_, l1_, stores_, translation_),
      code_(sm_, front_end_),
      constant_cache_(sm_, front_end_, flights_),
      engine_(sm_),
      answers_(sm_, front_end_, l1_, stores_, shootdowns_, flights_, engine_, code_,
               constant_cache_),
      mbarriers_(sm_, front_end_, l1_),
      clusters_(sm_, front_end_),
      shared_service_(sm_, front_end_, clusters_, mbarriers_),
      remote_(sm_, front_end_, flights_, clusters_, shared_service_),
      bulk_(sm_, front_end_, translation_, lines_, flights_, mbarriers_, remote_),
      shared_(sm_, front_end_, mbarriers_),
      constant_(sm_, front_end_, constant_cache_),
      memory_issue_(sm_, shared_, constant_, load_store_, flights_, faultable_, remote_),
      barriers_(sm_, front_end_),
      cluster_barriers_(sm_, front_end_, l1_, clusters_),
      printing_(sm_),
      control_(sm_, front_end_, l1_, barriers_, cluster_barriers_, printing_),
      warpgroups_(sm_, front_end_, control_),
      dependencies_(sm_, front_end_, l1_),
      issue_(sm_, front_end_, faultable_, load_store_, shared_, memory_issue_, control_, code_,
             constant_cache_, mbarriers_, bulk_, warpgroups_, dependencies_, remote_),
      switching_(make_block_switching(constants_.setup.block_switching)),
      contexts_(sm_, front_end_, faultable_, flights_, load_store_, printing_, mbarriers_,
                clusters_),
      local_scheduler_(
          sm_, *switching_,
          {front_end_, faultable_, l1_, load_store_, translation_, contexts_, engine_, clusters_}),
      turnover_(sm_, front_end_, faultable_, l1_, translation_, load_store_, printing_,
                local_scheduler_, clusters_),
      watch_(sm_) {
  set_tenants(statistics_, constants_.setup.tenants.size());
}

Time SmCore::next_activity() const {
  const Time own = next_cycle();
  return std::min(own, ports_.marks().epochs().next(own));
}

void SmCore::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  ports_.begin_window(outbox);
  blocks_.begin_window(scratch_rows_of_this_thread());
  warm_window(inbox);
  if (ports_.marks().epochs().idle()) [[likely]] {
    std::visit([&](auto& policy) { run(policy, horizon, inbox); }, front_end_.scheduler());
  } else {
    run_between_epochs(horizon, inbox, outbox);
  }
  ports_.end_window();
}

/// Runs a window in pieces that end with epochs, so that each event counts for its own epoch.
void SmCore::run_between_epochs(Time horizon, Inbox inbox, Outbox& outbox) {
  PolicyEpochs& epochs = ports_.marks().epochs();
  while (true) {
    const Time arrival = inbox.empty() ? Time::never() : inbox.front()->arrival;
    const Time own = std::min(arrival, next_cycle()), epoch = epochs.next(own);
    if (std::min(own, epoch) >= horizon) return;
    if (epoch <= own) {
      epochs.run(epoch, outbox);
      continue;
    }
    epochs.before(own);
    const Time end = std::min(horizon, epochs.limit());
    const auto behind = std::find_if(inbox.begin(), inbox.end(), [&](const MessageHeader* message) {
      return message->arrival >= end;
    });
    const Inbox now = inbox.first(static_cast<std::size_t>(behind - inbox.begin()));
    std::visit([&](auto& policy) { run(policy, end, now); }, front_end_.scheduler());
    inbox = inbox.subspan(now.size());
  }
}

/// Bytes of parts that hold little more than references.
template <class... Parts>
static void warm_parts(const Parts&... parts) {
  (warm(&parts, sizeof parts), ...);
}

/// Brings the data that a window will surely touch into the cache: see warm_answers.cpp.
void SmCore::warm_window(Inbox inbox) const {
  statistics_.warm_hot();
  front_end_.warm_hot();
  ports_.warm_hot();
  l1_.warm_hot();
  load_store_.warm_hot();
  translation_.warm_hot();
  blocks_.warm_hot();
  warm_parts(stores_, lines_, answers_, shared_, memory_issue_, control_, issue_);
  answers_.warm_for(inbox);
  blocks_.warm_warps(front_end_.ready_warps());
}

/// Messages and own cycles in the order of time; at equal times messages come first.  A message is
/// taken at the first clock edge at or after its arrival, so cutting the window anywhere changes
/// nothing.
template <class Policy>
void SmCore::run(Policy& policy, Time horizon, Inbox inbox) {
  const SmCycle end = horizon == Time::never() ? no_cycle : constants_.cycle_at_or_after(horizon);
  std::size_t next = 0;
  SmCycle arrival = next_arrival(inbox, next);
  for (;;) {
    if (arrival <= front_end_.wake() && next < inbox.size()) {
      front_end_.advance_to(arrival - 1);
      take(*inbox[next], arrival);
      if (turnover_.has_to_look()) [[unlikely]]
        turnover_.look(arrival);
      arrival = next_arrival(inbox, ++next);
      front_end_.wake_at(next_event());
    } else if (front_end_.wake() < end) {
      step(policy, front_end_.wake());
    } else {
      return;
    }
  }
}

SmCycle SmCore::next_arrival(Inbox inbox, std::size_t next) const {
  return next < inbox.size() ? constants_.cycle_at_or_after(inbox[next]->arrival) : no_cycle;
}

/// Runs a cycle: commits results, serves the load-store unit's queue, then issues.
template <class Policy>
inline void SmCore::step(Policy& policy, SmCycle now) {
  front_end_.begin_cycle(now);
  if (load_store_.wake() <= now) load_store_.look_up_lines(now);
  if (bulk_.wake() <= now) [[unlikely]]
    bulk_.advance(now);
  if (turnover_.has_to_look()) [[unlikely]]
    turnover_.look(now);
  bool could_issue = false;
  if (!issue_held_) [[likely]] {
    could_issue =
        front_end_.ready_warps() != 0 &&
        front_end_.issue_cycle(policy, now, [&](WarpSlot slot) { issue_.issue(slot, now); });
  } else {
    front_end_.account_held_cycle(now);
  }
  // A look at blocks that leave, after an instruction of theirs, is due in the next cycle.
  if (!could_issue || (front_end_.ready_warps() == 0 && !turnover_.has_to_look()))
    front_end_.sleep_until(issue_held_ ? next_event()
                                       : std::min(next_event(), front_end_.next_free_unit()));
}

void SmCore::prefetch(const GridLaunch& launch, SmCycle now) {
  const GridSlot& grid = blocks_.grid(blocks_.place_of(GridId(launch.grid)));
  if (code_.on()) code_.prefetch(grid, now);
  if (constant_cache_.on()) constant_cache_.prefetch(grid, now);
}

void SmCore::take(const MessageHeader& message, SmCycle now) {
  front_end_.account_stalls(now);  // charges the causes that held warps back until now
  switch (static_cast<MessageKind>(message.kind)) {
    case MessageKind::memory_response:
      answers_.receive(message, now);
      load_store_.retry_if_stalled(now);
      break;
    case MessageKind::start_grid:
      turnover_.start_grid(message.body<GridLaunch>(), message.payload());
      if (constants_.parameters.fetches()) prefetch(message.body<GridLaunch>(), now);
      break;
    case MessageKind::start_block:
      turnover_.stage(message.body<BlockReference>(), message.payload(), now);
      break;
    case MessageKind::end_grid:
      turnover_.end_grid(GridId(message.body<GridReference>().grid));
      break;
    case MessageKind::primary_is_over:
      dependencies_.primary_is_over(GridId(message.body<GridReference>().grid), now);
      break;
    case MessageKind::ask_status:
      turnover_.tell_status(GridId(message.body<GridReference>().grid), now);
      break;
    case MessageKind::stop_grid:
      turnover_.stop_grid(message.body<GridStop>(), message.payload(), now);
      break;
    case MessageKind::resume_grid:
      turnover_.resume_grid(GridId(message.body<GridReference>().grid));
      break;
    case MessageKind::give_block:
      turnover_.give_block(GridId(message.body<GridReference>().grid), now);
      break;
    case MessageKind::block_given:
      turnover_.adopt_block(message.body<BlockGiven>(), message.payload(), now);
      break;
    case MessageKind::context_free:
      turnover_.context_is_free(message.body<ContextPlace>().place, now);
      break;
    case MessageKind::homes_free:
      turnover_.homes_are_free(message.payload(), now);
      break;
    case MessageKind::translation: {
      const auto& answer = message.body<TranslationAnswer>();
      const bool blocks_in_memory = answer.status == TranslationStatus::invalid &&
                                    turnover_.page_came({answer.page, answer.tenant, 0, 0}, now);
      translation_.on_answer(answer, now, blocks_in_memory);
      load_store_.retry(now);
      break;
    }
    case MessageKind::pages_mapped:
      translation_.on_pages_mapped(message.body<PagesMapped>(), message.payload());
      break;
    case MessageKind::replay:
      turnover_.page_came(message.body<PageNotice>(), now);
      translation_.on_replay(message.body<PageNotice>(), now);
      break;
    case MessageKind::flush:
      translation_.on_flush(TenantId(message.body<TlbFlush>().tenant));
      break;
    case MessageKind::shootdown:
      shootdowns_.begin(message.body<PageSpan>(), message.payload(), now);
      break;
    case MessageKind::epoch_values:
      ports_.marks().epochs().apply(message);
      break;
    case MessageKind::hold_issue:
      issue_held_ = message.body<IssueHold>().holds != 0;
      front_end_.wake_at(now);
      break;
    case MessageKind::cluster_access:
      shared_service_.serve(message.body<ClusterAccess>(), message.payload(), now);
      break;
    case MessageKind::cluster_answer:
      remote_.answered(message.body<ClusterAnswer>(), message.payload(), now);
      break;
    case MessageKind::cluster_released:
      cluster_barriers_.released(message.body<ClusterBlock>(), now);
      break;
    case MessageKind::cluster_over:
      turnover_.cluster_over(message.body<ClusterBlock>(), now);
      break;
    case MessageKind::cluster_moves:
      turnover_.cluster_moves(message.body<ClusterMove>(), now);
      break;
    case MessageKind::abort_tenant:
      turnover_.abort_tenant(TenantId(message.body<TenantNotice>().tenant), now);
      break;
    default:
      internal_error(__FILE__, __LINE__, "message", "an SM got a message it does not know");
  }
  if (bulk_.is_stalled()) [[unlikely]]
    bulk_.retry(now);
}

const SmStatistics& SmCore::statistics(Time now) {
  const SmCycle up_to = constants_.cycle_at_or_after(now);
  front_end_.account_stalls(up_to);
  translation_.count_fault_waits(up_to);
  blocks_.flush_statistics(up_to);
  local_scheduler_.count_blocks();
  for (std::size_t t = 0; t < statistics_.tenant.size(); ++t) {
    SmStatistics::OfTenant& counts = statistics_.tenant[t];
    const std::uint64_t looked_up =
        counts.tlb_hits.value() + counts.tlb_misses.value() + counts.tlb_merges.value();
    counts.tlb_lookups += looked_up - counts.tlb_lookups.value();
  }
  const auto period = static_cast<std::uint64_t>(constants_.clock.period().femtoseconds());
  const std::uint64_t waited = ports_.wait_femtoseconds() / period;
  statistics_.port_wait_cycles += waited - statistics_.port_wait_cycles.value();
  return statistics_;
}

std::string SmCore::waiting_for() const {
  if (turnover_.empty()) return "";
  std::string text = front_end_.waiting_for();
  if (const std::string blocks = local_scheduler_.waiting_for(); !blocks.empty())
    text += (text.empty() ? "" : "; ") + blocks;
  if (l1_.misses().used() > 0)
    text += "; " + std::to_string(l1_.misses().used()) + " misses outstanding";
  text += bulk_.waiting_for();
  text += dependencies_.waiting_for();
  text += remote_.waiting_for() + clusters_.waiting_for();
  text += translation_.waiting_for();
  const std::string requests = ports_.waiting_for();
  if (!requests.empty()) text += "; " + requests;
  const std::string standing = standing_blocks(blocks_, front_end_, constants_.setup.tenants);
  if (!standing.empty()) text += "\n    " + standing;
  return text;
}

void SmCore::serialize(Archive& archive) {
  archive.section("sm", 18);
  archive(statistics_, front_end_, faultable_, ports_, l1_, stores_, flights_, load_store_,
          translation_, mistakes_, blocks_, shootdowns_, printing_, turnover_, issue_held_, code_,
          constant_cache_, constant_, watch_, mbarriers_, bulk_, warpgroups_, clusters_, remote_);
}

}  // namespace lockstep
