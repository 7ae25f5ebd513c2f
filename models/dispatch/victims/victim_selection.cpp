#include "models/dispatch/victims/victim_selection.hpp"

#include <algorithm>
#include <utility>

namespace lockstep {

SmSelection::SmSelection(Setup setup) : setup_(std::move(setup)), left_(setup_.used) {
  counts_.candidates = setup_.places->places_for(setup_.need);
  count_fragments();
}

void SmSelection::count_fragments() {
  std::uint64_t free_places = 0;
  for (std::uint32_t place = 0; place < counts_.candidates; ++place) {
    const auto in_the_way = setup_.places->candidate(place, setup_.need, setup_.grid);
    free_places += in_the_way && in_the_way->empty();
  }
  const BlockResources& need = setup_.need;
  counts_.fragmented_registers =
      setup_.limits.registers - setup_.used.registers - free_places * need.registers;
  counts_.fragmented_shared =
      setup_.limits.shared_bytes - setup_.used.shared_bytes - free_places * need.shared_bytes;
}

bool SmSelection::better(const Choice& a, const Choice& b, Time bound) {
  return preference(a.latency, a.overhead, bound) < preference(b.latency, b.overhead, bound);
}

std::optional<SmSelection::Choice> SmSelection::at(std::uint32_t place) const {
  const auto in_the_way = setup_.places->candidate(place, setup_.need, setup_.grid);
  if (!in_the_way || granted_.contains(place)) return std::nullopt;
  Choice choice;
  choice.place = place;
  choice.is_free = in_the_way->empty();
  for (const std::uint64_t block : *in_the_way) {
    const auto known =
        std::find_if(setup_.blocks.begin(), setup_.blocks.end(),
                     [&](const SmRelease::Block& other) { return other.command.block == block; });
    if (known == setup_.blocks.end()) return std::nullopt;  // the block has come since the decision
    const auto index = static_cast<std::size_t>(known - setup_.blocks.begin());
    choice.latency = std::max(choice.latency, known->latency);
    if (leaving_.contains(index)) continue;
    choice.leave.push_back(index);
    choice.overhead += known->overhead;
  }
  if (!make_fit(choice)) return std::nullopt;
  return choice;
}

bool SmSelection::make_fit(Choice& choice) const {
  BlockResources after = left_;
  for (std::size_t i = 0; i < choice.leave.size(); ++i) after -= setup_.victim;
  while (!after.leaves_room_for(setup_.need, setup_.limits)) {
    std::optional<std::size_t> cheapest;
    for (std::size_t i = 0; i < setup_.blocks.size(); ++i) {
      const bool leaves =
          leaving_.contains(i) || std::count(choice.leave.begin(), choice.leave.end(), i) > 0;
      if (!leaves && (!cheapest || setup_.blocks[i].overhead < setup_.blocks[*cheapest].overhead))
        cheapest = i;
    }
    if (!cheapest) return false;
    choice.leave.push_back(*cheapest);
    choice.widened = true;
    choice.latency = std::max(choice.latency, setup_.blocks[*cheapest].latency);
    choice.overhead += setup_.blocks[*cheapest].overhead;
    after -= setup_.victim;
  }
  return true;
}

std::optional<SmSelection::Choice> SmSelection::best(Time bound) const {
  std::optional<Choice> best;
  for (std::uint32_t place = 0; place < setup_.places->places_for(setup_.need); ++place)
    if (std::optional<Choice> choice = at(place);
        choice && (!best || better(*choice, *best, bound)))
      best = std::move(choice);
  return best;
}

void SmSelection::take(const Choice& choice) {
  for (const std::size_t block : choice.leave) {
    leaving_.insert(block);
    left_ -= setup_.victim;
  }
  left_ += setup_.need;
  granted_.insert(choice.place);
  latency_ = std::max(latency_, choice.latency);
  overhead_ += choice.overhead;
  ++counts_.chosen;
  counts_.free_before += choice.is_free && !choice.widened;
  counts_.widened += choice.widened;
}

SmRelease SmSelection::release() const {
  SmRelease release;
  for (const std::size_t block : leaving_) release.blocks.push_back(setup_.blocks[block]);
  release.places = static_cast<std::uint32_t>(granted_.size());
  release.latency = latency_;
  release.overhead = overhead_;
  return release;
}

void select_victims(std::vector<SmSelection>& sms, std::uint64_t wanted, Time bound,
                    SelectionRounds rounds) {
  while (wanted > 0) {
    std::vector<std::pair<SmSelection::Choice, SmSelection*>> round;
    for (SmSelection& sm : sms)
      if (std::optional<SmSelection::Choice> choice = sm.best(bound))
        round.emplace_back(*std::move(choice), &sm);
    if (round.empty()) return;
    std::stable_sort(round.begin(), round.end(), [&](const auto& a, const auto& b) {
      return SmSelection::better(a.first, b.first, bound);
    });
    for (auto one = round.begin(); one != round.end() && wanted > 0; ++one, --wanted)
      one->second->take(one->first);
    if (rounds == SelectionRounds::serial) return;
  }
}

}  // namespace lockstep
