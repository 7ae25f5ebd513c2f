#include "models/workload/arrivals.hpp"

#include <array>
#include <functional>

#include "core/random/fixed_log.hpp"
#include "core/random/random.hpp"
#include "models/workload/required_key.hpp"

namespace lockstep {

namespace {

constexpr std::uint64_t most_arrivals = 1'000'000;
constexpr std::uint32_t arrivals_purpose = 0x6172'7276;

/// Returns gap number n of the tenant as a share of one, in [0, 1).
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
std::vector<Time> add_up(const Node& count, Time first,
                         const std::function<Time(std::uint64_t)>& gap) {
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
  const auto keys = read_parameters<ArrivalsKeys>(node);
  const int forms =
      keys.every.exists() + keys.uniform.exists() + keys.poisson.exists() + keys.at.exists();
  if (forms != 1)
    throw node.error(forms == 0 ? "does not say when the program starts again"
                                : "says in several ways when the program starts again",
                     "write one of every, uniform, poisson and at");
  if (keys.at.exists()) {
    if (keys.count.exists())
      throw keys.count.error("has no effect beside at", "leave it out: at names all starts");
    return read_times(keys.at, first);
  }
  const Node& count = required_key(node, keys.count, "count");
  if (keys.every.exists()) {
    const Time gap = positive(keys.every);
    return add_up(count, first, [&](std::uint64_t n) { return n == 0 ? Time::zero() : gap; });
  }
  if (keys.poisson.exists()) {
    const Time mean = positive(keys.poisson);
    return add_up(count, first, [&](std::uint64_t n) {
      return scaled(mean, -fixed_log(1.0 - share(seed, tenant, n)));
    });
  }
  const Node& uniform = keys.uniform;
  const std::vector<Node> ends = uniform.items();
  if (ends.size() != 2)
    throw uniform.error("needs the least and the largest gap", "write uniform: [100us, 300us]");
  const Time least = ends[0].time(), most = positive(ends[1]);
  if (least < Time::zero() || least > most)
    throw uniform.error("needs the least and the largest gap", "write uniform: [100us, 300us]");
  return add_up(count, first, [&](std::uint64_t n) {
    return least + scaled(most - least, share(seed, tenant, n));
  });
}

}  // namespace lockstep
