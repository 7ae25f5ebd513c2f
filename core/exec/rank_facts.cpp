#include "core/exec/rank_facts.hpp"

#include <algorithm>
#include <cstdint>

#include "core/checkpoint/packed.hpp"

namespace lockstep {
namespace {

using Facts = std::vector<RankFact>;

bool lacks(const Facts& facts, const std::string& name) {
  return std::none_of(facts.begin(), facts.end(),
                      [&](const RankFact& fact) { return fact.name == name; });
}

}  // namespace

std::optional<std::string> first_difference(const Facts& a, const std::string& name_of_a,
                                            const Facts& b, const std::string& name_of_b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return std::nullopt;
  if (in_a != a.end() && in_b != b.end() && in_a->name == in_b->name) {
    return name_of_a + " has " + in_a->value + " as " + in_a->name + ", " + name_of_b + " has " +
           in_b->value;
  }
  if (in_b != b.end() && lacks(a, in_b->name))
    return name_of_b + " has " + in_b->name + ", " + name_of_a + " has not";
  return name_of_a + " has " + in_a->name + ", " + name_of_b + " has not";
}

std::optional<std::string> first_difference(const Facts& facts, Communicator& communicator) {
  const std::vector<Communicator::Bytes> all = communicator.gather(packed(facts));
  std::string text;
  for (std::size_t rank = 1; rank < all.size() && text.empty(); ++rank) {
    text = first_difference(unpacked<Facts>(all[rank]), "rank " + std::to_string(rank), facts,
                            "rank 0")
               .value_or("");
  }
  std::int64_t alike[1] = {text.empty() ? 1 : 0};
  communicator.minimum(alike);
  if (alike[0] == 1) return std::nullopt;
  return text;
}

}  // namespace lockstep
