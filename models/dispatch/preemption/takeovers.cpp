#include "models/dispatch/preemption/takeovers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error/error.hpp"

namespace lockstep {

/// Factor of the expected time, or of the bound, after which a drain ends by other means: the block
/// may wait for a flushed one.
static constexpr std::int64_t drains_for_at_most = 10;
/// Limit of a drain for a grid without a bound: 1 ms.
static constexpr Time drains_at_most{1'000'000'000'000};

Takeovers::Takeovers(const Setup& setup, DispatchStatistics& statistics)
    : policy_(make_preemption(setup.policy)),
      steps_(policy_->steps()),
      take_(steps_.take.value_or(PreemptionSteps::Take{})),
      by_launch_(steps_.ask && steps_.ask->history == HistoryScope::launch),
      in_parts_(setup.in_parts),
      machine_(setup.machine),
      latency_bounds_(setup.latency_bounds),
      profile_(setup.profile),
      statistics_(statistics),
      sms_(setup.sms),
      signals_(machine_.sm_clock.duration(take_.signal), setup.sms),
      back_off_(setup.sms) {}

Time Takeovers::longest_drain(const Sm& sm, Time expected) const {
  if (take_.drain_limit > Time::zero()) return take_.drain_limit;
  if (sm.bound == Time::never()) return drains_at_most;
  return std::max(expected, sm.bound) * drains_for_at_most;
}

void Takeovers::ask(const GridLaunch& urgent, std::size_t sms, Time now) {
  asked_for_ = urgent;
  awaited_ = sms;
  asked_at_ = now;
  if (steps_.ask->by_plan) followed_[urgent.grid] = profile_.plan().of(urgent.grid);
}

void Takeovers::require_plan_as_followed() const {
  for (const auto& [urgent, request] : followed_)
    if (request != profile_.plan().of(urgent))
      throw UserError("",
                      "the plan of policies.preemption differs for kernel " +
                          std::to_string(urgent) + ", which the checkpoint is past",
                      "change only entries of later kernels, or start the run anew");
}

bool Takeovers::answered(SmStatus status) {
  answers_.push_back(std::move(status));
  return answers_.size() == awaited_;
}

void Takeovers::unite_clusters(
    const std::function<std::optional<std::uint64_t>(std::uint32_t, std::uint64_t)>& cluster_of) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> repeatable;
  const auto for_each_of_cluster = [&](auto&& function) {
    for (SmStatus& sm : answers_)
      for (BlockStatus& block : sm.blocks)
        if (const auto cluster = cluster_of(sm.grid, block.block))
          function(block, repeatable.try_emplace({sm.grid, *cluster}, true).first->second);
  };
  for_each_of_cluster([](const BlockStatus& block, bool& all) { all &= block.idempotent != 0; });
  for_each_of_cluster([](BlockStatus& block, const bool& all) { block.idempotent = all ? 1 : 0; });
}

std::vector<Takeovers::Offer> Takeovers::offers(
    const std::function<std::optional<Victim>(const SmStatus&)>& victim_at) const {
  std::vector<std::pair<const SmStatus*, Victim>> victims;
  std::map<std::uint32_t, KernelHistory> running;
  for (const SmStatus& sm : answers_) {
    const std::optional<Victim> victim = victim_at(sm);
    if (!victim) continue;
    victims.emplace_back(&sm, *victim);
    for (const BlockStatus& block : sm.blocks) running[scope_of(victim->launch)].add(block.work);
  }
  const Time bound = bound_left(*asked_for_);
  std::vector<Offer> offers;
  for (const auto& [sm, victim] : victims) {
    const std::uint32_t scope = scope_of(victim.launch);
    const auto known = finished_.find(scope);
    const auto left = contexts_.find(kernel_of(victim.launch));
    const KernelHistory nothing;
    VictimKernel facts{known == finished_.end() ? &nothing : &known->second, running[scope],
                       victim.context_bytes,
                       profile_.of(TenantId(victim.launch.tenant), victim.launched_before)};
    if (steps_.ask->by_plan) facts.plan = &profile_.plan().of(asked_for_->grid);
    if (const auto lengths = lengths_.find(scope); lengths != lengths_.end())
      facts.lengths = &lengths->second;
    if (left != contexts_.end()) {
      facts.context_bytes = left->second.mean_context().value_or(victim.context_bytes);
      facts.mean_save = left->second.mean_save();
    }
    offers.push_back({sm->sm, victim, policy_->decide(*sm, facts, machine_, bound)});
  }
  std::sort(offers.begin(), offers.end(), [&](const Offer& a, const Offer& b) {
    const auto key = [&](const Offer& offer) {
      return std::pair(preference(offer.release.latency, offer.release.overhead, bound), offer.sm);
    };
    return key(a) < key(b);
  });
  return offers;
}

