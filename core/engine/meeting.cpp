#include "core/engine/meeting.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "core/exec/tick_clock.hpp"

namespace lockstep {
namespace {

constexpr unsigned request_bits = 16;

/// Pairs of ranks with a link between them.
std::set<std::pair<int, int>> adjacent_ranks(const Graph& graph, const Assignment& assignment) {
  std::set<std::pair<int, int>> pairs;
  std::pair<int, int> last{0, 0};
  for (const Graph::Edge& edge : graph.edges()) {
    const int a = assignment.places[edge.source.value()].rank;
    const int b = assignment.places[edge.destination.value()].rank;
    if (a == b || last == std::pair{a, b}) continue;
    last = {a, b};
    pairs.insert({a, b});
    pairs.insert({b, a});
  }
  return pairs;
}

}  // namespace

Time Agreement::earliest() const {
  return next.empty() ? Time::never() : *std::min_element(next.begin(), next.end());
}

Meeting::Meeting(const Graph& graph, const Assignment& assignment, Communicator& communicator)
    : communicator_(communicator), kinds_(graph.kinds().size()) {
  const std::set<std::pair<int, int>> pairs = adjacent_ranks(graph, assignment);
  for (const auto& [a, b] : pairs) {
    if (a == communicator.rank()) neighbours_.push_back(b);
  }
  const auto size = static_cast<std::size_t>(communicator.size());
  all_are_neighbours_ = pairs.size() == size * (size - 1);
  outgoing_.resize(neighbours_.size());
  incoming_.resize(neighbours_.size());
}

/// Encodes values so that an elementwise minimum over the ranks is the agreement.
std::vector<std::int64_t> Meeting::encode(const Agreement& own) const {
  std::vector<std::int64_t> values;
  for (const Time next : own.next) values.push_back(next.femtoseconds());
  values.push_back(own.failed_rank);
  values.push_back(own.finished ? 1 : 0);
  for (unsigned bit = 0; bit < request_bits; ++bit) {
    values.push_back((own.requests >> bit) & 1 ? -1 : 0);
  }
  values.push_back(last_wait_);
  return values;
}

Agreement Meeting::decode(const std::vector<std::int64_t>& values) {
  Agreement agreed;
  auto value = values.begin();
  for (std::size_t kind = 0; kind < kinds_; ++kind) agreed.next.push_back(Time{*value++});
  agreed.failed_rank = static_cast<int>(*value++);
  agreed.finished = *value++ != 0;
  for (unsigned bit = 0; bit < request_bits; ++bit) {
    agreed.requests |= *value++ < 0 ? 1u << bit : 0u;
  }
  // The shortest wait of all ranks is the price of the exchange itself.
  waited_before_ = static_cast<std::uint64_t>(last_wait_ - *value);
  waiting_ticks_ += waited_before_;
  return agreed;
}

Agreement Meeting::meet(Window& window, Agreement own) {
  ++exchanges_;
  own.next = window.next();
  if (communicator_.size() == 1) return own;
  const std::uint64_t entry = ticks();

  for (Communicator::Bytes& bytes : outgoing_) bytes.clear();
  const std::size_t record_bytes = (kinds_ + 3 + request_bits) * sizeof(std::int64_t);
  for (Communicator::Bytes& bytes : outgoing_) bytes.resize(record_bytes);
  window.collect_remote(outgoing_, own.next);
  std::vector<std::int64_t> agreed = encode(own);
  for (Communicator::Bytes& bytes : outgoing_) {
    std::memcpy(bytes.data(), agreed.data(), record_bytes);
  }

  const std::uint64_t begin = ticks();
  communicator_.exchange(neighbours_, outgoing_, incoming_);
  if (!all_are_neighbours_) communicator_.minimum(agreed);
  const auto waited = static_cast<std::int64_t>(ticks() - begin);

  std::vector<std::int64_t> theirs(agreed.size());
  for (const Communicator::Bytes& bytes : incoming_) {
    std::memcpy(theirs.data(), bytes.data(), record_bytes);
    for (std::size_t i = 0; i < agreed.size(); ++i) agreed[i] = std::min(agreed[i], theirs[i]);
    window.deliver(std::span(bytes).subspan(record_bytes));
  }
  Agreement result = decode(agreed);
  last_wait_ = waited;
  exchange_ticks_ += ticks() - entry;
  return result;
}

}  // namespace lockstep
