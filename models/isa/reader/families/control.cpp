/// Branches, calls and what ends a thread.
/// Source: PTX ISA 8.x, section 9.7.12 "Control Flow Instructions" and 9.7.19.
#include "models/isa/reader/families/control.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "models/isa/text/kernel_title.hpp"

namespace lockstep::isa {

void ControlReader::plain(PtxInstruction& instruction) {
  instruction.operation.uniform = instruction.modifiers.take("uni");
  instruction.expect_arguments(0, 0);
  if (instruction.operation.opcode == Opcode::trap && code_.source().built_in)
    instruction.operation.mode = static_cast<std::uint16_t>(ir::TrapReason::freed);
  code_.finish(instruction);
}

void ControlReader::nanosleep(PtxInstruction& instruction) {
  instruction.operation.type = instruction.modifiers.take_type();
  instruction.expect_arguments(1, 1);
  instruction.operation.sources.push_back(
      operands_.source(instruction, instruction.argument(0), Type::b32));
  code_.finish(instruction);
}

void ControlReader::pmevent(PtxInstruction& instruction) {
  instruction.modifiers.take("mask");
  instruction.expect_arguments(1, 1);
  code_.finish(instruction);
}

void ControlReader::grid_dependency(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  const bool waits = modifiers.take("wait");
  if (!waits && !modifiers.take("launch_dependents"))
    instruction.fail("needs .wait or .launch_dependents");
  instruction.operation.mode = static_cast<std::uint16_t>(
      waits ? ir::GridDependencyStep::wait : ir::GridDependencyStep::launch_dependents);
  instruction.expect_arguments(0, 0);
  code_.finish(instruction);
}

void ControlReader::branch(PtxInstruction& instruction) {
  instruction.operation.uniform = instruction.modifiers.take("uni");
  instruction.expect_arguments(1, 1);
  instruction.operation.sources.push_back(operands_.label(instruction, instruction.argument(0)));
  code_.finish(instruction);
}

void ControlReader::branch_indexed(PtxInstruction& instruction) {
  instruction.operation.uniform = instruction.modifiers.take("uni");
  instruction.modifiers.take("idx");
  instruction.expect_arguments(2, 2);
  const Argument& name = instruction.argument(1);
  const Symbol& table = code_.find(name);
  if (table.kind != Symbol::Kind::table)
    instruction.fail(name.at, name.text + " is no list of branch targets",
                     "write \"" + name.text + ": .branchtargets first, second;\" before it");
  if (table.index == ir::no_register)
    instruction.fail(name.at, "branch targets " + name.text + " must stand before their use",
                     "move the list up");
  instruction.operation.immediate = table.index;
  instruction.operation.sources.push_back(
      operands_.source(instruction, instruction.argument(0), Type::u32));
  code_.finish(instruction);
}

namespace {

/// Returns whether the function belongs to the device run time and launches kernels, by the begin
/// of its name.
bool launches_kernels(std::string_view name) {
  constexpr std::string_view beginnings[] = {
      "__cuda_syscall_cnp",    "cudaLaunchDevice", "cudaGetParameterBuffer",
      "cudaDeviceSynchronize", "cudaStreamCreate", "cudaStreamDestroy",
      "cudaStreamWaitEvent",   "cudaEventCreate",  "cudaEventRecord",
      "cudaEventDestroy",      "__cudaCDP"};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

}  // namespace

UserError ControlReader::undefined(const Argument& callee) const {
  const std::string where = place_in(code_.file(), callee.at);
  if (launches_kernels(callee.text))
    return UserError(where,
                     "kernels that launch kernels are not supported in this release (" +
                         callee.text + " is called)",
                     "launch them from the host");
  return UserError(where,
                   "call of " + kernel_title(callee.text) + ", which has no body in this module",
                   "name the module that has it too; of the CUDA run time, assert, printf, malloc "
                   "and free are modelled in this release");
}

void ControlReader::check_callee(const PtxInstruction& instruction, const Argument& callee) {
  const Symbol& target = code_.find(callee);
  if (target.kind != Symbol::Kind::function) return;
  const SourceFunction& called = code_.function(target);
  if (!called.has_body) code_.calls_undefined(target.index, undefined(callee));
  if (called.code.is_entry)
    instruction.fail(callee.at, "call of kernel " + kernel_title(callee.text),
                     "make it a .func: kernels start no kernels in this release");
}

/// Reads call (results), function, (arguments), prototype.  The operation reads function,
/// arguments, then the addresses of returned structures; it writes scalar results.
void ControlReader::call(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  operation.uniform = instruction.modifiers.take("uni");
  std::vector<Argument> written = instruction.statement.operands;
  std::vector<Argument> results;
  if (!written.empty() && written.front().kind == Argument::Kind::group) {
    results = written.front().children;
    written.erase(written.begin());
  }
  if (written.empty() || written.front().kind != Argument::Kind::name)
    instruction.fail("needs a function");
  const Argument callee = written.front();
  std::vector<Argument> arguments;
  if (written.size() > 1 && written[1].kind == Argument::Kind::group)
    arguments = written[1].children;
  if (run_time_.call(instruction, callee, arguments)) return;
  check_callee(instruction, callee);
  operation.sources.push_back(operands_.source(instruction, callee, Type::b64));
  for (const Argument& a : arguments)
    operation.sources.push_back(operands_.call_operand(instruction, a));
  for (const Argument& r : results) {
    const ir::Operand operand = operands_.call_operand(instruction, r);
    (operand.kind == Kind::local_symbol ? operation.sources : operation.destinations)
        .push_back(operand);
  }
  code_.finish(instruction);
}

}  // namespace lockstep::isa
