/// A failed assert(): the arguments of __assertfail as text.
///
/// The reader turns a call of __assertfail into a trap with the message, the file, the line and the
/// function as sources; a thread that executes it ends the tenant, as with any trap.
/// Source: CUDA C++ Programming Guide, "Assertion"; PTX Interoperability guide, "System Calls".
///
/// Simplified: ModuleText must find the texts. One message stands for all threads that fail
/// together. As on hardware, no memory can be read back afterwards. Cost model: none, because the
/// tenant ends.
#pragma once

#include <string>

#include "models/isa/instruction.hpp"
#include "models/isa/ir.hpp"
#include "models/isa/semantics/surface_modes.hpp"
#include "models/isa/text/module_text.hpp"

namespace lockstep::isa {

/// Returns whether the trap is a failed assertion.
inline bool is_assertion(const Instruction& trap) {
  return trap.source[0].valid();
}

/// Message of a trap that is no failed assertion.
struct TrapMessage {
  const char *what, *advice;
};
inline TrapMessage message_of(const Instruction& trap) {
  if (trap.detail == outside_surface_trap)
    return {"an access lies outside of its surface",
            "keep x, in bytes, and y within it, or use cudaBoundaryModeZero or Clamp"};
  if (static_cast<ir::TrapReason>(trap.detail) == ir::TrapReason::freed)
    return {"free got a pointer that malloc did not give, or that was freed before",
            "free each block of malloc once, and nothing else"};
  return {"trap executed", "the program itself gave up here"};
}

inline constexpr const char* assertion_advice = "look at what the program asserts there";

/// Returns a text such as "assertion `i < n` failed at kernel.cu:7, void k(int)".
std::string assertion_text(const Instruction& trap, const WarpContext& context, unsigned lane,
                           const ModuleText& text);

}  // namespace lockstep::isa
