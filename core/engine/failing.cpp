/// How a run fails: one rank says why, all of them stop.
///
/// An exception is kept until the ranks meet next; there all learn which rank failed, that rank
/// throws its message and the others throw StoppedElsewhere.  So nobody waits for a rank that is
/// gone, and of several failures only one is reported.
#include <array>

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

void Engine::State::report_stall() {
  std::string waiting;
  std::size_t listed = 0;
  std::size_t unlisted = 0;
  for (const LocalComponent& local : components) {
    const std::string reason = local.component->waiting_for();
    if (reason.empty() && local.component->finished()) continue;
    if (listed == most_waiters) {
      ++unlisted;
      continue;
    }
    ++listed;
    waiting += "\n  " + graph.name(local.id) + ": " + (reason.empty() ? "is not finished" : reason);
  }
  if (unlisted > 0) waiting += "\n  and " + std::to_string(unlisted) + " more";
  const auto* begin = reinterpret_cast<const std::byte*>(waiting.data());
  const std::vector<Communicator::Bytes> all =
      communicator.gather(Communicator::Bytes(begin, begin + waiting.size()));
  if (communicator.rank() != 0) throw StoppedElsewhere();

  std::string text = "stalled at " + to_text(boundary) +
                     ": no component will ever act again, but some are not finished";
  for (const Communicator::Bytes& part : all) {
    text.append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  throw RunError(text);
}

}  // namespace lockstep
