#include "models/workload/recording/collective_parts.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep {
namespace {

using Operation = RecordedCollective::Operation;
using Kind = CollectivePart::Kind;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 38;

/// Words of a collective ahead of its members.
struct Header {
  std::uint32_t operation = 0, root = 0, kernel = 0;
  std::uint32_t element_bytes = 0, members = 0, unused = 0;
  std::uint64_t count = 0;
};

class Ring {
 public:
  explicit Ring(const RecordedCollective& collective)
      : asked_(collective), n_(collective.members.size()) {}

  std::vector<CollectivePart> parts() {
    switch (asked_.operation) {
      case Operation::all_reduce:
        all_reduce();
        break;
      case Operation::broadcast:
        broadcast();
        break;
      case Operation::reduce:
        reduce();
        break;
      case Operation::all_gather:
        for (std::size_t k = 0; k < n_; ++k)
          local(k, receive(k, k * asked_.count), asked_.members[k].send, asked_.count);
        wait();
        gather(asked_.count, n_ * asked_.count, 0);
        break;
      case Operation::reduce_scatter:
        reduce_in_ring(asked_.count, n_ * asked_.count,
                       [&](std::size_t k) { return asked_.members[k].receive; });
        break;
      case Operation::exchange:
        for (std::size_t k = 0; k < n_; ++k) message(asked_.members[k]);
        wait();
        break;
    }
    return std::move(parts_);
  }

 private:
  std::uint64_t send(std::size_t k, std::uint64_t element) const {
    return asked_.members[k].send + element * asked_.element_bytes;
  }
  std::uint64_t receive(std::size_t k, std::uint64_t element) const {
    return asked_.members[k].receive + element * asked_.element_bytes;
  }
  /// Returns an alternating part of scratch memory: one part is sent while the other is filled.
  std::uint64_t scratch(std::size_t k, std::size_t round, std::uint64_t part) const {
    return asked_.members[k].scratch + round % 2 * part * asked_.element_bytes;
  }
  CollectivePart& add(Kind kind, std::size_t k) {
    CollectivePart& part = parts_.emplace_back();
    part.kind = kind;
    part.stream = asked_.members[k].stream;
    return part;
  }
  void copy(std::size_t k, std::uint64_t to, std::uint64_t from, std::uint64_t count) {
    if (count == 0) return;
    CollectivePart& part = add(Kind::copy, k);
    part.to = to;
    part.one = from;
    part.bytes = count * asked_.element_bytes;
  }
  void local(std::size_t k, std::uint64_t to, std::uint64_t from, std::uint64_t count) {
    if (count == 0 || to == from) return;
    CollectivePart& part = add(Kind::local, k);
    part.to = to;
    part.one = part.other = from;
    part.count = count;
  }
  void combine(std::size_t k, std::uint64_t to, std::uint64_t one, std::uint64_t other,
               std::uint64_t count, bool is_last) {
    if (count == 0) return;
    CollectivePart& part = add(Kind::combine, k);
    part.to = to;
    part.one = one;
    part.other = other;
    part.count = count;
    if (is_last) part.divisor = static_cast<std::uint32_t>(n_);
  }
  /// Waits for what was begun since the last wait.
  void wait() {
    std::vector<std::uint32_t> streams;
    for (; waited_ < parts_.size(); ++waited_)
      if (std::find(streams.begin(), streams.end(), parts_[waited_].stream) == streams.end())
        streams.push_back(parts_[waited_].stream);
    for (const std::uint32_t stream : streams) parts_.emplace_back().stream = stream;
    waited_ = parts_.size();
  }

  /// Elements of the part that begins at `first`, of `total`.
  static std::uint64_t size(std::uint64_t first, std::uint64_t part, std::uint64_t total) {
    return first < total ? std::min(part, total - first) : 0;
  }

  /// Leaves the k-th part of all that was sent at `last(k)` of the k-th GPU.
  template <class Place>
  void reduce_in_ring(std::uint64_t part, std::uint64_t total, const Place& last) {
    if (n_ == 1) {
      local(0, last(0), send(0, 0), total);
      return wait();
    }
    for (std::size_t round = 0; round + 1 < n_; ++round) {
      for (std::size_t k = 0; k < n_; ++k) {
        const std::uint64_t first = (k + 2 * n_ - round - 1) % n_ * part;
        const std::uint64_t from = round == 0 ? send(k, first) : scratch(k, round - 1, part);
        copy(k, scratch((k + 1) % n_, round, part), from, size(first, part, total));
      }
      wait();
      const bool is_last = round + 2 == n_;
      for (std::size_t k = 0; k < n_; ++k) {
        const std::uint64_t first = (k + 2 * n_ - round - 2) % n_ * part;
        const std::uint64_t arrived = scratch(k, round, part);
        combine(k, is_last ? last(k) : arrived, send(k, first), arrived, size(first, part, total),
                is_last);
      }
      wait();
    }
  }

