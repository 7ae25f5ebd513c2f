/// Exception schemes: ways in which the pipeline makes sure that a faulting instruction can be
/// squashed and issued again.
///
/// The scheme is called four times for each memory instruction that may fault: before issue (it may
/// refuse), after issue, at the last translation check (the instruction can fault no more), and
/// when the results are there.  In between the scheme may hold fetch back or protect source
/// registers.  All preemptible schemes squash and issue again in the same way: see
/// faultable_accesses.hpp.  Other instructions cost no virtual call.
/// Source: 000, sections 2 and 3.
#pragma once

#include <memory>
#include <optional>

#include "core/checkpoint/archive.hpp"
#include "core/parameters/policy.hpp"
#include "models/sm/front_end/front_end.hpp"
#include "models/sm/tables/precise_record.hpp"

namespace lockstep {

class ExceptionScheme {
 public:
  /// Parts of the SM on which a scheme acts.
  struct Pipeline {
    const SmConstants& constants;
    SmStatistics& statistics;
    ResidentBlocks& blocks;
    FrontEnd& front_end;

    HeldWarps& held() const { return front_end.held(); }
  };

  virtual ~ExceptionScheme() = default;
  /// Returns whether the scheme can squash; false: a fault is a long translation miss, and nothing
  /// below is called.
  virtual bool preemptible() const { return true; }
  /// Instructions that are issued again read their operands from a log, not from registers.
  virtual bool logs_operands() const { return false; }
  /// Returns whether the scheme needs calls of committed(). If not, an instruction is done for the
  /// scheme at its last check.
  virtual bool hears_commits() const { return false; }
  /// Entries of the operand log of an SM; every block needs as many as its largest instruction
  /// takes.
  virtual std::uint32_t log_entries() const { return 0; }

  /// Returns why the warp's next instruction must not issue; nothing: the scheme lets it issue.
  virtual std::optional<StallCause> refusal(const Pipeline&, WarpSlot, const PreciseRecord&) {
    return std::nullopt;
  }
  virtual void issued(const Pipeline&, WarpSlot, const PreciseRecord&) {}
  /// The instruction's last check was in the cycle before `now`.
  virtual void checked(const Pipeline&, WarpSlot, const PreciseRecord&, SmCycle /*now*/) {}
  /// Notes that the instruction committed in the cycle before `now`.
  virtual void committed(const Pipeline&, WarpSlot, const PreciseRecord&, SmCycle /*now*/) {}
  virtual void block_entered(const Pipeline&, BlockPlace) {}
  /// Frees what the scheme holds for this squashed instruction, because its warp's block leaves.
  virtual void context_out(const Pipeline&, WarpSlot, const PreciseRecord&, SmCycle /*now*/) {}
  /// The warp's block has returned, and the instruction waits to be issued again.
  virtual void context_in(const Pipeline&, WarpSlot, const PreciseRecord&) {}
  virtual void serialize(Archive&) {}
};

std::unique_ptr<ExceptionScheme> make_exception_scheme(const PolicyChoice& choice);

using MakeExceptionScheme = std::unique_ptr<ExceptionScheme> (*)(const PolicyChoice&);

}  // namespace lockstep
