#include "core/engine/window/window.hpp"

#include <algorithm>

#include "core/error/error.hpp"
#include "core/exec/tick_clock.hpp"
#include "core/memory/warm.hpp"
#include "core/random/random.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t not_here = ~std::uint32_t{0};
constexpr std::uint32_t shuffle_purpose = 1;
constexpr std::size_t most_window_costs = std::size_t{4} << 20;

}  // namespace

Window::Window(const Graph& graph, const Assignment& assignment, int rank,
               const std::vector<int>& neighbours, std::span<const LocalComponent> components,
               const EngineOptions& options)
    : local_(graph.nodes().size(), not_here),
      shares_(static_cast<std::size_t>(options.threads)),
      next_(graph.kinds().size(), Time::never()),
      reached_(graph.kinds().size()),
      horizons_(graph.kinds().size()),
      clock_cost_(measure_ordered_ticks_cost()),
      ticks_per_nanosecond_(options.profile ? measure_ticks_per_nanosecond() : 1),
      profiling_(options.profile),
      shuffle_(options.shuffle),
      seed_(options.test_seed) {
  slots_.resize(components.size());
  positions_.resize(components.size());
  component_ticks_.resize(components.size());
  for (std::size_t i = 0; i < components.size(); ++i) {
    Slot& slot = slots_[i];
    slot.component = components[i].component;
    slot.id = components[i].id;
    slot.kind = graph.nodes()[slot.id.value()].kind.value();
    slot.share = static_cast<std::uint16_t>(assignment.places[slot.id.value()].thread);
    local_[slot.id.value()] = static_cast<std::uint32_t>(i);
    shares_[slot.share].slots.push_back(static_cast<std::uint32_t>(i));
  }
  prepare_workers(graph, assignment, rank, neighbours, options.threads);
  for (Share& share : shares_) order_longest_first(share);
  settle();
}

void Window::prepare_workers(const Graph& graph, const Assignment& assignment, int rank,
                             const std::vector<int>& neighbours, int threads) {
  const std::size_t kinds = graph.kinds().size();
  const std::size_t ids = graph.nodes().size();
  const auto prepare_bag = [&](Mailbag& bag) {
    for (const Share& share : shares_) bag.logs.emplace_back(share.slots.size());
  };
  const auto to_slot = [&](Mailbag& bag, std::uint32_t slot, CacheAlignedVector<Time>& floor) {
    return MailTarget{&bag.logs[slots_[slot].share], &floor[slots_[slot].kind], slot};
  };
  arrivals_floor_.assign(kinds, Time::never());
  for (Arrivals& arrivals : arrivals_) {
    prepare_bag(arrivals.bag);
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
      arrivals.targets.push_back(to_slot(arrivals.bag, slot, arrivals_floor_));
  }

  std::vector<std::size_t> remote_targets;  // one target per neighbour: two outboxes fill one log
  for (const int neighbour : neighbours) {
    const auto destinations =
        std::count_if(assignment.places.begin(), assignment.places.end(),
                      [&](const Place& place) { return place.rank == neighbour; });
    remote_targets.push_back(2 * static_cast<std::size_t>(destinations));
  }

  for (int thread = 0; thread < threads; ++thread) {
    Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
    worker.floor.assign(kinds, Time::never());
    worker.remote_floor.assign(kinds, Time::never());
    for (const std::size_t most : remote_targets) worker.remote.emplace_back(most);
    for (std::size_t side = 0; side < 2; ++side) {
      prepare_bag(worker.bags[side]);
      std::vector<MailTarget> targets(ids);
      for (std::uint32_t id = 0; id < ids; ++id) {
        const int home = assignment.places[id].rank;
        const auto neighbour = std::lower_bound(neighbours.begin(), neighbours.end(), home);
        if (home == rank) {
          targets[id] = to_slot(worker.bags[side], local_[id], worker.floor);
        } else if (neighbour != neighbours.end() && *neighbour == home) {
          targets[id] = {&worker.remote[static_cast<std::size_t>(neighbour - neighbours.begin())],
                         &worker.remote_floor[graph.nodes()[id].kind.value()], id};
        }
      }
      worker.outboxes[side].attach(std::move(targets));
    }
  }
}

