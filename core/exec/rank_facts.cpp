#include "core/exec/rank_facts.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>

#include "core/checkpoint/archive.hpp"

namespace lockstep {
namespace {

using Facts = std::vector<RankFact>;

Communicator::Bytes packed(Facts facts) {
  std::ostringstream out;
  Archive archive = Archive::saving(out);
  archive(facts);
  const std::string text = out.str();
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Facts unpacked(const Communicator::Bytes& bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  Archive archive = Archive::restoring(in);
  Facts facts;
  archive(facts);
  return facts;
}

bool lacks(const Facts& facts, const std::string& name) {
  return std::none_of(facts.begin(), facts.end(),
                      [&](const RankFact& fact) { return fact.name == name; });
}

std::string difference(const Facts& own, const Facts& theirs, std::size_t rank) {
  const auto [a, b] = std::mismatch(own.begin(), own.end(), theirs.begin(), theirs.end());
  const std::string there = "rank " + std::to_string(rank);
  if (a != own.end() && b != theirs.end() && a->name == b->name)
    return there + " has " + b->value + " as " + a->name + ", rank 0 has " + a->value;
  if (a != own.end() && lacks(theirs, a->name))
    return "rank 0 has " + a->name + ", " + there + " has not";
  return there + " has " + b->name + ", rank 0 has not";
}

}  // namespace

std::optional<std::string> first_difference(const Facts& facts, Communicator& communicator) {
  const std::vector<Communicator::Bytes> all = communicator.gather(packed(facts));
  std::string text;
  for (std::size_t rank = 1; rank < all.size() && text.empty(); ++rank) {
    const Facts theirs = unpacked(all[rank]);
    if (theirs != facts) text = difference(facts, theirs, rank);
  }
  std::int64_t alike[1] = {text.empty() ? 1 : 0};
  communicator.minimum(alike);
  if (alike[0] == 1) return std::nullopt;
  return text;
}

}  // namespace lockstep
