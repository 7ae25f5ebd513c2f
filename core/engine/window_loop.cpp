/// The loop of the simulation.
///
/// Horizon rule.  A message that reaches component v ends a chain of messages that began with an
/// activity of some component u, no earlier than next(u), and that spent at least distance(u, v)
/// on links.  So nothing can reach v before
///
///     horizon(v) = min over u of ( next(u) + distance(u, v) )
///
/// where next(u) is its next_activity() or the earliest message on its way to it, and
/// distance(v, v) is the shortest cycle through v.  Everything v does before its horizon needs no
/// message that is not there yet; hence no message arrives late (and one that does is an error,
/// checked where it is received).
///
/// Two levels.  A chain from u to v either stays on this rank or crosses between ranks.  Those that
/// cross bound the outer window: outer(v), from what all ranks said when they last met and the
/// shortest paths with a crossing.  Those that stay bound each inner window, from what this rank
/// knows now.  A rank runs inner windows until nothing is left to do before its outer horizons,
/// then meets the others.  No horizon passes the next boundary (epoch or stop time), where all
/// components meet.
///
/// The steps of a turn, and what each needs:
///   1. meet:    messages sent in the last outer window change hands, so all its inner windows are
///               over; afterwards every rank knows the same `next` of all.
///   2. boundary: only when the meeting shows that nobody has anything to do before it.
///   3. windows: use the outer horizons of this meeting only; a component is called if it has an
///               activity or an arrival before its horizon.  Within a window components are
///               independent: what they send arrives at or after the receiver's horizon.
/// Idle time costs nothing: horizons follow the next activity, however far away it is.
#include <algorithm>
#include <utility>

#include "core/engine/state.hpp"
#include "core/exec/tick_clock.hpp"
#include "core/random/random.hpp"

namespace lockstep {
namespace {

/// Keeps the other threads ready during its lifetime.
class AtHand {
 public:
  explicit AtHand(Executor& executor) : executor_(executor) { executor_.begin(); }
  ~AtHand() { executor_.end(); }

