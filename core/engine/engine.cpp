#include "core/engine/engine.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/engine/state.hpp"
#include "core/error/error.hpp"
#include "core/exec/tick_clock.hpp"

namespace lockstep {
namespace {

void check(const Graph& graph, const Assignment& assignment, const Communicator& communicator,
           const EngineOptions& options) {
  LOCKSTEP_CHECK(options.threads >= 1 && options.threads < 4096, "a senseless number of threads");
  LOCKSTEP_CHECK(options.epoch > Time::zero(), "an epoch must last");
  LOCKSTEP_CHECK(options.epoch != Time::never() || options.stop_at != Time::never(),
                 "a run needs epochs or a stop time to end at");
  LOCKSTEP_CHECK(assignment.places.size() == graph.nodes().size(),
                 "the assignment does not fit the graph");
  for (const Place& place : assignment.places) {
    LOCKSTEP_CHECK(place.rank >= 0 && place.rank < communicator.size() && place.thread >= 0 &&
                       place.thread < options.threads,
                   "a component is assigned to a rank or thread that does not exist");
  }
}

Assignment checked(const Graph& graph, Assignment assignment, const Communicator& communicator,
                   const EngineOptions& options) {
  check(graph, assignment, communicator, options);
  return assignment;
}

std::unique_ptr<Executor> make_executor(int threads) {
  return threads == 1 ? make_serial_executor()
                      : make_thread_executor(static_cast<std::uint32_t>(threads));
}

}  // namespace

Engine::State::State(const Graph& the_graph, Assignment the_assignment,
                     const ComponentFactory& factory, Communicator& the_communicator,
                     EngineOptions the_options)
    : graph(the_graph),
      assignment(checked(the_graph, std::move(the_assignment), the_communicator, the_options)),
      communicator(the_communicator),
      options(std::move(the_options)),
      ticks_per_nanosecond(measure_ticks_per_nanosecond()),
      meeting(graph, assignment, communicator),
      inside(graph, assignment, communicator.rank()),
      across(distances_across(graph, assignment)),
      executor(make_executor(options.threads)),
      window_times(ticks_per_nanosecond) {
  if (options.profile && options.apart) meetings_apart.emplace(graph, *options.apart);
  build_components(factory);
}

Agreement Engine::State::own_view() const {
  Agreement own;
  if (failure || window->failed()) own.failed_rank = communicator.rank();
  return own;
}

bool Engine::State::serve_requests(RunControl& control, unsigned bits) {
  bool go_on = true;
  guard([&] { go_on = control.agreed(bits); });
  // The ranks agree on the answer too: one rank may have failed to write its checkpoint.
  std::array<std::int64_t, 2> answers{failure ? communicator.rank() : Agreement::nobody,
                                      go_on ? 1 : 0};
  communicator.minimum(answers);
  Agreement agreed;
  agreed.failed_rank = static_cast<int>(answers[0]);
  stop_if_failed(agreed);
  return answers[1] != 0;
}

void Engine::State::sample(EpochObserver& observer) {
  guard([&] { observer.prepare(components); });
  window->run_everyone(*executor, boundary, failure ? nullptr : &observer);
  const std::uint64_t begin = ticks();
  Communicator::Bytes contribution;
  if (!failure && !window->failed())
    guard([&] { contribution = observer.sample(boundary, components); });
  const std::vector<Communicator::Bytes> all = communicator.gather(std::move(contribution));
  if (communicator.rank() == 0 && !failure && !window->failed()) {
    guard([&] { observer.collect(boundary, all); });
  }
  observer_ticks += ticks() - begin;
}

void Engine::State::report_progress(RunControl& control, const Agreement& agreed) {
  const std::uint64_t now = ticks();
  if (communicator.rank() != 0 || now < next_progress) return;
  next_progress =
      now + static_cast<std::uint64_t>(options.progress_seconds * 1e9 * ticks_per_nanosecond);
  ProgressReport report;
  report.simulated = std::min(agreed.earliest(), boundary);
  report.stop_at = options.stop_at;
  report.windows = window->windows();
  report.wall_seconds = static_cast<double>(now - run_began) / ticks_per_nanosecond * 1e-9;
  guard([&] { control.progress(report); });
}

TicksSpent Engine::State::spent() const {
  const ExecutorTimes times = executor->times();
  // Looks at components are part of windows.
  const double looking = static_cast<double>(window->looking_ticks()) / options.threads;
  return {static_cast<double>(ticks() - run_began), times.working - looking,
          static_cast<double>(meeting.exchange_ticks()), times.waiting,
          static_cast<double>(observer_ticks) + looking};
}

RunSummary Engine::State::summary(bool finished) const {
  const TicksSpent now = spent();
  RunSummary result;
  result.end = boundary;
  result.finished = finished;
  result.windows = window->windows();
  result.exchanges = meeting.exchanges();
  result.wall_seconds = now.all / ticks_per_nanosecond * 1e-9;
  const double copying = window->copying_ticks();
  const double waiting = now.waiting + static_cast<double>(meeting.waiting_ticks());
  // Overhead is time outside of work and waiting: opening and closing windows, meetings, copying
  // messages.
  const double overhead = now.all - now.working - waiting - now.observing + copying;
  result.synchronisation_share = std::max(0.0, overhead / now.all);
  result.imbalance_share = waiting / now.all;
  return result;
}

Profile Engine::State::make_profile() const {
  Profile result = window->profile(ticks_per_nanosecond);
  const TicksSpent now = spent();
  const double waited = static_cast<double>(meeting.waiting_ticks());
  const double ticks_per_second = ticks_per_nanosecond * 1e9;
  result.working_seconds = std::max(0.0, now.working - window->copying_ticks()) / ticks_per_second;
  result.exchanging_seconds = std::max(0.0, now.exchanging - waited) / ticks_per_second;
  result.sampling_seconds = static_cast<double>(window->looking_ticks()) / ticks_per_second;
  if (meetings_apart && meetings_apart->meetings() > 0)
    result.windows_apart =
        static_cast<double>(window->windows()) / static_cast<double>(meetings_apart->meetings());
  result.times = window_times.times();
  return result;
}

Engine::Engine(const Graph& graph, Assignment assignment, const ComponentFactory& factory,
               Communicator& communicator, EngineOptions options)
    : state_(std::make_unique<State>(graph, std::move(assignment), factory, communicator,
                                     std::move(options))) {}

Engine::~Engine() = default;

RunSummary Engine::run(EpochObserver& observer, RunControl& control) {
  const RunSummary result = state_->run(observer, control);
  state_->profile = state_->make_profile();
  return result;
}

RunSummary Engine::run() {
  EpochObserver observer;
  RunControl control;
  return run(observer, control);
}

Time Engine::catch_up(EpochObserver& observer) {
  return state_->catch_up(observer);
}

bool Engine::settle(const std::function<bool()>& has_arrived) {
  return state_->settle(has_arrived);
}

RunSummary Engine::so_far() const {
  return state_->summary(false);
}

std::span<const LocalComponent> Engine::components() const {
  return state_->components;
}
Communicator& Engine::communicator() const {
  return state_->communicator;
}
const Profile& Engine::profile() const {
  return state_->profile;
}
std::string Engine::limiting_cycle(std::span<const std::string> except) const {
  return lockstep::limiting_cycle(state_->graph, except);
}

}  // namespace lockstep