  /// Sends parts round until all GPUs have all: GPU k has that of number k + `ahead` first.
  void gather(std::uint64_t part, std::uint64_t total, std::size_t ahead) {
    for (std::size_t round = 0; round + 1 < n_; ++round) {
      for (std::size_t k = 0; k < n_; ++k) {
        const std::uint64_t first = (k + ahead + 2 * n_ - round) % n_ * part;
        copy(k, receive((k + 1) % n_, first), receive(k, first), size(first, part, total));
      }
      wait();
    }
  }

  std::uint64_t share() const { return (asked_.count + n_ - 1) / n_; }

  void all_reduce() {
    reduce_in_ring(share(), asked_.count, [&](std::size_t k) { return receive(k, k * share()); });
    gather(share(), asked_.count, 0);
  }

  /// The root sums its own part in place; parts of the others come from their scratch memory.
  void reduce() {
    const std::uint64_t part = share();
    const std::size_t round = n_ - 2;  // last round
    reduce_in_ring(part, asked_.count, [&](std::size_t k) {
      return k == asked_.root ? receive(k, k * part) : scratch(k, round, part);
    });
    for (std::size_t k = 0; k < n_; ++k)
      if (k != asked_.root)
        copy(k, receive(asked_.root, k * part), scratch(k, round, part),
             size(k * part, part, asked_.count));
    wait();
  }

  /// Sends a part to each GPU; the parts then go around the ring.
  void broadcast() {
    const std::uint64_t part = share();
    for (std::size_t k = 0; k < n_; ++k) {
      const std::uint64_t count = size(k * part, part, asked_.count);
      if (k != asked_.root)
        copy(asked_.root, receive(k, k * part), send(asked_.root, k * part), count);
    }
    local(asked_.root, receive(asked_.root, 0), send(asked_.root, 0), asked_.count);
    wait();
    gather(part, asked_.count, 0);
  }

  void message(const CollectiveMember& member) {
    const auto k = static_cast<std::size_t>(&member - asked_.members.data());
    if (member.is_local != 0)
      local(k, member.receive, member.send, member.count);
    else
      copy(k, member.receive, member.send, member.count);
  }

  const RecordedCollective& asked_;
  const std::size_t n_;
  std::size_t waited_ = 0;
  std::vector<CollectivePart> parts_;
};

}  // namespace

std::vector<std::byte> RecordedCollective::pack() const {
  const Header header{static_cast<std::uint32_t>(operation),      root, kernel, element_bytes,
                      static_cast<std::uint32_t>(members.size()), 0,    count};
  std::vector<std::byte> bytes(sizeof header + members.size() * sizeof(CollectiveMember));
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, members.data(), bytes.size() - sizeof header);
  return bytes;
}

std::optional<RecordedCollective> RecordedCollective::unpack(std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const bool is_exchange = header.operation == static_cast<std::uint32_t>(Operation::exchange);
  const std::uint32_t most = is_exchange ? most_messages : most_gpus;
  const bool is_one = header.operation < operations && header.members > 0 &&
                      header.members <= most && header.element_bytes > 0 &&
                      header.element_bytes <= 8 && header.count < most_elements &&
                      (is_exchange || header.root < header.members);
  if (!is_one || bytes.size() != sizeof header + header.members * sizeof(CollectiveMember))
    return std::nullopt;
  RecordedCollective collective;
  collective.operation = static_cast<Operation>(header.operation);
  collective.root = header.root;
  collective.kernel = header.kernel;
  collective.element_bytes = header.element_bytes;
  collective.count = header.count;
  collective.members.resize(header.members);
  std::memcpy(collective.members.data(), bytes.data() + sizeof header,
              bytes.size() - sizeof header);
  for (const CollectiveMember& member : collective.members)
    if (member.count >= most_elements) return std::nullopt;
  return collective;
}

std::vector<CollectivePart> parts_of(const RecordedCollective& collective) {
  return Ring(collective).parts();
}

std::uint64_t scratch_elements(Operation operation, std::uint64_t count, std::size_t members) {
  if (members < 2) return 0;
  if (operation == Operation::reduce_scatter) return 2 * count;
  const bool reduces = operation == Operation::all_reduce || operation == Operation::reduce;
  return reduces ? 2 * ((count + members - 1) / members) : 0;
}

}  // namespace lockstep
