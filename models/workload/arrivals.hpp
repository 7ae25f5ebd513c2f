/// When a tenant's host program starts: once, or again and again.
///
///     arrivals: {every: 200us, count: 50}
///     arrivals: {uniform: [100us, 300us], count: 50}
///     arrivals: {poisson: 200us, count: 50}
///     arrivals: {at: [10us, 50us, 70us]}
///
/// Gaps are counted from `arrival:` on; the first of `every` is there.  Random gaps belong to
/// (seed, tenant, number).  A program that is still at work when it is to start again starts when
/// it has ended.
/// Source: preemption.md, section 9 (requests that are uniform in time; deadlines).
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters/node.hpp"
#include "core/parameters/parameters.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// Keys under `arrivals`, exactly one rule; `every`, `uniform` and `poisson` need a `count`.
struct ArrivalsKeys {
  Node every, uniform, poisson, at, count;
  static auto schema() {
    using P = ArrivalsKeys;
    return parameters<P>()
        .part("every", &P::every, "time", "time from start to start; the first is at arrival")
        .part("uniform", &P::uniform, "list",
              "the least and the largest time between two starts, all between equally likely")
        .part("poisson", &P::poisson, "time", "mean time between two starts")
        .part("at", &P::at, "list", "times of all starts, in ascending order, from arrival on")
        .part("count", &P::count, "number", "number of starts, 1 to 1000000; not with at");
  }
};

/// Returns the arrivals in ascending order. Throws UserError if the node is no list of arrivals.
std::vector<Time> read_arrivals(const Node& node, Time first, std::uint64_t seed,
                                std::uint32_t tenant);

}  // namespace lockstep
