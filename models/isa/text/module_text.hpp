/// The text to which a pointer of a kernel points.
///
/// Compilers keep string literals in .global or .const variables with an initial content.  A
/// pointer into such a variable names the bytes from there to the next zero. Source: CUDA C++
/// Programming Guide, "Formatted Output" and "Assertion" (C++ Language Extensions).
///
/// Simplified: the text is the variable's initial content, without later stores of kernels; other
/// pointers (to buffers, local or shared memory, variables without initial content) have no text.
/// So no thread waits for memory in order to print.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "models/isa/program.hpp"

namespace lockstep::isa {

class ModuleText {
 public:
  /// `global_addresses`: addresses of Module::globals. Both outlive this.
  ModuleText(const Module& module, std::span<const std::uint64_t> global_addresses)
      : module_(module), global_addresses_(global_addresses) {}

  std::optional<std::string> at(std::uint64_t address) const;
  /// Returns the text, or the address where there is none: "<0x7f00>".
  std::string or_address(std::uint64_t address) const;

 private:
  const Module& module_;
  std::span<const std::uint64_t> global_addresses_;
};

}  // namespace lockstep::isa
