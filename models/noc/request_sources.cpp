#include "models/noc/request_sources.hpp"

namespace lockstep {

void RequestSources::add(SourceKind kind, std::string name, std::span<const Link> to_them,
                         std::uint32_t credits) {
  Group& group = groups_.at(number_of(kind));
  LOCKSTEP_CHECK(group.count == 0, "senders of one kind are added together");
  group.name = std::move(name);
  group.first = size();
  group.count = static_cast<std::uint32_t>(to_them.size());
  group.credits = credits == unlimited ? ~std::uint32_t{0} : credits;
  group.order = kind;
  group.links = Trunk(to_them);
  unanswered_.resize(group.first + group.count);
}

void RequestSources::add_beside(SourceKind kind, std::string name, SourceKind other,
                                const Link& to_it) {
  Group& group = groups_.at(number_of(kind));
  const Group& beside = groups_.at(number_of(other));
  LOCKSTEP_CHECK(group.count == 0 && beside.count > 0, "senders beside each other");
  group = beside;
  group.name = std::move(name);
  group.count = 1;
  group.links = Trunk({&to_it, 1});
}

std::string RequestSources::unanswered() const {
  std::string text;
  for (std::size_t kind = 0; kind < groups_.size(); ++kind) {
    const Group& group = groups_[kind];
    // The group is counted with the kind whose order it shares.
    if (number_of(group.order) != kind) continue;
    for (std::uint32_t i = 0; i < group.count; ++i) {
      const std::uint32_t count = unanswered_[group.first + i];
      if (count == 0) continue;
      text += "; ";
      text += group.name;
      if (group.count > 1) {
        text += '[';
        text += std::to_string(i);
        text += ']';
      }
      text += ": ";
      text += std::to_string(count);
    }
  }
  return text;
}

}  // namespace lockstep
