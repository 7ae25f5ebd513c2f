#include "models/memory/controller_input.hpp"

namespace lockstep {

void ControllerInput::run(L2Cycle now) {
  receive(now);
  const bool took = waiting_ > 0 && offer(now);
  agenda_.controller =
      arrivals_.empty() ? L2Cycle::never() : transactions_[arrivals_.front()].arrival;
  if (took && waiting_ > 0) PartitionAgenda::wake(agenda_.controller, now + 1);
}

void ControllerInput::receive(L2Cycle now) {
  while (!arrivals_.empty() && transactions_[arrivals_.front()].arrival <= now) {
    const std::uint32_t index = arrivals_.front();
    arrivals_.pop();
    Transaction& t = transactions_[index];
    t.bypass = true;
    sources_.arrived(t.request);
    fifos_[t.request.requester].push(index);
    ++waiting_;
  }
}

bool ControllerInput::offer(L2Cycle now) {
  wanted_room_ = 0;
  const auto cores = static_cast<std::uint32_t>(fifos_.size());
  std::uint32_t core = turn_;
  for (std::uint32_t n = 0; n < cores; ++n, core = core + 1 == cores ? 0 : core + 1) {
    if (fifos_[core].empty()) continue;
    const std::uint32_t index = fifos_[core].front();
    if (banks_.push_past(index, now)) {
      fifos_[core].pop();
      --waiting_;
      turn_ = core + 1 == cores ? 0 : core + 1;
      return true;
    }
    const bool store = transactions_[index].request.operation == MemoryOperation::store;
    wanted_room_ |= store ? write_room : read_room;
  }
  return false;
}

}  // namespace lockstep
