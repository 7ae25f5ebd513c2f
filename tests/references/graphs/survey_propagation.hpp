#pragma once

// Reference of the workload survey_propagation: each message from the clauses of its variables, in
// the order of the formula.

#include <algorithm>
#include <span>
#include <vector>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::survey_propagation {

struct Chances {
  float like = 1, unlike = 1;
};

/// Of the surveys at `places`, literals of one variable: without that of `except`.
inline Chances chances(std::span<const unsigned> literal, std::span<const float> surveys,
                       const std::vector<unsigned>& places, unsigned sign, std::size_t except) {
  Chances found;
  for (const unsigned place : places) {
    if (place != except) {
      float& chance = literal[place] % 2 == sign ? found.like : found.unlike;
      chance *= 1 - surveys[place];
    }
  }
  return found;
}

/// How likely one side is, of that side, the other one, and neither.
inline float share(float side, float other, float neither) {
  const float sum = side + other + neither;
  return sum > 0 ? side / sum : 0;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const auto literal = buffers.as<unsigned>("literal");
  const auto count = buffers.as<unsigned>("count"), filled = buffers.as<unsigned>("filled");
  std::vector<std::vector<unsigned>> places(count.size());
  for (unsigned place = 0; place < literal.size(); ++place)
    places[literal[place] / 2].push_back(place);
  for (std::size_t variable = 0; variable < count.size(); ++variable)
    count[variable] = filled[variable] = static_cast<unsigned>(places[variable].size());
  buffers.as<unsigned>("used")[0] = static_cast<unsigned>(literal.size());

  auto surveys = buffers.as<float>("survey"), updated = buffers.as<float>("updated");
  for (std::int64_t round = 0; round < 2 * integer(parameters, "rounds"); ++round) {
    std::vector<float> away(literal.size());
    for (std::size_t place = 0; place < literal.size(); ++place) {
      const auto [like, unlike] =
          chances(literal, surveys, places[literal[place] / 2], literal[place] % 2, place);
      away[place] = share((1 - unlike) * like, (1 - like) * unlike, like * unlike);
    }
    for (std::size_t place = 0; place < literal.size(); place += 3) {
      updated[place] = away[place + 1] * away[place + 2];
      updated[place + 1] = away[place] * away[place + 2];
      updated[place + 2] = away[place] * away[place + 1];
    }
    std::swap(surveys, updated);
  }
  for (std::size_t variable = 0; variable < count.size(); ++variable) {
    const auto [like, unlike] = chances(literal, surveys, places[variable], 0, literal.size());
    const float truth = (1 - like) * unlike, falsehood = (1 - unlike) * like;
    const float sum = truth + falsehood + like * unlike;
    buffers.as<float>("bias")[variable] = sum > 0 ? (truth - falsehood) / sum : 0;
  }
}

}  // namespace lockstep::reference::survey_propagation
