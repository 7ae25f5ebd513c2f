#include "models/sm/streaming_multiprocessor.hpp"

#include "models/sm/sm_core.hpp"

namespace lockstep {

StreamingMultiprocessor::StreamingMultiprocessor(Setup setup)
    : core_(std::make_unique<SmCore>(std::move(setup))) {}

StreamingMultiprocessor::~StreamingMultiprocessor() = default;

Time StreamingMultiprocessor::next_activity() const {
  return core_->next_activity();
}

void StreamingMultiprocessor::advance(Time horizon, Inbox inbox, Outbox& outbox) {
  core_->advance(horizon, inbox, outbox);
}

void StreamingMultiprocessor::serialize(Archive& archive) {
  core_->serialize(archive);
}

StatisticsView StreamingMultiprocessor::statistics(Time now) {
  return statistics_view(core_->statistics(now));
}

std::vector<StatisticsView> StreamingMultiprocessor::parts(Time) {
  return core_->side_statistics();
}

bool StreamingMultiprocessor::awaits_answers() const {
  return core_->awaits_answers();
}

bool StreamingMultiprocessor::finished() const {
  return core_->finished();
}

void StreamingMultiprocessor::take_grid_counts(Time now, std::vector<GridContribution>& taken) {
  core_->take_grid_counts(now, taken);
}

void StreamingMultiprocessor::take_progress(Time now, std::span<std::uint8_t> tenants) {
  core_->take_progress(now, tenants);
}

const BlockLog& StreamingMultiprocessor::block_log() const {
  return core_->block_log();
}

std::string StreamingMultiprocessor::waiting_for() const {
  return core_->waiting_for();
}

}  // namespace lockstep