void Window::run(Executor& executor, const std::vector<Time>& horizons) {
  horizons_ = horizons;
  everyone_ = false;
  observer_ = nullptr;
  ++counted_windows_;
  run_window(executor);
}

void Window::run_everyone(Executor& executor, Time horizon, EpochObserver* observer) {
  horizons_.assign(horizons_.size(), horizon);
  everyone_ = true;
  observer_ = observer;
  run_window(executor);
}

void Window::run_window(Executor& executor) {
  ++window_;
  weight_ = window_ % sample_interval == 0 ? sample_interval : 0;
  if (profiling_ && window_ <= profiled_at_first) weight_ = 1;
  executor.run_window(*this, window_);
  reached_ = horizons_;
  next_.assign(next_.size(), Time::never());
  fetch_outcome();  // once more: others may have been at work when the executor asked
  for (const std::unique_ptr<Worker>& worker : workers_) {
    // The worker took no part in this window.
    if (worker->bags[window_ % 2].window() != window_) continue;
    for (std::size_t kind = 0; kind < next_.size(); ++kind) {
      next_[kind] = std::min(next_[kind], worker->floor[kind]);
    }
  }
}

Worker& Window::enter(std::uint32_t thread) {
  Worker& worker = *workers_[thread];
  Mailbag& bag = worker.bags[window_ % 2];
  if (bag.window() != window_) {
    bag.reuse(window_);
    std::fill(worker.floor.begin(), worker.floor.end(), Time::never());
  }
  return worker;
}

void Window::fetch(std::uint32_t index, std::uint64_t number) const {
  __builtin_prefetch(&window_);
  __builtin_prefetch(horizons_.data());
  __builtin_prefetch(reached_.data());
  for (const std::unique_ptr<Worker>& worker : workers_)
    worker->bags[(number - 1) % 2].logs[index].fetch_head();
}

void Window::fetch_outcome() const {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->bags[window_ % 2].logs.front().fetch_head();
    __builtin_prefetch(worker->floor.data());
  }
}

std::uint32_t Window::open(std::uint32_t index, std::uint32_t thread) {
  Share& share = shares_[index];
  Worker& worker = enter(thread);
  if (shares_.size() > 1 && window_ % ordering_interval == sample_interval + 1) {
    order_longest_first(share);
  }
  hand_out_mail(share, index);
  share.select(horizons_, everyone_, worker.floor);
  if (shuffle_) shuffle(share, index);
  return static_cast<std::uint32_t>(share.to_run.size());
}

/// Hands out the mail.  Words written by other cores take long to come, so all of them are
/// prefetched before the first one is needed.
void Window::hand_out_mail(Share& share, std::uint32_t index) {
  share.mail.clear();
  const std::uint64_t last = window_ - 1;
  const auto for_each_log = [&](auto action) {
    for (const std::unique_ptr<Worker>& worker : workers_)
      action(worker->bags[last % 2].logs[index]);
    action(arrivals_[last % 2].bag.logs[index]);
  };
  for_each_log([](const MessageLog& log) { log.fetch_head(); });
  for_each_log([&](const MessageLog& log) {
    if (log.window() == last) log.fetch_bundles();
  });
  for_each_log([&](const MessageLog& log) {
    if (log.window() != last) return;
    for (std::size_t i = 0; i < log.size(); ++i) {
      const Mail mail = log[i];
      const std::uint32_t position = positions_[mail.destination];
      share.mail.add(position, mail);
      share.due[position] = Time::zero();
    }
  });
}

void Window::order_longest_first(Share& share) {
  share.order_longest_first(slots_, next_.size());
  for (std::uint32_t position = 0; position < share.slots.size(); ++position)
    positions_[share.slots[position]] = position;
}

