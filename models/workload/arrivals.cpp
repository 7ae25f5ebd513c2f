#include "models/workload/arrivals.hpp"

#include <array>
#include <functional>

#include "core/random/fixed_log.hpp"
#include "core/random/random.hpp"

namespace lockstep {

namespace {

constexpr std::uint64_t most_arrivals = 1'000'000;
constexpr std::uint32_t arrivals_purpose = 0x6172'7276;

/// Gap number n of the tenant as a share of one, in [0, 1).
double share(std::uint64_t seed, std::uint32_t tenant, std::uint64_t n) {
  const auto words = random_block(seed, ComponentId(tenant), arrivals_purpose, n);
  return unit_interval(std::uint64_t{words[0]} << 32 | words[1]);
}

Time scaled(Time span, double factor) {
  return Time{static_cast<std::int64_t>(static_cast<double>(span.femtoseconds()) * factor)};
}

Time positive(const Node& node) {
  const Time time = node.time();
  if (time <= Time::zero()) throw node.error("is no time between arrivals", "write more than 0us");
  return time;
}

std::vector<Time> read_times(const Node& list, Time first) {
  std::vector<Time> times;
  for (const Node& node : list.items()) {
    const Time time = node.time();
    if (time < (times.empty() ? first : times.back()))
      throw node.error("lies before the arrival before it",
                       "write times in ascending order, from arrival on");
    times.push_back(time);
  }
  if (times.empty()) throw list.error("has no times", "write at: [10us, 50us]");
  return times;
}

/// `gap(n)`: between arrival n - 1, or `first`, and arrival n.
std::vector<Time> add_up(const Node& node, Time first,
                         const std::function<Time(std::uint64_t)>& gap) {
  const Node count = node.at("count");
  const std::uint64_t all = count.unsigned_integer();
  if (all == 0 || all > most_arrivals)
    throw count.error("is no number of arrivals", "write 1 to 1000000");
  std::vector<Time> times;
  for (std::uint64_t n = 0; n < all; ++n) times.push_back(first += gap(n));
  return times;
}

}  // namespace

std::vector<Time> read_arrivals(const Node& node, Time first, std::uint64_t seed,
                                std::uint32_t tenant) {
  std::vector<Time> times;
  if (const Node at = node.find("at"); at.exists()) {
    times = read_times(at, first);
  } else if (const Node every = node.find("every"); every.exists()) {
    const Time gap = positive(every);
    times = add_up(node, first, [&](std::uint64_t n) { return n == 0 ? Time::zero() : gap; });
  } else if (const Node poisson = node.find("poisson"); poisson.exists()) {
    const Time mean = positive(poisson);
    times = add_up(node, first, [&](std::uint64_t n) {
      return scaled(mean, -fixed_log(1.0 - share(seed, tenant, n)));
    });
  } else if (const Node uniform = node.find("uniform"); uniform.exists()) {
    const std::vector<Node> ends = uniform.items();
    if (ends.size() != 2)
      throw uniform.error("needs the least and the largest gap", "write uniform: [100us, 300us]");
    const Time least = ends[0].time(), most = positive(ends[1]);
    if (least < Time::zero() || least > most)
      throw uniform.error("needs the least and the largest gap", "write uniform: [100us, 300us]");
    times = add_up(node, first, [&](std::uint64_t n) {
      return least + scaled(most - least, share(seed, tenant, n));
    });
  } else {
    throw node.error("says nothing of when", "write every, uniform, poisson or at");
  }
  node.reject_unknown_keys();
  return times;
}

}  // namespace lockstep
