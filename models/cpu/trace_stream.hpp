#pragma once

#include "models/cpu/access_stream.hpp"
#include "models/workload/cpu/cpu_program.hpp"

namespace lockstep {

/// The accesses of a trace, again and again if the tenant is relaunched.
class TraceStream final : public AccessStream {
 public:
  TraceStream(const CpuProgram& program, bool relaunch)
      : trace_(program.trace),
        instructions_(static_cast<std::int64_t>(program.trace_instructions)),
        relaunch_(relaunch) {}

  std::optional<CpuAccess> next() override {
    if (place_ == trace_->size()) {
      if (!relaunch_) return std::nullopt;
      place_ = 0;
      before_ += instructions_;
    }
    const TracedAccess& access = (*trace_)[place_++];
    return CpuAccess{before_ + static_cast<std::int64_t>(access.instruction), access.offset,
                     access.write};
  }

  void serialize(Archive& archive) override { archive(place_, before_); }

 private:
  const std::shared_ptr<const std::vector<TracedAccess>> trace_;
  const std::int64_t instructions_;
  const bool relaunch_;
  std::uint64_t place_ = 0;
  std::int64_t before_ = 0;  ///< instructions of earlier rounds
};

}  // namespace lockstep
