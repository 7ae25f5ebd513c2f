#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "models/isa/reader/modifiers.hpp"
#include "models/isa/reader/symbols.hpp"
#include "models/isa/semantics/modes.hpp"

namespace lockstep::isa {

/// Turns the statements of one function into blocks of operations.
class FunctionTranslator {
 public:
  FunctionTranslator(ModuleSymbols& module, const syntax::Function& source, SourceFunction& result);
  void translate();

 private:
  /// The instruction being translated.
  struct Current {
    const syntax::Statement* statement = nullptr;
    Modifiers modifiers;
    ir::Operation operation;
  };

  // function_translator.cpp: names, blocks, operands
  [[noreturn]] void fail(syntax::Position at, const std::string& what,
                         const std::string& advice = "") const;
  [[noreturn]] void fail(const Current& current, const std::string& what) const;
  void declare_parameters();
  ir::Operand formal(const syntax::Declaration& declaration, Symbol& symbol);
  void declare(const syntax::Declaration& declaration);
  void declare_registers(const syntax::Declaration& declaration);
  void find_labels();
  const Symbol* lookup(const std::string& name) const;
  const Symbol& find(const syntax::Operand& operand) const;
  void statement(std::size_t index);
  void place_label(std::uint32_t label);
  void start_block();
  std::uint32_t new_register(Type type, const std::string& name = "");
  std::uint32_t add_local(const ir::Variable& variable);
  std::uint32_t carry_register();

  void instruction(const syntax::Statement& statement);
  /// Fails on modifiers nobody took, checks that the operation exists, appends it.
  void finish(Current& current);
  void reject_rest(const Current& current) const;
  void append(ir::Operation operation);
  ir::Operation plain(const Current& current, Opcode opcode, Type type) const;

  const syntax::Operand& argument(const Current& current, std::size_t index) const;
  void expect_arguments(const Current& current, std::size_t least, std::size_t most) const;
  /// A source read as `type`; `wider`: a register may be wider than the type.
  ir::Operand source(Current& current, const syntax::Operand& operand, Type type,
                     bool wider = false);
  ir::Operand structure_address(const Current& current, const Symbol& structure,
                                std::int64_t addend);
  ir::Operand read_special(Current& current, ir::SpecialRegister special, const std::string& name);
  ir::Operand symbol_operand(const Current& current, const syntax::Operand& operand, Type type,
                             bool wider);
  ir::Operand destination(const Current& current, const syntax::Operand& operand, Type type,
                          bool wider = false);
  /// Neither -x nor x.h1.
  void check_plain(const syntax::Operand& operand) const;
  ir::Operand predicate(Current& current, const syntax::Operand& operand);
  ir::Operand immediate(const Current& current, const syntax::Operand& operand, Type type) const;
  ir::Operand label(const syntax::Operand& operand) const;
  void check_width(const Current& current, const syntax::Operand& operand, Type declared, Type type,
                   bool wider) const;
  /// [base + offset] into sources[0] and offset.
  void address(Current& current, const syntax::Operand& operand);

