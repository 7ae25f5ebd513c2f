#pragma once

// Reference of the workload similarity_score: pair by pair.

#include "tests/references/buffers.hpp"

namespace lockstep::reference::similarity_score {

/// As the kernel draws what a query is compared with.
inline unsigned scrambled(unsigned number) {
  number = (number ^ number >> 16) * 0x7feb352dU;
  number = (number ^ number >> 15) * 0x846ca68bU;
  return number ^ number >> 16;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  constexpr unsigned features = 16, lanes = 32;
  const auto value = [&](const char* name) {
    return static_cast<unsigned>(integer(parameters, name));
  };
  const auto feature = buffers.as<unsigned char>("document");
  const auto share = buffers.as<unsigned>("share"), length = buffers.as<unsigned>("length");
  const auto nearest = buffers.as<unsigned>("nearest"), score = buffers.as<unsigned>("score");
  const unsigned bytes = features * value("stride");
  const auto similarity = [&](unsigned a, unsigned b) {
    unsigned sum = 0;
    for (unsigned i = 0; i < features; ++i)
      sum += unsigned{feature[bytes * a + i]} * feature[bytes * b + i];
    return sum;
  };
  const unsigned documents = value("documents"), queries = value("queries");
  for (unsigned query = 0; query < queries; ++query) {
    const unsigned drawn = scrambled(query) % 100;
    const bool popular = drawn < value("popular");
    const bool both = !popular && drawn < value("popular") + value("both");
    share[query] = popular ? 256 : both ? 128 : 0;
    length[query] = value(popular ? "popular_pairs" : "other_pairs");
    const unsigned first = documents / queries * query;
    for (unsigned lane = 0; lane < lanes; ++lane) nearest[lanes * query + lane] = first;
    for (unsigned pair = 0; pair < length[query]; ++pair) {
      const unsigned asked = scrambled(scrambled(query) + pair);
      const bool among_popular = popular || (both && asked < 1U << 31);
      const unsigned with = among_popular ? asked % value("front") : (first + pair) % documents;
      const unsigned best = lanes * query + pair % lanes;
      if (with == first || similarity(first, with) <= score[best]) continue;
      score[best] = similarity(first, with);
      nearest[best] = with;
    }
  }
}

}  // namespace lockstep::reference::similarity_score