void Window::shuffle(Share& share, std::uint32_t index) {
  Random random(seed_ + window_, ComponentId{index}, shuffle_purpose);
  for (std::size_t left = share.to_run.size(); left > 1; --left) {
    std::swap(share.to_run[left - 1], share.to_run[random.below(left)]);
  }
}

void Window::run(std::uint32_t index, std::uint32_t first, std::uint32_t last,
                 std::uint32_t thread) {
  Share& share = shares_[index];
  Worker& worker = enter(thread);
  if (profiling_) worker.time.begin();
  for (std::uint32_t i = first; i < std::min(first + 2, last); ++i)
    fetch_places(share, share.to_run[i]);
  if (first < last) fetch_messages(share, share.to_run[first]);
  for (std::uint32_t i = first; i < last; ++i) {
    if (i + 2 < last) fetch_places(share, share.to_run[i + 2]);
    if (i + 1 < last) fetch_messages(share, share.to_run[i + 1]);
    if (i + 3 < last) __builtin_prefetch(&slots_[share.slots[share.to_run[i + 3]]]);
    const std::uint32_t position = share.to_run[i];
    run_component(share, position, worker);
    const Slot& slot = slots_[share.slots[position]];
    if (observer_ != nullptr && !failed()) [[unlikely]]
      look_at(slot, worker);
    share.due[position] = std::min(slot.next, slot.pending.earliest());
    Time& floor = worker.floor[slot.kind];
    floor = std::min(floor, share.due[position]);
  }
  // All threads have opened the components in this thread's other bag, so the thread may use that
  // bag again.
  if (last == share.to_run.size())
    for (const MessageLog& log : worker.bags[(window_ + 1) % 2].logs) log.warm_head_to_write();
}

/// Prefetches the words that a component will soon read: its own state, and its mail, which other
/// cores may have written.
void Window::fetch_messages(const Share& share, std::uint32_t position) const {
  static constexpr std::uint32_t most = 24;
  __builtin_prefetch(slots_[share.slots[position]].component);
  share.mail.for_each(position, [](const Mail& mail) {
    mail.for_each(
        [](const MessagePlace& place, const std::byte* message) {
          for (std::uint32_t at = 0; at < place.size; at += cache_line_bytes)
            __builtin_prefetch(message + at);
        },
        most);
  });
}

void Window::fetch_places(const Share& share, std::uint32_t position) {
  constexpr std::uint32_t step = cache_line_bytes / sizeof(MessagePlace);
  share.mail.for_each(position, [](const Mail& mail) {
    warm(mail.bundle);
    if (mail.count > 2) warm(&mail.bundle->first[2]);
    for (std::uint32_t i = MailBundle::near; i < mail.count; i += step)
      warm(mail.further + (i - MailBundle::near));
  });
}

void Window::run_component(Share& share, std::uint32_t position, Worker& worker) {
  if (weight_ == 0 && !profiling_) {
    advance(share, position, worker);
    return;
  }
  const std::uint64_t begin = ticks();
  advance(share, position, worker);
  std::uint64_t spent = ticks() - begin;
  Slot& slot = slots_[share.slots[position]];
  // Another program may have used this core meanwhile.
  if (profiling_ && spent >= long_step)
    spent -= std::min(spent, worker.time.ticks_away(ticks_per_nanosecond_));
  const std::uint64_t smoothed = (slot.cost * std::uint64_t{3} + spent) / 4;
  slot.cost = static_cast<std::uint32_t>(std::min<std::uint64_t>(smoothed, ~std::uint32_t{0}));
  if (!profiling_) return;
  component_ticks_[local_[slot.id.value()]] += spent;
  const auto stands_for = static_cast<std::uint32_t>(spent < long_step ? weight_ : 1);
  if (stands_for > 0 && worker.costs.size() < most_window_costs) {
    worker.costs.push_back({static_cast<std::uint32_t>(window_), slot.id.value(),
                            static_cast<std::uint32_t>(spent), stands_for});
  }
}

