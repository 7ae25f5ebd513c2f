/// Failure of a run: one rank reports the reason, and all ranks stop.
///
/// An exception is kept until the ranks meet next.  There all learn which rank failed: that rank
/// throws its message, and the others throw StoppedElsewhere.  So no rank waits for one that is
/// gone, and only one of several failures is reported.
#include <array>
#include <cstring>
#include <map>
#include <span>

#include "core/engine/state.hpp"
#include "core/error/error.hpp"
#include "core/time/format.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_waiters = 40;

std::string describe(const std::exception_ptr& exception, const Graph& graph) {
  try {
    std::rethrow_exception(exception);
  } catch (const LateMessage& late) {
    const ComponentId sender = graph.edges().at(late.link.value()).source;
    return "internal error\na message from " + graph.name(sender) + " " + late.what();
  } catch (const InternalError& error) {
    return std::string("internal error") + "\n" + error.what();
  } catch (const std::bad_alloc&) {
    return "error\nout of memory";
  } catch (const std::exception& error) {
    return std::string("error") + "\n" + error.what();
  } catch (...) {
    return "error\nan exception of unknown type";
  }
}

}  // namespace

void Engine::State::build_components(const ComponentFactory& factory) {
  guard([&] {
    for (std::uint32_t id = 0; id < graph.nodes().size(); ++id) {
      if (assignment.places[id].rank != communicator.rank()) continue;
      owned.push_back(factory(ComponentId{id}));
      components.push_back({ComponentId{id}, owned.back().get()});
    }
    inside.watch(components);
    window.emplace(graph, assignment, communicator.rank(), meeting.neighbours(), components,
                   options);
  });
  Agreement agreed;
  std::array<std::int64_t, 1> failed{failure ? communicator.rank() : Agreement::nobody};
  communicator.minimum(failed);
  agreed.failed_rank = static_cast<int>(failed[0]);
  stop_if_failed(agreed);
}

void Engine::State::guard(const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    if (!failure) failure = Failure{boundary, ComponentId::none(), std::current_exception()};
  }
}

void Engine::State::stop_if_failed(const Agreement& agreed) {
  if (agreed.failed_rank == Agreement::nobody) return;
  if (agreed.failed_rank != communicator.rank()) throw StoppedElsewhere();
  const std::optional<Failure> of_component = window ? window->failure() : std::nullopt;
  fail(of_component ? *of_component : *failure);
}

void Engine::State::fail(const Failure& failed) const {
  try {
    std::rethrow_exception(failed.exception);
  } catch (const UserError&) {
    throw;
  } catch (const RunError&) {
    throw;  // the observer's own words
  } catch (...) {
  }
  const std::string described = describe(failed.exception, graph);
  const std::size_t line = described.find('\n');
  std::string text = described.substr(0, line);
  if (communicator.size() > 1) text += " on rank " + std::to_string(communicator.rank());
  if (failed.component.valid()) text += " in " + graph.name(failed.component);
  text += " at " + to_text(failed.time) + ": " + described.substr(line + 1);
  throw RunError(text);
}

/// Gathers the texts in the order of components, however they are dealt to ranks.
std::string Engine::State::gather_waiting() {
  Communicator::Bytes own;
  for (const LocalComponent& local : components) {
    const std::string reason = local.component->waiting_for();
    if (reason.empty() && local.component->finished()) continue;
    const std::string line =
        graph.name(local.id) + ": " + (reason.empty() ? "is not finished" : reason);
    const std::array<std::uint32_t, 2> head{local.id.value(),
                                            static_cast<std::uint32_t>(line.size())};
    const auto bytes = std::as_bytes(std::span(head));
    own.insert(own.end(), bytes.begin(), bytes.end());
    const auto text = std::as_bytes(std::span(line));
    own.insert(own.end(), text.begin(), text.end());
  }
  std::map<std::uint32_t, std::string> lines;
  for (const Communicator::Bytes& part : communicator.gather(std::move(own))) {
    std::array<std::uint32_t, 2> head;
    for (std::size_t at = 0; at < part.size(); at += sizeof head + head[1]) {
      std::memcpy(head.data(), &part[at], sizeof head);
      lines[head[0]].assign(reinterpret_cast<const char*>(part.data() + at + sizeof head), head[1]);
    }
  }
  std::string text;
  std::size_t listed = 0;
  for (const auto& [id, line] : lines)
    if (listed++ < most_waiters) text += "\n  " + line;
  if (listed > most_waiters) text += "\n  and " + std::to_string(listed - most_waiters) + " more";
  return text;
}

void Engine::State::give_account(EpochObserver& observer) {
  const std::string waiting = gather_waiting();
  if (communicator.rank() == 0) guard([&] { observer.account(boundary, waiting); });
  Agreement own = own_view();
  stop_if_failed(meet(own));
}

void Engine::State::report_stall() {
  const std::string waiting = gather_waiting();
  if (communicator.rank() != 0) throw StoppedElsewhere();
  throw RunError("stalled at " + to_text(boundary) +
                 ": no component will ever act again, but some are not finished" + waiting);
}

}  // namespace lockstep
