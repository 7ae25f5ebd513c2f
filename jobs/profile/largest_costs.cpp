#include "jobs/profile/largest_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lockstep {
namespace {

constexpr std::size_t shown = 3;
constexpr double uneven = 1.2;  ///< largest over mean from which on the imbalance is reported

struct Cost {
  double seconds = 0;
  std::string words;
};

struct KindCost {
  std::uint64_t sum = 0, most = 0, components = 0;
  std::string largest;
};

std::map<std::string, KindCost> by_kind(const std::vector<ComponentCostRow>& components) {
  std::map<std::string, KindCost> kinds;
  for (const ComponentCostRow& row : components) {
    KindCost& kind = kinds[kind_of_component(row.component)];
    kind.sum += row.nanoseconds;
    ++kind.components;
    if (row.nanoseconds < kind.most || (kind.most > 0 && row.nanoseconds == kind.most)) continue;
    kind.most = row.nanoseconds;
    kind.largest = row.component;
  }
  return kinds;
}

std::string words_of(const std::string& name, const KindCost& kind) {
  if (kind.components == 1) return name;
  const double times = static_cast<double>(kind.most) * static_cast<double>(kind.components) /
                       static_cast<double>(std::max<std::uint64_t>(kind.sum, 1));
  const std::string all = fmt::format("all {} of kind {}", kind.components, name);
  if (times < uneven) return all + ", evenly";
  return fmt::format("{}: {} costs {:.1f} times the mean", all, kind.largest, times);
}

/// Returns the name of the rank for which the others wait: the one that waits least.
std::string waiting_words(const std::vector<RankRow>& ranks) {
  if (ranks.size() == 1) return "waiting for slower threads";
  const auto slowest =
      std::min_element(ranks.begin(), ranks.end(),
                       [](const RankRow& a, const RankRow& b) { return a.waiting < b.waiting; });
  return fmt::format("waiting, most of all for rank {}", slowest->rank);
}

}  // namespace

std::string kind_of_component(const std::string& name) {
  return name.substr(0, name.find('['));
}

std::string largest_costs_text(const std::vector<ComponentCostRow>& components,
                               const std::vector<RankRow>& ranks) {
  RankRow all;
  for (const RankRow& rank : ranks) {
    all.wall += rank.wall;
    all.working += rank.working;
    all.synchronising += rank.synchronising;
    all.exchanging += rank.exchanging;
    all.waiting += rank.waiting;
    all.other += rank.other;
  }
  std::vector<Cost> costs{{all.synchronising, "opening and closing windows, copying of messages"},
                          {all.exchanging, "exchange of messages between ranks"},
                          {all.waiting, waiting_words(ranks)},
                          {all.other, "recording epochs"}};
  const std::map<std::string, KindCost> kinds = by_kind(components);
  double sum = 0;
  for (const auto& [name, kind] : kinds) sum += static_cast<double>(kind.sum);
  for (const auto& [name, kind] : kinds) {
    const double part = static_cast<double>(kind.sum) / std::max(sum, 1.0);
    costs.push_back({all.working * part, words_of(name, kind)});
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const Cost& a, const Cost& b) { return a.seconds > b.seconds; });
  std::string text = "largest costs:\n";
  for (std::size_t i = 0; i < std::min(shown, costs.size()); ++i) {
    text += fmt::format("  {:.0f} % {}\n", 100 * costs[i].seconds / std::max(all.wall, 1e-9),
                        costs[i].words);
  }
  return text;
}

}  // namespace lockstep
