#include "models/isa/barriers/mbarrier.hpp"

#include <fmt/format.h>

#include "core/error/error.hpp"

namespace lockstep::isa {
namespace {

constexpr const char* count_advice =
    "mbarrier.init names how many arrivals a phase waits for: let as many come, no more";

constexpr const char* transaction_advice =
    "expect as many bytes as copies bring, and wait for each phase before the next one's copies";

/// Returns the word after a change: the next phase begins if this one has nothing left to wait for.
std::uint64_t phase_of(std::uint64_t word, std::uint64_t expected, std::uint64_t pending,
                       std::int64_t transactions) {
  const std::uint32_t parity = MbarrierWord::parity(word);
  if (pending == 0 && transactions == 0) return MbarrierWord::of(expected, expected, parity ^ 1);
  return MbarrierWord::of(expected, pending, parity, transactions);
}

std::uint64_t arrive(std::uint64_t word, std::uint64_t count, std::int64_t bytes, bool drops) {
  return phase_of(word, MbarrierWord::expected(word) - (drops ? count : 0),
                  MbarrierWord::pending(word) - count, MbarrierWord::transactions(word) + bytes);
}

std::uint64_t transact(std::uint64_t word, std::int64_t bytes) {
  return phase_of(word, MbarrierWord::expected(word), MbarrierWord::pending(word),
                  MbarrierWord::transactions(word) + bytes);
}

std::string arrivals(std::uint64_t count) {
  return count == 1 ? "an arrival" : fmt::format("{} arrivals", count);
}

InstructionMistake arrival_mistake(std::uint64_t word, std::uint64_t count, std::uint64_t address,
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

/// `sign`: 1 where bytes are expected, -1 where they come.
InstructionMistake transaction_mistake(std::uint64_t word, std::uint64_t bytes, std::int64_t sign,
                                       std::uint64_t address) {
  constexpr auto most = static_cast<std::int64_t>(MbarrierWord::most);
  const bool fits = bytes <= MbarrierWord::most;
  const std::int64_t after =
      fits ? MbarrierWord::transactions(word) + sign * static_cast<std::int64_t>(bytes) : 0;
  if (fits && after >= -most && after <= most) return {};
  return {fmt::format("transactions of {} bytes more at {}", bytes, mbarrier_text(word, address)),
          transaction_advice};
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
      return arrive(word, count, 0, false);
    case AtomicOperation::arrive_drop:
    case AtomicOperation::arrive_drop_incomplete:
      return arrive(word, count, 0, true);
    case AtomicOperation::expect_transactions:
      return transact(word, static_cast<std::int64_t>(count));
    case AtomicOperation::complete_transactions:
      return transact(word, -static_cast<std::int64_t>(count));
    case AtomicOperation::arrive_and_expect:
      return arrive(word, 1, static_cast<std::int64_t>(count), false);
    case AtomicOperation::arrive_and_expect_and_drop:
      return arrive(word, 1, static_cast<std::int64_t>(count), true);
    case AtomicOperation::arrive_behind_copies:
      return word;
    case AtomicOperation::join_behind_copies:
      return word + 1;
    default:
      LOCKSTEP_CHECK(false, "no operation of a barrier");
  }
}

InstructionMistake mbarrier_mistake(AtomicOperation operation, std::uint64_t word,
                                    std::uint64_t count, std::uint64_t shared_address) {
  if (operation == AtomicOperation::mbarrier_init) {
    if (count != 0 && count <= MbarrierWord::most) return {};
    return {fmt::format("mbarrier.init of a count of {}", count), "a count is 1 to 1048575"};
  }
  if (InstructionMistake mistake = wait_mistake(word, shared_address)) return mistake;
  switch (operation) {
    case AtomicOperation::arrive:
    case AtomicOperation::arrive_drop:
      return arrival_mistake(word, count, shared_address, true);
    case AtomicOperation::arrive_incomplete:
    case AtomicOperation::arrive_drop_incomplete:
      return arrival_mistake(word, count, shared_address, false);
    case AtomicOperation::expect_transactions:
      return transaction_mistake(word, count, 1, shared_address);
    case AtomicOperation::complete_transactions:
      return transaction_mistake(word, count, -1, shared_address);
    case AtomicOperation::arrive_and_expect:
    case AtomicOperation::arrive_and_expect_and_drop:
      if (InstructionMistake mistake = arrival_mistake(word, 1, shared_address, true))
        return mistake;
      return transaction_mistake(word, count, 1, shared_address);
    case AtomicOperation::join_behind_copies:
      if (MbarrierWord::pending(word) < MbarrierWord::most) return {};
      return {fmt::format("one arrival more at {}", mbarrier_text(word, shared_address)),
              "a phase waits for 1048575 arrivals at most"};
    default:
      return {};
  }
}

InstructionMistake wait_mistake(std::uint64_t word, std::uint64_t shared_address) {
  if (MbarrierWord::is_object(word)) return {};
  return {fmt::format("no barrier has been initialised at shared address {:#x}", shared_address),
          "one thread calls mbarrier.init, and a bar.sync stands between that and the first use"};
}

InstructionMistake place_mistake(Space space, std::uint64_t address, std::uint64_t shared_bytes) {
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
  const std::int64_t bytes = MbarrierWord::transactions(word);
  return fmt::format(
      "the barrier at shared address {:#x}, whose phase of parity {} waits for {} more of {} "
      "arrivals{}",
      shared_address, MbarrierWord::parity(word), MbarrierWord::pending(word),
      MbarrierWord::expected(word),
      bytes == 0  ? ""
      : bytes > 0 ? fmt::format(" and for {} bytes of transactions", bytes)
                  : fmt::format(", and {} bytes came that nobody has expected yet", -bytes));
}

}  // namespace lockstep::isa
