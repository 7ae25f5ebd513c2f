#pragma once

#include <unordered_map>

#include "models/isa/reader/families/readers.hpp"

namespace lockstep::isa {

/// Goes through the statements of one function: scopes, labels and declarations; instructions go to
/// the readers of their families.
class FunctionTranslator {
 public:
  FunctionTranslator(ModuleSymbols& module, const syntax::Function& source, SourceFunction& result)
      : source_(source), code_(module, source, result), readers_(code_) {}
  void translate();

 private:
  void find_labels();
  void statement(std::size_t index);
  void branch_targets(std::size_t index);

  const syntax::Function& source_;
  Translation code_;
  Readers readers_;
  /// Labels of each scope, by its opening statement.
  std::unordered_map<std::size_t, NameTable> scope_labels_;
};

}  // namespace lockstep::isa
