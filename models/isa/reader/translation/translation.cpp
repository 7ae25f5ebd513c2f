#include "models/isa/reader/translation/translation.hpp"

#include <algorithm>

#include "models/isa/opcodes/branch_mode.hpp"
#include "models/isa/opcodes/table.hpp"

namespace lockstep::isa {

Translation::Translation(ModuleSymbols& module, const syntax::Function& source,
                         SourceFunction& result)
    : module_(module), source_(source), result_(result), function_(result.code) {}

void Translation::fail(syntax::Position at, const std::string& what,
                       const std::string& advice) const {
  isa::fail(module_.file, at, what, advice);
}

bool Translation::add_name(const std::string& name, const Symbol& symbol) {
  return scopes_.back().emplace(name, symbol).second;
}

const Symbol* Translation::lookup(const std::string& name) const {
  for (std::size_t s = scopes_.size(); s-- > 0;)
    if (const auto found = scopes_[s].find(name); found != scopes_[s].end()) return &found->second;
  const auto found = module_.names.find(name);
  return found == module_.names.end() ? nullptr : &found->second;
}

const Symbol& Translation::find(const syntax::Operand& operand) const {
  const Symbol* symbol = lookup(operand.text);
  if (symbol == nullptr) {
    if (operand.text.starts_with("%") && operand.text.find('.') != std::string::npos)
      fail(operand.at, "special register " + operand.text + " is not supported",
           "what it holds is not modelled in this release: give it as a kernel parameter");
    fail(operand.at, "unknown name " + operand.text,
         operand.text.starts_with("%") ? "declare it with .reg in this scope"
                                       : "declare it in this scope, or before the functions");
  }
  return *symbol;
}

void Translation::name_branch_targets(const std::string& label, std::vector<std::uint32_t> labels) {
  for (std::size_t s = scopes_.size(); s-- > 0;)
    if (const auto found = scopes_[s].find(label); found != scopes_[s].end()) {
      found->second.index = static_cast<std::uint32_t>(tables_.size());
      break;
    }
  tables_.push_back(std::move(labels));
}

std::uint32_t Translation::carry_register() {
  if (carry_ == ir::no_register) carry_ = new_register(Type::pred, "%cc");
  return carry_;
}

Type Translation::register_type(const ir::Operand& operand, Type otherwise) const {
  return operand.kind == ir::Operand::Kind::reg ? function_.registers[operand.index].type
                                                : otherwise;
}

std::optional<std::int64_t> Translation::constant_in(const ir::Operand& operand) const {
  ir::Operand wanted = operand;
  for (std::size_t b = function_.blocks.size(); b-- > 0;) {
    const std::vector<ir::Operation>& operations = function_.blocks[b].operations;
    for (std::size_t o = operations.size(); o-- > 0;) {
      if (wanted.kind != ir::Operand::Kind::reg) break;
      const ir::Operation& operation = operations[o];
      const auto writes = [&](const ir::Operand& to) {
        return to.kind == ir::Operand::Kind::reg && to.index == wanted.index;
      };
      if (!std::ranges::any_of(operation.destinations, writes)) continue;
      if (operation.opcode != Opcode::mov || operation.sources.size() != 1) return std::nullopt;
      wanted = operation.sources[0];  // a copy: follow the source
    }
  }
  if (wanted.kind != ir::Operand::Kind::immediate) return std::nullopt;
  return wanted.value;
}

void Translation::start_block() {
  function_.blocks.emplace_back();
  ended_ = false;
}

void Translation::place_label(std::uint32_t label) {
  // Several labels in a row share a block.
  if (ended_ || !function_.blocks.back().operations.empty()) start_block();
  label_block_[label] = static_cast<std::uint32_t>(function_.blocks.size() - 1);
  ended_ = false;
}

void Translation::append(ir::Operation operation) {
  if (ended_) start_block();
  const bool always = operation.guard.kind == ir::Operand::Kind::none;
  ended_ = is_branch(operation.opcode) || (ends_thread(operation.opcode) && always);
  function_.blocks.back().operations.push_back(std::move(operation));
}

void Translation::finish(PtxInstruction& instruction) {
  instruction.reject_rest();
  append(std::move(instruction.operation));
}

void Translation::resolve_labels() {
  if (function_.blocks.empty()) start_block();
  for (ir::Block& block : function_.blocks)
    for (ir::Operation& operation : block.operations)
      for (ir::Operand& operand : operation.sources) {
        if (operand.kind != ir::Operand::Kind::label) continue;
        operand.index = label_block_[operand.index];
        if (operation.opcode == Opcode::bra && rolled_.contains(operand.index))
          operation.mode = branch_keeps_rolled;
      }
  for (std::vector<std::uint32_t>& table : tables_) {
    for (std::uint32_t& target : table) target = label_block_[target];
    function_.branch_tables.push_back(table);
  }
}

}  // namespace lockstep::isa
