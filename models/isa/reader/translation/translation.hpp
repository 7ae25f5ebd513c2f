/// A function being read: the names in scope, its registers and variables, and the blocks of its
/// statements so far.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/isa/reader/names/symbols.hpp"
#include "models/isa/reader/translation/ptx_instruction.hpp"

namespace lockstep::isa {

class Translation {
 public:
  Translation(ModuleSymbols& module, const syntax::Function& source, SourceFunction& result);

  const syntax::Function& source() const { return source_; }
  const std::string& file() const { return module_.file; }
  ModuleSymbols& module() { return module_; }
  const SourceFunction& function(const Symbol& symbol) const {
    return module_.module->functions[symbol.index];
  }

  /// The mistake counts if no other module defines the function.
  void calls_undefined(std::uint32_t function, const UserError& mistake) {
    result_.undefined_calls.push_back({function, mistake});
  }

  // Names
  void open_scope(NameTable names = {}) { scopes_.push_back(std::move(names)); }
  void close_scope() { scopes_.pop_back(); }
  /// Adds a name.  Returns false if the innermost scope has the name already.
  bool add_name(const std::string& name, const Symbol& symbol);
  /// Returns the symbol of a name; null when there is no such name.
  const Symbol* lookup(const std::string& name) const;
  const Symbol& find(const syntax::Operand& operand) const;
  /// A label in front of .branchtargets stands for that list.
  void name_branch_targets(const std::string& label, std::vector<std::uint32_t> labels);

  // Declarations
  void declare_parameters();
  void declare(const syntax::Declaration& declaration);
  std::uint32_t new_register(Type type, const std::string& name = "");
  /// Returns the condition code.
  std::uint32_t carry_register();
  /// Returns the type of a register; of any other operand `otherwise`.
  Type register_type(const ir::Operand& operand, Type otherwise) const;

  /// Returns the constant in a register, by its last write in the text; nothing if that is no
  /// constant.
  std::optional<std::int64_t> constant_in(const ir::Operand& operand) const;

  // Code
  void append(ir::Operation operation);
  /// Fails on modifiers that have not been taken. Appends the instruction's operation.
  void finish(PtxInstruction& instruction);
  void place_label(std::uint32_t label);
  /// Prevents unrolling of the loop that begins here.
  void keep_rolled() { rolled_.insert(static_cast<std::uint32_t>(function_.blocks.size() - 1)); }
  /// Returns whether control flows into the next operation that is appended.
  bool falls_in() const { return !ended_; }
  /// Labels were numbered before blocks were known: `labels` of them.
  void number_labels(std::uint32_t labels) { label_block_.assign(labels, 0); }
  /// Returns a label that no text has; place_label says where it is.
  std::uint32_t new_label() {
    label_block_.push_back(0);
    return static_cast<std::uint32_t>(label_block_.size() - 1);
  }
  void resolve_labels();

 private:
  [[noreturn]] void fail(syntax::Position at, const std::string& what,
                         const std::string& advice) const;
  ir::Operand formal(const syntax::Declaration& declaration, Symbol& symbol);
  void declare_kernel_parameter(const syntax::Declaration& declaration, Symbol& symbol);
  void declare_registers(const syntax::Declaration& declaration);
  Symbol hidden_variable(const syntax::Declaration& declaration);
  std::uint32_t add_local(const ir::Variable& variable);
  void start_block();

  ModuleSymbols& module_;
  const syntax::Function& source_;
  SourceFunction& result_;
  ir::Function& function_;
  std::vector<NameTable> scopes_;
  std::vector<std::uint32_t> label_block_;          ///< block of each label
  std::set<std::uint32_t> rolled_;                  ///< blocks behind .pragma "nounroll"
  std::vector<std::vector<std::uint32_t>> tables_;  ///< labels of each .branchtargets
  std::uint32_t carry_ = ir::no_register;
  bool ended_ = true;  ///< true: the next operation starts a block
};

}  // namespace lockstep::isa
