#include "models/isa/reader/function_translator.hpp"

#include "models/isa/reader/families/instruction_table.hpp"

namespace lockstep::isa {

using syntax::Statement;

void FunctionTranslator::translate() {
  code_.open_scope();
  code_.declare_parameters();
  find_labels();
  code_.open_scope(scope_labels_[source_.body.size()]);
  Statement header;  // heading placed where the function stands
  header.at = source_.at;
  const PtxInstruction place(code_.file(), header);
  readers_.stack.remember(place);
  for (std::size_t i = 0; i < source_.body.size(); ++i) statement(i);
  if (code_.falls_in()) readers_.stack.give_back(place);
  code_.resolve_labels();
}

void FunctionTranslator::find_labels() {
  // A scope's labels are known before its first statement; they are kept by its opening statement.
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
        fail(code_.file(), s.at, "label " + s.text + " is defined twice",
             "rename one, or open a scope with {");
    }
  }
  code_.number_labels(labels);
}

void FunctionTranslator::statement(std::size_t index) {
  const Statement& s = source_.body[index];
  switch (s.kind) {
    case Statement::Kind::open:
      code_.open_scope(scope_labels_[index]);
      break;
    case Statement::Kind::close:
      code_.close_scope();
      break;
    case Statement::Kind::declaration:
      for (const syntax::Declaration& d : s.declarations) code_.declare(d);
      break;
    case Statement::Kind::label:
      if (const Symbol& symbol = *code_.lookup(s.text); symbol.kind == Symbol::Kind::label)
        code_.place_label(symbol.index);
      break;
    case Statement::Kind::branch_targets:
      branch_targets(index);
      break;
    case Statement::Kind::prototype:
      break;
    case Statement::Kind::pragma:
      if (s.text.find("\"nounroll\"") != std::string::npos) code_.keep_rolled();
      break;
    case Statement::Kind::instruction:
      read_instruction(readers_, code_, s);
      break;
  }
}

void FunctionTranslator::branch_targets(std::size_t index) {
  std::vector<std::uint32_t> targets;
  for (const syntax::Operand& operand : source_.body[index].operands) {
    const Symbol& target = code_.find(operand);
    // .calltargets lists functions: any function may be called indirectly here.
    if (target.kind == Symbol::Kind::label) targets.push_back(target.index);
  }
  const bool named = index > 0 && source_.body[index - 1].kind == Statement::Kind::label;
  code_.name_branch_targets(named ? source_.body[index - 1].text : "", std::move(targets));
}

}  // namespace lockstep::isa