void Window::advance(Share& share, std::uint32_t position, Worker& worker) {
  Slot& slot = slots_[share.slots[position]];
  const Time horizon = horizons_[slot.kind];
  const Time due = std::min(slot.next, slot.pending.earliest());
  Inbox inbox;
  try {
    if (share.mail.waits_for(position) || slot.pending.earliest() < horizon) {
      const std::uint64_t begin = weight_ > 0 ? ordered_ticks() : 0;
      inbox = build_inbox(share, position, worker);
      if (weight_ > 0) {
        worker.copying_ticks += weight_ * (ordered_ticks() - begin);
        worker.measured_inboxes += weight_;
      }
    }
    if (inbox.empty() && slot.next >= horizon && !everyone_) return;
    slot.component->advance(horizon, inbox, worker.outboxes[window_ % 2]);
    slot.next = slot.component->next_activity();
    LOCKSTEP_CHECK(slot.next >= horizon, "a component did not advance to its horizon");
  } catch (...) {
    const Time began = inbox.empty() ? due : std::min(due, inbox.front()->arrival);
    Failure::keep_first(worker.failure,
                        {std::min(began, horizon), slot.id, std::current_exception()});
    failed_.store(true, std::memory_order_relaxed);
    share.mail.take(position);
    slot.next = Time::never();
  }
}

/// The time does not count as the component's: an epoch's end says nothing about other windows.
void Window::look_at(const Slot& slot, Worker& worker) {
  const std::uint64_t begin = ticks();
  try {
    observer_->look(horizons_[slot.kind], local_[slot.id.value()], {slot.id, slot.component});
  } catch (...) {
    Failure::keep_first(worker.failure, {horizons_[slot.kind], slot.id, std::current_exception()});
    failed_.store(true, std::memory_order_relaxed);
  }
  worker.looking_ticks += ticks() - begin;
}

Inbox Window::build_inbox(Share& share, std::uint32_t position, Worker& worker) {
  Slot& slot = slots_[share.slots[position]];
  worker.inbox.begin(reached_[slot.kind], horizons_[slot.kind]);
  share.mail.for_each(position, [&](const Mail& mail) { worker.inbox.add(mail, slot.pending); });
  share.mail.take(position);
  return worker.inbox.finish(slot.pending);
}

std::optional<Failure> Window::failure() const {
  std::optional<Failure> first;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->failure) Failure::keep_first(first, *worker->failure);
  }
  return first;
}

double Window::copying_ticks() const {
  double total = 0;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    total += static_cast<double>(worker->copying_ticks) -
             static_cast<double>(worker->measured_inboxes) * clock_cost_;
  }
  return std::max(total, 0.0) / static_cast<double>(workers_.size());
}

std::uint64_t Window::looking_ticks() const {
  std::uint64_t total = 0;
  for (const std::unique_ptr<Worker>& worker : workers_) total += worker->looking_ticks;
  return total;
}

Profile Window::profile(double ticks_per_nanosecond) const {
  Profile result;
  result.component_nanoseconds.resize(local_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    result.component_nanoseconds[slots_[i].id.value()] =
        static_cast<std::uint64_t>(static_cast<double>(component_ticks_[i]) / ticks_per_nanosecond);
  }
  for (const std::unique_ptr<Worker>& worker : workers_) {
    for (WindowCost cost : worker->costs) {
      cost.nanoseconds =
          static_cast<std::uint32_t>(static_cast<double>(cost.nanoseconds) / ticks_per_nanosecond);
      result.costs.push_back(cost);
    }
  }
  std::sort(result.costs.begin(), result.costs.end(), [](const WindowCost& a, const WindowCost& b) {
    return a.window != b.window ? a.window < b.window : a.component < b.component;
  });
  return result;
}

}  // namespace lockstep