void Takeovers::begin(std::uint32_t index, const GridLaunch& victim, const GridLaunch& urgent,
                      const SmRelease& release, Time now) {
  Sm& sm = sms_[index];
  if (!sm.stopping) {
    sm.stopping = true;
    sm.victim = victim.grid;
    sm.urgent = urgent.grid;
    sm.tenant = TenantId(urgent.tenant);
    sm.asked = asked_for_ ? asked_at_ : now;
    sm.counted = sm.asked;
    sm.bound = bound_of(urgent);
    ++statistics_.sms_taken[victim.tenant];
  }
  sm.expected.insert(sm.expected.end(), release.blocks.begin(), release.blocks.end());
  sm.places += release.places;
  sm.told = now;
  if (steps_.ask || steps_.gives_up()) sm.limit = now + longest_drain(sm, release.latency);
}

Time Takeovers::bound_left(const GridLaunch& grid) const {
  const Time bound = bound_of(grid);
  if (bound == Time::never()) return bound;
  Time first = asked_at_;
  for (const Sm& sm : sms_)
    if (sm.stopping && sm.urgent == grid.grid) first = std::min(first, sm.asked);
  return std::max(Time::zero(), bound - (asked_at_ - first));
}

void Takeovers::left(PreemptionRecord record) {
  Sm& sm = sms_[record.block.sm];
  if (!sm.stopping || sm.victim != record.block.grid) return;
  record.urgent = sm.urgent;
  record.asked = sm.asked;
  record.bound = sm.bound;
  const auto expected = std::find_if(
      sm.expected.begin(), sm.expected.end(),
      [&](const SmRelease::Block& block) { return block.command.block == record.block.block; });
  if ((steps_.share || in_parts_) && expected == sm.expected.end())
    return;  // the block's place is not needed
  if (expected != sm.expected.end()) {
    record.expected = expected->latency;
    record.expected_loss = expected->overhead;
    record.before = expected->before;
    record.own_pace = expected->own_pace && record.technique == Technique::drain;
    sm.expected.erase(expected);
  }
  if (record.technique != Technique::drain)
    records_of_away_[{record.block.grid, record.block.block}] = records_.size();
  records_.push_back(record);
}

void Takeovers::returned(std::uint32_t grid, std::uint64_t block, Time now) {
  const auto away = records_of_away_.extract({grid, block});
  if (!away.empty()) records_[away.mapped()].returned = now;
}

void Takeovers::entered(std::uint32_t index, Time now) {
  Sm& sm = sms_[index];
  if (std::exchange(sm.has_entered, true)) return;
  const auto waited = static_cast<std::uint64_t>((now - sm.asked).femtoseconds() / 1'000'000);
  const std::size_t tenant = sm.tenant.value();
  statistics_.preemption_latency[tenant].add(waited);
  statistics_.preemption_time[tenant] += waited;
  if (now - sm.asked > sm.bound) ++statistics_.bounds_broken[tenant];
}

void Takeovers::saved(const GridLaunch& grid, const BlockSaved& block, Time now) {
  const Sm& sm = sms_[block.block.sm];
  ContextHistory& history = contexts_[kernel_of(grid)];
  if (steps_.save && steps_.save->context != ContextKind::occupied) history.saved(block.bytes);
  if (sm.stopping && sm.victim == grid.grid) history.left_after(now - sm.told);
}

void Takeovers::count_use(std::uint32_t index, const BlockResources& used, std::uint32_t taken,
                          Time now) {
  Sm& sm = sms_[index];
  if (!sm.stopping) return;
  const auto time = static_cast<std::uint64_t>((now - sm.counted).femtoseconds() / 1'000'000);
  sm.counted = now;
  if (steps_.share && taken >= sm.places) return;
  const std::size_t tenant = sm.tenant.value();
  statistics_.takeover_time[tenant] += time;
  statistics_.takeover_registers[tenant] += time * used.registers;
  statistics_.takeover_shared[tenant] += time * used.shared_bytes;
  statistics_.takeover_threads[tenant] += time * used.threads;
  statistics_.takeover_blocks[tenant] += time * used.blocks;
}

Time Takeovers::next_limit() const {
  Time next = std::min(signals_.next(), back_off_.next());
  for (const Sm& sm : sms_) next = std::min(next, sm.limit);
  return next;
}

std::vector<Takeovers::Overdue> Takeovers::overdue(Time now) {
  std::vector<Overdue> found;
  for (std::uint32_t i = 0; i < sms_.size(); ++i) {
    if (sms_[i].limit > now) continue;
    sms_[i].limit = Time::never();
    sms_[i].told = now;
    Overdue& sm = found.emplace_back(Overdue{i, Technique::save, {}});
    if (!steps_.share) continue;
    sm.others = Technique::drain;
    for (const SmRelease::Block& block : sms_[i].expected)
      sm.commands.push_back({block.command.block, Technique::save, {}});
  }
  return found;
}

}  // namespace lockstep
