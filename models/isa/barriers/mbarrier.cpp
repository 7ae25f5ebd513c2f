#include "models/isa/barriers/mbarrier.hpp"

#include <fmt/format.h>

#include "core/error/error.hpp"

namespace lockstep::isa {
namespace {

constexpr const char* count_advice =
    "mbarrier.init names how many arrivals a phase waits for: let as many come, no more";

/// The last arrival of a phase begins the next one.
std::uint64_t arrive(std::uint64_t word, std::uint64_t count, bool drops) {
  const std::uint64_t expected = MbarrierWord::expected(word) - (drops ? count : 0);
  const std::uint64_t pending = MbarrierWord::pending(word) - count;
  const std::uint32_t parity = MbarrierWord::parity(word);
  if (pending == 0) return MbarrierWord::of(expected, expected, parity ^ 1);
  return MbarrierWord::of(expected, pending, parity);
}

std::string arrivals(std::uint64_t count) {
  return count == 1 ? "an arrival" : fmt::format("{} arrivals", count);
}

MbarrierMistake arrival_mistake(std::uint64_t word, std::uint64_t count, std::uint64_t address,
                                bool completes) {
  if (count == 0 || count > MbarrierWord::most)
    return {fmt::format("a count of {} at {}", count, mbarrier_text(word, address)),
            "a count is 1 to 1048575"};
  const std::uint64_t pending = MbarrierWord::pending(word);
  if (count > pending)
    return {fmt::format("{} at {}", arrivals(count), mbarrier_text(word, address)), count_advice};
  if (count == pending && !completes)
    return {fmt::format("{} with .noComplete completes the phase at {}", arrivals(count),
                        mbarrier_text(word, address)),
            "leave .noComplete out where the last one may arrive"};
  return {};
}

}  // namespace

std::uint64_t mbarrier_step(AtomicOperation operation, std::uint64_t word, std::uint64_t count) {
  switch (operation) {
    case AtomicOperation::mbarrier_init:
      return MbarrierWord::of(count, count, 0);
    case AtomicOperation::mbarrier_inval:
      return 0;
    case AtomicOperation::arrive:
    case AtomicOperation::arrive_incomplete:
      return arrive(word, count, false);
    case AtomicOperation::arrive_drop:
    case AtomicOperation::arrive_drop_incomplete:
      return arrive(word, count, true);
    case AtomicOperation::arrive_behind_copies:
      return word;
    case AtomicOperation::join_behind_copies:
      return word + 1;
    default:
      LOCKSTEP_CHECK(false, "no operation of a barrier");
  }
}

MbarrierMistake mbarrier_mistake(AtomicOperation operation, std::uint64_t word, std::uint64_t count,
                                 std::uint64_t shared_address) {
  if (operation == AtomicOperation::mbarrier_init) {
    if (count != 0 && count <= MbarrierWord::most) return {};
    return {fmt::format("mbarrier.init of a count of {}", count), "a count is 1 to 1048575"};
  }
  if (MbarrierMistake mistake = wait_mistake(word, shared_address)) return mistake;
  switch (operation) {
    case AtomicOperation::arrive:
    case AtomicOperation::arrive_drop:
      return arrival_mistake(word, count, shared_address, true);
    case AtomicOperation::arrive_incomplete:
    case AtomicOperation::arrive_drop_incomplete:
      return arrival_mistake(word, count, shared_address, false);
    case AtomicOperation::join_behind_copies:
      if (MbarrierWord::pending(word) < MbarrierWord::most) return {};
      return {fmt::format("one arrival more at {}", mbarrier_text(word, shared_address)),
              "a phase waits for 1048575 arrivals at most"};
    default:
      return {};
  }
}

MbarrierMistake wait_mistake(std::uint64_t word, std::uint64_t shared_address) {
  if (MbarrierWord::is_object(word)) return {};
  return {fmt::format("no barrier has been initialised at shared address {:#x}", shared_address),
          "one thread calls mbarrier.init, and a bar.sync stands between that and the first use"};
}

MbarrierMistake place_mistake(Space space, std::uint64_t address, std::uint64_t shared_bytes) {
  constexpr const char* advice =
      "check the index, the declaration's alignment and the launch's `shared:`";
  const std::uint64_t offset = mbarrier_offset(space, address);
  if (space == Space::generic && offset >= shared_window_bytes)
    return {fmt::format("a barrier at address {:#x}, which is not in shared memory", address),
            "barriers of mbarrier stand in shared memory only"};
  if (offset % MbarrierWord::bytes != 0)
    return {fmt::format("a barrier at shared address {:#x}, which is not a multiple of 8", offset),
            advice};
  if (shared_bytes < MbarrierWord::bytes || offset > shared_bytes - MbarrierWord::bytes)
    return {fmt::format("a barrier at shared address {:#x}, outside of the block's {} bytes",
                        offset, shared_bytes),
            advice};
  return {};
}

std::string mbarrier_text(std::uint64_t word, std::uint64_t shared_address) {
  if (!MbarrierWord::is_object(word))
    return fmt::format("the barrier at shared address {:#x}, which is none any more",
                       shared_address);
  return fmt::format(
      "the barrier at shared address {:#x}, whose phase of parity {} waits for {} more of {} "
      "arrivals",
      shared_address, MbarrierWord::parity(word), MbarrierWord::pending(word),
      MbarrierWord::expected(word));
}

}  // namespace lockstep::isa