 private:
  Executor& executor_;
};

}  // namespace

RunSummary Engine::State::run(EpochObserver& observer, RunControl& control) {
  const AtHand threads(*executor);
  run_began = ticks();
  bool finished = false;
  for (bool going_on = true; going_on;) {
    Agreement own = own_view();
    guard([&] { own.requests = control.requests(); });
    const Agreement agreed = meet(own);
    stop_if_failed(agreed);
    report_progress(control, agreed);

    if (agreed.requests != 0 && !serve_requests(control, agreed.requests)) {
      going_on = false;
    } else if (agreed.earliest() >= boundary) {
      if (boundary == options.stop_at) guard([&] { control.stops(); });
      finished = finish_boundary(observer);
      going_on = !finished;
    } else {
      run_outer_window(agreed);
    }
  }
  return summary(finished);
}

Agreement Engine::State::meet(const Agreement& own) {
  Agreement agreed = meeting.meet(*window, own);
  if (options.profile) window_times.exchanged(meeting.waited_before());
  return agreed;
}

void Engine::State::run_window() {
  if (meetings_apart) meetings_apart->look(window->next(), boundary);
  window->run(*executor, horizons);
  if (options.profile) window_times.add(window->number(), spent());
}

void Engine::State::run_outer_window(const Agreement& agreed) {
  std::vector<Time> outer(agreed.next.size(), boundary);
  if (options.pacing == Pacing::one_activity) {
    for (Time& horizon : outer) horizon = std::min(horizon, agreed.earliest() + Time{1});
  } else {
    across.cap_horizons(agreed.next, outer);
  }
  const auto something_left = [&] {
    const std::vector<Time>& next = window->next();
    return !std::equal(next.begin(), next.end(), outer.begin(), std::greater_equal<>());
  };
  // Ranks sometimes meet earlier than they must, for signals and the progress line.
  const auto enough =
      ticks() + static_cast<std::uint64_t>(meet_at_least_every * ticks_per_nanosecond);
  while (something_left() && ticks() < enough && !window->failed()) {
    choose_horizons(outer);
    run_window();
  }
}

void Engine::State::choose_horizons(const std::vector<Time>& outer) {
  horizons = outer;
  const std::vector<Time>& next = window->next();
  const Time now = *std::min_element(next.begin(), next.end());
  switch (options.pacing) {
    case Pacing::horizons:
      inside.now(next).cap_horizons(next, horizons);
      break;
    case Pacing::shortest_link:
      for (Time& horizon : horizons) horizon = std::min(horizon, now + inside.all().shortest());
      break;
    case Pacing::one_activity:
      for (Time& horizon : horizons) horizon = std::min(horizon, now + Time{1});
      break;
    case Pacing::random_cuts:
      inside.now(next).cap_horizons(next, horizons);
      for (std::size_t kind = 0; kind < horizons.size(); ++kind) {
        Random random(options.test_seed, ComponentId{static_cast<std::uint32_t>(kind)}, cuts++);
        const Time furthest = horizons[kind] - now;
        if (furthest <= Time::zero()) continue;
        const auto span = static_cast<std::uint64_t>(furthest.femtoseconds());
        horizons[kind] = now + Time{1 + static_cast<std::int64_t>(random.below(span))};
      }
      break;
  }
  // What components have simulated stays simulated.
  for (std::size_t kind = 0; kind < horizons.size(); ++kind) {
    horizons[kind] = std::max(horizons[kind], window->reached()[kind]);
  }
}

/// Finishes a boundary that all components have reached, or would reach without an event. Returns
/// true at the end of the run.
bool Engine::State::finish_boundary(EpochObserver& observer) {
  const bool started = boundary > Time::zero();
  if (started) sample(observer);
  Agreement own = own_view();
  guard([&] {
    own.finished = are_finished();
    if (started && communicator.rank() == 0 && observer.wants_account())
      own.requests |= account_wanted;
  });
  if (failure) own.failed_rank = communicator.rank();
  const Agreement agreed = meet(own);
  stop_if_failed(agreed);

  const bool idle = agreed.earliest() == Time::never();
  if (agreed.finished && (started || idle)) return true;
  if (boundary == options.stop_at) return true;
  if ((agreed.requests & account_wanted) != 0) give_account(observer);
  if (idle) report_stall();
  // Boundaries before the next activity are passed over: nothing would have changed.
  boundary_for = agreed.earliest();
  boundary = boundary_after(boundary_for);
  return false;
}

/// Returns the time of the component, on any rank, that has come furthest.
Time Engine::State::furthest() const {
  Time here;
  for (const Time reached : window->reached()) here = std::max(here, reached);
  for (const Time reached : restored) here = std::max(here, reached);
  std::int64_t least[1] = {-here.femtoseconds()};
  communicator.minimum(least);
  return Time{-least[0]};
}

Time Engine::State::catch_up(EpochObserver& observer) {
  const Time here = furthest();
  if (here == Time::zero()) return here;
  const AtHand threads(*executor);
  const Time next = std::exchange(boundary, here);
  const auto look = [&] {
    Agreement agreed = meet(own_view());
    stop_if_failed(agreed);
    return agreed;
  };
  for (Agreement agreed = look(); agreed.earliest() < boundary; agreed = look())
    run_outer_window(agreed);
  sample(observer);
  look();
  boundary = next;
  return here;
}

bool Engine::State::are_finished() const {
  return std::all_of(components.begin(), components.end(),
                     [](const LocalComponent& c) { return c.component->finished(); });
}

bool Engine::State::settle(const std::function<bool()>& has_arrived) {
  constexpr Time step{1'000'000'000};
  const AtHand threads(*executor);
  const auto all = [&](const std::function<bool()>& condition) {
    Agreement own = own_view();
    guard([&] { own.finished = condition(); });
    if (failure) own.failed_rank = communicator.rank();
    Agreement agreed = meet(own);
    stop_if_failed(agreed);
    return agreed;
  };
  if (!all([&] { return are_finished(); }).finished) return false;
  for (Agreement agreed = all(has_arrived); !agreed.finished; agreed = all(has_arrived)) {
    boundary += step;
    for (; agreed.earliest() < boundary; agreed = all([] { return false; }))
      run_outer_window(agreed);
    window->run_everyone(*executor, boundary, nullptr);
  }
  return true;
}

Time Engine::State::boundary_after(Time activity) const {
  if (options.epoch == Time::never()) return options.stop_at;
  const std::int64_t epochs = activity / options.epoch + 1;
  if (epochs > Time::never() / options.epoch) return options.stop_at;
  return std::min(options.epoch * epochs, options.stop_at);
}

}  // namespace lockstep
