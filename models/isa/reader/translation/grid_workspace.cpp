/// %envreg1 and %envreg2: halves of the address of the memory through which the blocks of a
/// cooperative grid meet.  It is zero before the first grid, and each barrier leaves it ready for
/// the next.
///
/// Source: what nvcc makes of cooperative_groups::grid_group::sync; PTX leaves the meaning of these
/// registers to the driver.
///
/// Simplified: a module has one such place; so a tenant's cooperative grids must not overlap
/// (models/dispatch/gangs.hpp).
#include "models/isa/reader/translation/grid_workspace.hpp"

#include "models/isa/program.hpp"

namespace lockstep::isa {

namespace {

constexpr const char* workspace = grid_workspace_name;

}  // namespace

ir::Operand workspace_half(Translation& code, const PtxInstruction& instruction, bool high) {
  ModuleSymbols& module = code.module();
  if (!module.names.contains(workspace)) {
    syntax::Declaration declaration;
    declaration.at = instruction.at();
    declaration.type = "b64";
    declaration.name = workspace;
    declare_global(module, declaration);
  }
  const auto fresh = [&](Type type) {
    ir::Operand operand;
    operand.kind = ir::Operand::Kind::reg;
    operand.index = code.new_register(type, workspace);
    return operand;
  };
  ir::Operation address = instruction.plain(Opcode::mov, Type::b64);
  address.sources.emplace_back().kind = ir::Operand::Kind::global_symbol;
  address.sources.back().index = module.names.at(workspace).index;
  address.destinations.push_back(fresh(Type::b64));
  ir::Operation halves = instruction.plain(Opcode::mov_unpack, Type::b64);
  halves.sources = address.destinations;
  halves.destinations = {fresh(Type::b32), fresh(Type::b32)};
  const ir::Operand result = halves.destinations[high ? 1 : 0];
  code.append(std::move(address));
  code.append(std::move(halves));
  return result;
}

}  // namespace lockstep::isa