  // arithmetic.cpp
  bool arithmetic(Current& current);
  void alu(Current& current, const struct AluForm& form);
  void alu_modifiers(Current& current);
  void comparison(Current& current);
  void selection(Current& current);
  void logic3(Current& current);
  void move(Current& current);
  // conversions.cpp
  void convert(Current& current);
  void convert_fp8(Current& current);
  void convert_address(Current& current);
  // grid_workspace.cpp
  ir::Operand workspace_half(Current& current, bool high);
  // video.cpp
  bool video(Current& current);
  bool packed_integers(Current& current);
  std::uint32_t video_modifiers(Current& current, VideoOperation operation);
  void scalar_video(Current& current, VideoOperation which);
  void simd_video(Current& current, VideoOperation which, unsigned parts);
  std::vector<unsigned> selected_parts(const syntax::Operand& written, unsigned parts,
                                       unsigned limit) const;
  ir::Operand selected(Current& current, std::size_t which, unsigned parts);
  // memory.cpp
  bool memory(Current& current);
  void memory_qualifiers(Current& current);
  void load(Current& current);
  void store(Current& current);
  /// The type of an element in memory; .b128 becomes two of b64.
  Type memory_type(Current& current);
  /// The registers of a vector, of a .b128 register, or the one operand.
  std::vector<syntax::Operand> elements(const Current& current,
                                        const syntax::Operand& operand) const;
  void fence(Current& current);
  void prefetch(Current& current);
  bool parameter_access(Current& current, bool is_store);
  void read_kernel_parameter(Current& current, const syntax::Operand& name, const Symbol& symbol);
  void move_parameter(Current& current, const syntax::Operand& name, const Symbol& symbol,
                      bool is_store);
  /// Type of a register; of any other operand `otherwise`.
  Type register_type(const ir::Operand& operand, Type otherwise) const;
  // atomics.cpp
  void atomic(Current& current);
  void atomic_of_eight(Current& current);
  // wide_registers.cpp
  bool is_b128(const syntax::Operand& operand) const;
  std::vector<syntax::Operand> halves(const syntax::Operand& operand) const;
  void declare_b128(const syntax::Declaration& declaration);
  void move_b128(Current& current);
  // warp.cpp
  bool warp(Current& current);
  void shuffle(Current& current);
  void register_and_predicate(Current& current, const syntax::Operand& to);
  void vote(Current& current);
  void match_or_reduce(Current& current);
  void barrier(Current& current);
  // control.cpp
  bool control(Current& current);
  void branch(Current& current);
  void branch_indexed(Current& current);
  void call(Current& current);
  /// An argument or result of a call.
  ir::Operand call_operand(Current& current, const syntax::Operand& name);
  // run_time_calls.cpp
  /// False: no function of the CUDA run time that is known here.
  bool run_time_call(Current& current, const syntax::Operand& callee,
                     const std::vector<syntax::Operand>& arguments);
  void assertion(Current& current, const syntax::Operand& callee,
                 const std::vector<syntax::Operand>& arguments);
  void free_memory(Current& current, const syntax::Operand& callee,
                   const std::vector<syntax::Operand>& arguments);
  /// print.begin, print.word, print.end of built-in functions.
  bool print(Current& current);
  // expansion.cpp
  /// The result of an operation in a new register.
  ir::Operand compute(const Current& current, Opcode opcode, Type type, const ir::Operand& a,
                      const ir::Operand& b);
  /// Copies 32 bits to an operand of `type`, zeros above.
  void widen(const Current& current, const ir::Operand& from, const ir::Operand& to, Type type);
  /// The low 32 bits of an operand of `type`.
  ir::Operand narrow(const Current& current, const ir::Operand& operand, Type type);
  // stack.cpp
  /// alloca, stacksave, stackrestore.
  bool stack(Current& current);
  void allocate(Current& current);
  ir::Operand stack_end(const Current& current);
  void set_stack_end(const Current& current, const ir::Operand& end);
  /// A device function that allocates remembers where the stack ended, and ends it there again.
  void remember_stack();
  /// What stands where the function does.
  Current header();
  void restore_stack(const Current& current);
  // mbarrier.cpp
  bool mbarrier(Current& current);
  void mbarrier_init(Current& current);
  void mbarrier_arrive(Current& current, bool drops);
  void mbarrier_wait(Current& current);
  void mbarrier_pending_count(Current& current);
  ir::Operand mbarrier_counts(Current& current, std::size_t which, bool twice);
  /// The named state space; nothing but .cta scope and the release or acquire that is the rule.
  void mbarrier_qualifiers(Current& current);

  ModuleSymbols& module_;
  const syntax::Function& source_;
  SourceFunction& result_;
  ir::Function& function_;
  std::vector<NameTable> scopes_;
  std::vector<std::uint32_t> label_block_;                   ///< by label
  std::unordered_map<std::size_t, NameTable> scope_labels_;  ///< by opening statement
  std::vector<std::vector<std::uint32_t>> tables_;           ///< labels of .branchtargets
  std::uint32_t carry_ = ir::no_register;
  syntax::Statement header_;
  std::uint32_t remembered_stack_ = ir::no_register;
  bool ended_ = true;  ///< the next operation starts a block
};

}  // namespace lockstep::isa
