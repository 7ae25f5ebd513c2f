#include "models/isa/reader/function_translator.hpp"

#include "models/isa/reader/names.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;
using syntax::Statement;

FunctionTranslator::FunctionTranslator(ModuleSymbols& module, const syntax::Function& source,
                                       SourceFunction& result)
    : module_(module), source_(source), result_(result), function_(result.code) {}

void FunctionTranslator::fail(syntax::Position at, const std::string& what,
                              const std::string& advice) const {
  isa::fail(module_.file, at, what, advice);
}

void FunctionTranslator::fail(const Current& current, const std::string& what) const {
  fail(current.statement->at, current.statement->text + ": " + what);
}

void FunctionTranslator::translate() {
  scopes_.assign(1, module_.names);
  scopes_.emplace_back();
  declare_parameters();
  find_labels();
  scopes_.push_back(scope_labels_[source_.body.size()]);
  remember_stack();
  for (std::size_t i = 0; i < source_.body.size(); ++i) statement(i);
  if (!ended_) restore_stack(header());
  if (function_.blocks.empty()) start_block();
  // Labels were numbered before blocks were known.
  for (ir::Block& block : function_.blocks)
    for (ir::Operation& operation : block.operations)
      for (ir::Operand& operand : operation.sources)
        if (operand.kind == Kind::label) operand.index = label_block_[operand.index];
  for (std::vector<std::uint32_t>& table : tables_) {
    for (std::uint32_t& target : table) target = label_block_[target];
    function_.branch_tables.push_back(table);
  }
}

void FunctionTranslator::find_labels() {
  // A scope's labels are known before its first statement; they are kept by where it opens.
  std::vector<std::size_t> open{source_.body.size()};
  std::uint32_t labels = 0;
  for (std::size_t i = 0; i < source_.body.size(); ++i) {
    const Statement& s = source_.body[i];
    if (s.kind == Statement::Kind::open) {
      open.push_back(i);
    } else if (s.kind == Statement::Kind::close) {
      open.pop_back();
    } else if (s.kind == Statement::Kind::label) {
      Symbol symbol;
      const Statement::Kind next = i + 1 < source_.body.size() ? source_.body[i + 1].kind : s.kind;
      if (next == Statement::Kind::branch_targets) {
        symbol.kind = Symbol::Kind::table;
        symbol.index = ir::no_register;
      } else if (next == Statement::Kind::prototype) {
        symbol.kind = Symbol::Kind::prototype;
      } else {
        symbol.kind = Symbol::Kind::label;
        symbol.index = labels++;
      }
      if (!scope_labels_[open.back()].emplace(s.text, symbol).second)
        fail(s.at, "label " + s.text + " is defined twice");
    }
  }
  label_block_.assign(labels, 0);
}

const Symbol* FunctionTranslator::lookup(const std::string& name) const {
  for (std::size_t s = scopes_.size(); s-- > 0;)
    if (const auto found = scopes_[s].find(name); found != scopes_[s].end()) return &found->second;
  return nullptr;
}

const Symbol& FunctionTranslator::find(const syntax::Operand& operand) const {
  const Symbol* symbol = lookup(operand.text);
  if (symbol == nullptr) {
    if (operand.text.starts_with("%") && operand.text.find('.') != std::string::npos)
      fail(operand.at, "special register " + operand.text + " is not supported");
    fail(operand.at, "unknown name " + operand.text);
  }
  return *symbol;
}

void FunctionTranslator::statement(std::size_t index) {
  const Statement& s = source_.body[index];
  switch (s.kind) {
    case Statement::Kind::open:
      scopes_.push_back(scope_labels_[index]);
      break;
    case Statement::Kind::close:
      scopes_.pop_back();
      break;
    case Statement::Kind::declaration:
      for (const syntax::Declaration& d : s.declarations) declare(d);
      break;
    case Statement::Kind::label:
      if (const Symbol& symbol = *lookup(s.text); symbol.kind == Symbol::Kind::label)
        place_label(symbol.index);
      break;
    case Statement::Kind::branch_targets: {
      std::vector<std::uint32_t> targets;
      for (const syntax::Operand& operand : s.operands) {
        const Symbol& target = find(operand);
        // .calltargets lists functions: any function may be called indirectly here.
        if (target.kind == Symbol::Kind::label) targets.push_back(target.index);
      }
      if (index > 0 && source_.body[index - 1].kind == Statement::Kind::label)
        for (std::size_t scope = scopes_.size(); scope-- > 0;)
          if (const auto found = scopes_[scope].find(source_.body[index - 1].text);
              found != scopes_[scope].end()) {
            found->second.index = static_cast<std::uint32_t>(tables_.size());
            break;
          }
      tables_.push_back(std::move(targets));
      break;
    }
    case Statement::Kind::prototype:
      break;
    case Statement::Kind::instruction:
      instruction(s);
      break;
  }
}

void FunctionTranslator::start_block() {
  function_.blocks.emplace_back();
  ended_ = false;
}

void FunctionTranslator::place_label(std::uint32_t label) {
  // Several labels in a row share a block.
  if (ended_ || !function_.blocks.back().operations.empty()) start_block();
  label_block_[label] = static_cast<std::uint32_t>(function_.blocks.size() - 1);
  ended_ = false;
}

std::uint32_t FunctionTranslator::carry_register() {
  if (carry_ == ir::no_register) carry_ = new_register(Type::pred, "%cc");
  return carry_;
}

void FunctionTranslator::instruction(const Statement& s) {
  Current current{&s, Modifiers(s.text), {}};
  current.operation.line = s.at.line;
  current.operation.column = s.at.column;
  if (s.guarded) {
    syntax::Operand guard;
    guard.text = s.guard;
    guard.at = s.guard_at;
    guard.negated = s.guard_negated;
    current.operation.guard = predicate(current, guard);
  }
  if (source_.built_in && print(current)) return;
  if (arithmetic(current) || memory(current) || warp(current) || control(current) ||
      stack(current) || mbarrier(current))
    return;
  fail(
      s.at, "instruction " + s.text + " is not supported",
      "textures, surfaces, matrix instructions, asynchronous copies and clusters are not modelled");
}

void FunctionTranslator::reject_rest(const Current& current) const {
  if (!current.modifiers.rest().empty())
    fail(current, "modifier ." + current.modifiers.rest().front() + " is not supported here");
}

void FunctionTranslator::finish(Current& current) {
  reject_rest(current);
  append(std::move(current.operation));
}

ir::Operation FunctionTranslator::plain(const Current& current, Opcode opcode, Type type) const {
  ir::Operation operation;
  operation.opcode = opcode;
  operation.type = type;
  operation.line = current.operation.line;
  operation.column = current.operation.column;
  return operation;
}

void FunctionTranslator::append(ir::Operation operation) {
  if (ended_) start_block();
  switch (operation.opcode) {
    case Opcode::bra:
    case Opcode::brx:
      ended_ = true;
      break;
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
      ended_ = operation.guard.kind == Kind::none;
      break;
    default:
      break;
  }
  function_.blocks.back().operations.push_back(std::move(operation));
}

}  // namespace lockstep::isa
