#include "models/host/host.hpp"

#include <algorithm>
#include <utility>

#include "core/checkpoint/archive.hpp"
#include "core/engine/outbox.hpp"

namespace lockstep {

Host::Host(Setup setup)
    : logs_{KernelLog(setup.link_latency), PrintedLines(*setup.tenants, std::move(setup.print)),
            Warnings(std::move(setup.warn))},
      part_of_link_(std::move(setup.part_of_link)),
      runs_(setup.tenants->size()),
      progress_(setup.progress_limit, setup.tenants->size()) {
  const bool has_teams = std::any_of(setup.tenants->begin(), setup.tenants->end(),
                                     [](const Tenant& tenant) { return tenant.members() > 1; });
  if (has_teams)
    shared_ = std::make_unique<SharedPages>(make_peer_policy(setup.parts.front().peer_policy));
  for (HostPart::Setup& part : setup.parts) {
    parts_.push_back(std::make_unique<HostPart>(
        std::move(part), HostPart::Shared{logs_, [this] { return all_settled(); }, shared_.get()}));
    HostPart& made = *parts_.back();
    for (std::size_t t = 0; t < made.runs().size(); ++t)
      runs_[made.numbers()[t]] = made.runs()[t].get();
  }
  join(*setup.tenants);
}

void Host::join(const std::vector<Tenant>& tenants) {
  for (std::uint32_t t = 0; t < tenants.size(); ++t) {
    std::vector<TenantRun*> team;
    for (const std::uint32_t gpu : tenants[t].gpus) {
      for (const auto& part : parts_) {
        if (part->gpu() != gpu) continue;
        const auto& numbers = part->numbers();
        const auto number = std::lower_bound(numbers.begin(), numbers.end(), t) - numbers.begin();
        team.push_back(part->runs()[static_cast<std::size_t>(number)].get());
        if (std::find(team_parts_.begin(), team_parts_.end(), part.get()) == team_parts_.end())
          team_parts_.push_back(part.get());
      }
    }
    if (team.empty()) continue;
    runs_[t] = team.front();
    team.front()->join(team);
  }
}

void Host::follow_teams(Time now, Outbox& outbox) {
  for (bool more = true; more;) {
    more = false;
    for (HostPart* part : team_parts_) more |= part->follow_up(part->cycle(now, outbox));
  }
}

Time Host::next_activity() const {
  Time next = next_shared_activity();
  for (const auto& part : parts_) next = std::min(next, part->next_activity());
  return next;
}

void Host::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  std::size_t next = 0;
  const bool is_alone = parts_.size() == 1 && !shared_ && team_parts_.empty();
  for (;;) {
    if (is_alone) next += parts_.front()->run_link(inbox.subspan(next), horizon, outbox);
    const Time arrival = next < inbox.size() ? inbox[next]->arrival : Time::never();
    const Time activity = next_activity(), now = std::min(arrival, activity);
    if (now >= horizon) break;
    if (arrival <= activity) {
      HostPart& part = receiver_of(*inbox[next]);
      part.take(*inbox[next++], part.cycle(now, outbox));
    } else if (next_shared_activity() > now) {
      HostPart& part = first_to_act(now);
      part.act(part.cycle(now, outbox));
    }
    if (shared_) shared_->act(now, outbox);
    if (!team_parts_.empty()) follow_teams(now, outbox);
    if (shared_) shared_->act(now, outbox);
    if (parts_.size() > 1) stop_together(now, outbox);
  }
}

HostPart& Host::receiver_of(const MessageHeader& message) {
  return *parts_[parts_.size() == 1 ? 0 : part_of_link_[message.link.value()]];
}

HostPart& Host::first_to_act(Time now) {
  std::size_t part = 0;
  while (part + 1 < parts_.size() && parts_[part]->next_activity() > now) ++part;
  return *parts_[part];
}

bool Host::all_settled() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->is_settled(); });
}

void Host::stop_together(Time now, Outbox& outbox) {
  const auto is_stopped = [](const auto& part) { return part->is_stopped(); };
  if (std::none_of(parts_.begin(), parts_.end(), is_stopped)) return;
  for (const auto& part : parts_)
    if (!part->is_stopped()) part->follow_up(part->cycle(now, outbox));
}

bool Host::finished() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->finished(); });
}

bool Host::inspects() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->inspects(); });
}

const HostPart& Host::only_part() const {
  LOCKSTEP_CHECK(parts_.size() == 1, "several GPUs have tenants");
  return *parts_.front();
}

void Host::serialize(Archive& archive) {
  archive.section("host", 18);
  archive(logs_, progress_);
  for (const auto& part : parts_) part->serialize(archive);
  if (shared_) shared_->serialize(archive);
}

void Host::take_grid_counts(Time, std::vector<GridContribution>& taken) {
  for (const auto& part : parts_) part->take_grid_counts(taken);
}

void Host::take_progress(Time, std::span<std::uint8_t> tenants) {
  for (const auto& part : parts_) part->take_progress(tenants);
}

void Host::look_at_progress(Time end, std::span<const std::uint8_t> seen) {
  for (std::size_t t = 0; t < runs_.size(); ++t)
    if (seen[t] & progress::got_on) runs_[t]->got_on();
  progress_.look(end, seen);
}

StatisticsView Host::statistics(Time) {
  return parts_.front()->statistics().front();
}

std::vector<StatisticsView> Host::parts(Time) {
  std::vector<StatisticsView> all;
  for (const auto& part : parts_) {
    const std::vector<StatisticsView> views = part->statistics();
    // Statistics of the host itself belong to the component, unless they count by tenants of a GPU.
    all.insert(all.end(), views.begin() + (views.front().group ? 0 : 1), views.end());
  }
  return all;
}

std::string Host::waiting_for() const {
  std::string text;
  for (const auto& part : parts_) {
    const std::string one = part->waiting_for();
    if (!one.empty()) text += (text.empty() ? "" : " | ") + one;
  }
  return text;
}

}  // namespace lockstep
