#include "models/isa/load.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "core/error/error.hpp"
#include "models/isa/control_flow/control_flow.hpp"
#include "models/isa/encode/encode.hpp"
#include "models/isa/reader/reader.hpp"

namespace lockstep::isa {
namespace {

constexpr std::uint32_t scoreboard_rows = 256;
constexpr std::uint32_t registers_of_an_sm = 65536;

/// Registers a thread may have: .maxnreg, and what lets a block of .maxntid threads fit.
std::uint32_t register_limit(const SourceFunction& kernel, const LoweringOptions& options) {
  std::uint32_t limit = options.maximum_registers;
  if (kernel.maximum_registers != 0) limit = std::min(limit, kernel.maximum_registers);
  std::uint32_t threads = kernel.maximum_threads;
  const auto& block = kernel.required_block;
  if (block[0] != 0) threads = block[0] * block[1] * block[2];
  if (threads != 0) limit = std::min(limit, std::max(registers_of_an_sm / threads / 8 * 8, 24u));
  return limit;
}

struct Lowered {
  std::deque<ir::Function> functions;
  std::deque<Allocation> allocations;
  std::vector<LinkInput> inputs;
};

Lowered lower_all(const SourceModule& source, const LoweringOptions& options) {
  Lowered result;
  for (const SourceFunction& f : source.functions) {
    LinkInput input;
    if (f.has_body) {
      ir::Function& copy = result.functions.emplace_back(f.code);
      LoweringOptions own = options;
      own.maximum_registers = register_limit(f, options);
      input.allocation = &result.allocations.emplace_back(lower(copy, own));
      find_successors(copy);
      input.function = &copy;
    }
    result.inputs.push_back(input);
  }
  return result;
}

/// A thread's registers: the kernel's and those of the functions below it.
std::uint32_t registers_per_thread(const SourceModule& source, std::uint32_t kernel,
                                   const Lowered& lowered, const Program& program) {
  const std::uint32_t own = lowered.inputs[kernel].allocation->registers_per_thread;
  std::uint32_t called = 0;
  for (std::uint32_t f = 0; f < source.functions.size(); ++f)
    if (f != kernel && program.function_entries[f] != no_reconvergence)
      called = std::max(called, lowered.inputs[f].allocation->registers_per_thread);
  return std::max(own, std::min(own + called, 255u) * (called != 0 ? 1u : 0u));
}

Program lowered_program(const SourceModule& source, std::uint32_t kernel, const Lowered& lowered,
                        const LoweringOptions& options) {
  Program program = encode(source, kernel, lowered.inputs);
  if (program.rows > scoreboard_rows || program.predicates > 64) {
    // Pairs and single rows do not share: fewer registers leave room for that.
    if (options.maximum_registers <= 32)
      throw UserError(source.file,
                      "kernel " + program.name + " needs more registers than a warp has");
    LoweringOptions fewer = options;
    fewer.maximum_registers = options.maximum_registers * 3 / 4;
    const Lowered again = lower_all(source, fewer);
    return lowered_program(source, kernel, again, fewer);
  }
  program.registers_per_thread = registers_per_thread(source, kernel, lowered, program);
  find_live_rows(program);
  return program;
}

Module make_module(SourceModule source, const LoweringOptions& options) {
  Module module;
  module.file = source.file;
  std::vector<LinkInput> reference;
  for (SourceFunction& f : source.functions) {
    module.functions.push_back(f.code.name);
    if (f.has_body) find_successors(f.code);
    reference.push_back({f.has_body ? &f.code : nullptr, nullptr});
  }
  const Lowered lowered = lower_all(source, options);
  for (std::uint32_t f = 0; f < source.functions.size(); ++f) {
    if (!source.functions[f].code.is_entry || !source.functions[f].has_body) continue;
    Kernel kernel;
    kernel.reference = encode(source, f, reference);
    kernel.lowered = lowered_program(source, f, lowered, options);
    module.kernels.push_back(std::move(kernel));
  }
  module.globals = std::move(source.globals);
  module.constant_image = std::move(source.constant_image);
  module.constant_relocations = std::move(source.constant_relocations);
  return module;
}

}  // namespace

Module load_module(const std::string& path, const LoweringOptions& options) {
  return make_module(read_ptx_file(path), options);
}

Module load_module_text(const std::string& text, const std::string& file,
                        const LoweringOptions& options) {
  return make_module(read_ptx(text, file), options);
}

std::vector<std::uint32_t> fill_constants(const Program& program,
                                          const std::vector<std::byte>& parameters,
                                          const std::vector<std::uint64_t>& global_addresses) {
  std::vector<std::uint32_t> rows(std::size_t{program.constant_rows} * warp_size);
  for (const ConstantRow& constant : program.constants) {
    std::uint64_t value = 0;
    if (constant.source == ConstantRow::Source::global_symbol) {
      LOCKSTEP_CHECK(constant.index < global_addresses.size(), "global variable without address");
      value = global_addresses[constant.index] + static_cast<std::uint64_t>(constant.offset);
    } else {
      const auto offset = static_cast<std::size_t>(constant.offset);
      LOCKSTEP_CHECK(offset + constant.bytes <= parameters.size(), "parameter buffer too short");
      std::memcpy(&value, parameters.data() + offset, constant.bytes);
      if (constant.is_signed && constant.bytes < 8) {
        const unsigned shift = 64 - 8 * constant.bytes;
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
      }
    }
    if (constant.width < 8) value &= (std::uint64_t{1} << 8 * constant.width) - 1;
    std::uint32_t* row = rows.data() + std::size_t{constant.row} * warp_size;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (constant.width == 8) {
        std::memcpy(row + 2 * lane, &value, 8);
      } else {
        row[lane] = static_cast<std::uint32_t>(value);
      }
    }
  }
  return rows;
}

void relocate(std::vector<std::byte>& bytes,
              const std::vector<GlobalVariable::Relocation>& relocations, const Module& module,
              const std::vector<std::uint64_t>& global_addresses) {
  using Target = GlobalVariable::Relocation::Target;
  for (const GlobalVariable::Relocation& r : relocations) {
    LOCKSTEP_CHECK(r.target != Target::function || r.index < module.functions.size(),
                   "address of an unknown function");
    std::uint64_t value = static_cast<std::uint64_t>(r.addend);
    value += r.target == Target::global     ? global_addresses[r.index]
             : r.target == Target::constant ? constant_window_base
                                            : r.index;
    value >>= r.shift;
    std::memcpy(bytes.data() + r.offset, &value, r.bytes);
  }
}

}  // namespace lockstep::isa
