#include "core/engine/inside_distances.hpp"

#include <algorithm>

namespace lockstep {

InsideDistances::InsideDistances(const Graph& graph, const Assignment& assignment, int rank)
    : graph_(graph), assignment_(assignment), rank_(rank) {
  tables_.emplace(0, distances_inside(graph, assignment, rank));
}

void InsideDistances::watch(std::span<const LocalComponent> components) {
  constexpr std::size_t most_kinds = 64;
  for (const LocalComponent& local : components) {
    const auto* const receiver = dynamic_cast<const AnswerReceiver*>(local.component);
    if (receiver == nullptr) continue;
    const std::size_t kind = graph_.nodes()[local.id.value()].kind.value();
    auto place = std::find_if(receivers_.begin(), receivers_.end(),
                              [kind](const Receivers& one) { return one.kind == kind; });
    if (place == receivers_.end()) {
      if (receivers_.size() == most_kinds) continue;
      place = receivers_.insert(place, {kind, {}});
    }
    place->components.push_back(receiver);
  }
}

const Distances& InsideDistances::now(const std::vector<Time>& next) {
  std::uint64_t quiet = 0;
  for (std::size_t i = 0; i < receivers_.size(); ++i)
    if (is_quiet(receivers_[i], next)) quiet |= std::uint64_t{1} << i;
  return table(quiet);
}

bool InsideDistances::is_quiet(const Receivers& receivers, const std::vector<Time>& next) const {
  return next[receivers.kind] == Time::never() &&
         std::none_of(receivers.components.begin(), receivers.components.end(),
                      [](const AnswerReceiver* one) { return one->awaits_answers(); });
}

const Distances& InsideDistances::table(std::uint64_t quiet) {
  const auto known = tables_.find(quiet);
  if (known != tables_.end()) return known->second;
  std::vector<bool> quiet_kinds(graph_.kinds().size());
  for (std::size_t i = 0; i < receivers_.size(); ++i)
    if ((quiet >> i & 1) != 0) quiet_kinds[receivers_[i].kind] = true;
  return tables_.emplace(quiet, distances_inside(graph_, assignment_, rank_, quiet_kinds))
      .first->second;
}

}  // namespace lockstep
