/// mbarrier: what a barrier that is an object means, whoever executes it: the SM, with its cycles,
/// or the interpreter; and the text of mistakes with it.
///
/// The object is a word of shared memory and nothing beside it, so that who saves a block's shared
/// memory has saved its barriers.  From its low end: arrivals that the phase still waits for (20
/// bits), arrivals that each phase waits for (20), bytes of transactions that the phase still waits
/// for (21, with a sign: they may come before somebody expects them), one bit that says that the
/// word is an object, a free one, and the parity of the phase.  The state that an arrival returns
/// is the word as it stood before.
/// Source: PTX ISA 8.x, "Parallel Synchronization and Communication Instructions: mbarrier": what
/// stands in the object is up to the machine; modern-isa.md, sections 3.2 and 5.5.
///
/// Simplified: what PTX leaves undefined is a mistake: more arrivals than the phase waits for, a
/// barrier that was not initialised, .noComplete that completes, more bytes of transactions than
/// the word has room for.
#pragma once

#include <cstdint>
#include <string>

#include "models/isa/instruction_mistake.hpp"
#include "models/isa/lane_mask.hpp"
#include "models/isa/types.hpp"

namespace lockstep::isa {

struct MbarrierWord {
  static constexpr unsigned bytes = 8;
  static constexpr unsigned count_bits = 20, transaction_bits = 21, parity_bit = 63;
  static constexpr std::uint64_t most = (1u << count_bits) - 1;
  static constexpr std::uint64_t object = std::uint64_t{1} << 61;

  static constexpr std::uint64_t pending(std::uint64_t word) { return word & most; }
  static constexpr std::uint64_t expected(std::uint64_t word) { return word >> count_bits & most; }
  /// Returns the bytes that the phase waits for; negative: bytes that came before they were
  /// expected.
  static constexpr std::int64_t transactions(std::uint64_t word) {
    constexpr unsigned above = 64 - 2 * count_bits - transaction_bits;
    return static_cast<std::int64_t>(word << above) >> (64 - transaction_bits);
  }
  static constexpr std::uint32_t parity(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> parity_bit);
  }
  static constexpr bool is_object(std::uint64_t word) { return (word & object) != 0; }
  /// Returns the word of a phase.
  static constexpr std::uint64_t of(std::uint64_t expected, std::uint64_t pending,
                                    std::uint32_t parity, std::int64_t transactions = 0) {
    constexpr std::uint64_t field = (std::uint64_t{1} << transaction_bits) - 1;
    return std::uint64_t{parity} << parity_bit | object |
           (static_cast<std::uint64_t>(transactions) & field) << (2 * count_bits) |
           expected << count_bits | pending;
  }
  /// Returns whether the phase of that parity is over.
  static constexpr bool is_complete(std::uint64_t word, std::uint32_t of_parity) {
    return parity(word) != (of_parity & 1);
  }
};

/// Operation::mode and Instruction::detail of an mbarrier_wait.
enum class PhaseWaitMode : std::uint16_t {
  test,     ///< asks whether the phase is over
  suspend,  ///< waits until the phase is over, or until a time limit
};

constexpr bool is_of_mbarrier(AtomicOperation operation) {
  return operation >= AtomicOperation::mbarrier_init;
}
/// Returns whether the operation arrives when the thread's earlier asynchronous copies are through.
constexpr bool is_behind_copies(AtomicOperation operation) {
  return operation == AtomicOperation::arrive_behind_copies ||
         operation == AtomicOperation::join_behind_copies;
}

/// Returns the word after the operation with `count`. For an operation behind copies this is only
/// the immediate effect; the arrival follows, as an `arrive` of one. Precondition: mbarrier_mistake
/// returns nothing.
std::uint64_t mbarrier_step(AtomicOperation operation, std::uint64_t word, std::uint64_t count);

/// Returns the mistake in using the operation on a barrier with this word, if there is one.
InstructionMistake mbarrier_mistake(AtomicOperation operation, std::uint64_t word,
                                    std::uint64_t count, std::uint64_t shared_address);
/// Returns the mistake in waiting for the barrier, if there is one.
InstructionMistake wait_mistake(std::uint64_t word, std::uint64_t shared_address);

/// Returns the barrier's offset in shared memory: the address itself, or the generic one less the
/// base of the window.
constexpr std::uint64_t mbarrier_offset(Space space, std::uint64_t address) {
  return space == Space::generic ? address - shared_window_base : address;
}
/// Returns the mistake in the barrier's place in a block with `shared_bytes` bytes of shared
/// memory, if there is one.
InstructionMistake place_mistake(Space space, std::uint64_t address, std::uint64_t shared_bytes);

/// Tells lanes of a wait whether their phases are over.
inline void give_phase_result(std::uint32_t* row, std::uint32_t lanes, std::uint32_t complete) {
  for_each_lane(lanes, [&](unsigned lane) { row[lane] = complete >> lane & 1; });
}

/// Returns a text such as "the barrier at shared address 0x40, whose phase 0 waits for 2 more of
/// 128 arrivals".
std::string mbarrier_text(std::uint64_t word, std::uint64_t shared_address);

}  // namespace lockstep::isa
