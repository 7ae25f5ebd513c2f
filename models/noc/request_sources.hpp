/// Senders of requests to a receiving port, and the links for their answers.
///
/// The builder of the machine adds the senders kind by kind: SMs, the GMMU's page walkers, the
/// host, or any other.  A request names its sender by kind and by number within the kind; the port
/// uses a dense place for each.  Unanswered requests of a sender take its credits. Source:
/// architecture.md, section 8, "Back-pressure" (a FIFO per sender, whose entries are its credits,
/// returned with the answer).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/engine/link.hpp"
#include "core/error/error.hpp"
#include "core/memory/warm.hpp"
#include "models/noc/messages.hpp"

namespace lockstep {

class RequestSources {
 public:
  /// Credits of senders that limit themselves by other means.
  static constexpr std::uint32_t unlimited = 0;

  /// Adds senders 0, 1, ... of a kind.  `to_them`: links to them, neighbours in the graph;
  /// `credits`: requests that each may have unanswered.
  void add(SourceKind kind, std::string name, std::span<const Link> to_them, std::uint32_t credits);

  /// Adds a kind with a single sender that shares the place of a sender of another, earlier kind;
  /// answers to the two do not overtake each other.
  void add_beside(SourceKind kind, std::string name, SourceKind other, const Link& to_it);

  std::uint32_t count_of(SourceKind kind) const { return groups_[number_of(kind)].count; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(unanswered_.size()); }
  /// Returns a dense number of the request's sender, in the order in which senders were added.
  std::uint32_t place_of(const MemoryRequest& request) const {
    return groups_[number_of(request.source)].first + request.requester;
  }
  void warm_place(const MemoryRequest& request) const { warm(&unanswered_[place_of(request)]); }

  void arrived(const MemoryRequest& request) {
    const Group& group = groups_[number_of(request.source)];
    LOCKSTEP_CHECK(request.requester < group.count, "a request has no sender");
    std::uint32_t& count = unanswered_[group.first + request.requester];
    ++count;
    LOCKSTEP_CHECK(count <= group.credits, "a sender used more credits than it has");
  }

  /// Gives the sender of an arrived() request its credit back, because its answer leaves.
  struct Way {
    Link& link;           ///< link; valid until the next call
    Time departure;       ///< time at which the answer leaves; answers of a kind keep their order
    std::uint32_t place;  ///< place of the sender
  };
  /// Returns link and departure time of an answer that is ready at `at`.
  Way way_to(SourceKind kind, std::uint32_t number, Time at) {
    Group& group = groups_[number_of(kind)];
    Time& last = groups_[number_of(group.order)].last_departure;
    if (at > last) last = at;
    return {group.links[number], last, group.first + number};
  }
  /// Gives the sender of an arrived() request its credit back, because an answer goes to it.
  void answered(const Way& way) { --unanswered_[way.place]; }

  /// Returns a text such as "; sm[3]: 2; host: 1".
  std::string unanswered() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(unanswered_, groups_);
  }

 private:
  struct Group {
    std::string name;
    std::uint32_t first = 0, count = 0, credits = 0;
    SourceKind order{};  ///< kind whose departures share one order with these
    Trunk links;
    Time last_departure;

    /// Saves the members that change; the machine's parameters give the rest.
    template <class Archive>
    void serialize(Archive& archive) {
      archive(links, last_departure);
    }
  };
  static constexpr std::size_t number_of(SourceKind kind) { return static_cast<std::size_t>(kind); }

  std::array<Group, most_source_kinds> groups_;
  std::vector<std::uint32_t> unanswered_;  ///< unanswered requests of each sender
};

}  // namespace lockstep
