/// Encoding of functions over virtual registers into a program: the last step of loading a module.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/isa/encode/link.hpp"
#include "models/isa/program.hpp"
#include "models/isa/source_module.hpp"

namespace lockstep::isa {

/// Local memory reserved per thread for the calls of recursive functions (the CUDA run time's
/// default is 1 KiB; here memory is sparse).
inline constexpr std::uint32_t recursion_stack_bytes = 64 * 1024;
/// Local memory reserved per thread for alloca.
inline constexpr std::uint32_t stack_bytes = 64 * 1024;

/// Encodes kernel `kernel` of `module` and its callees. `functions`: compiled functions by the
/// module's function index. Returns nothing if the code needs more rows or predicates than
/// instructions can name.
std::optional<Program> encode(const SourceModule& module, std::uint32_t kernel,
                              std::span<const LinkInput> functions);

/// Returns the part of a kernel's programs that is known before they are made.
Program program_header(const SourceFunction& kernel);
/// Returns the functions whose address stands in a variable.
std::vector<std::uint32_t> functions_in_variables(const SourceModule& module);

/// Fills Program::needs.
void find_needs(Program& program);
/// Fills Program::live_rows; needs up to 256 rows.
void find_live_rows(Program& program);

}  // namespace lockstep::isa
