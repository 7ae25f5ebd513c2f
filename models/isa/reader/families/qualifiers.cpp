#include "models/isa/reader/families/qualifiers.hpp"

#include "models/isa/reader/translation/wide_registers.hpp"

namespace lockstep::isa {

namespace {

constexpr std::pair<std::string_view, Space> space_names[] = {
    {"global", Space::global},          {"shared", Space::shared},
    {"shared::cta", Space::shared},     {"local", Space::local},
    {"const", Space::constant},         {"param", Space::parameter},
    {"param::entry", Space::parameter}, {"param::func", Space::parameter}};
constexpr std::pair<std::string_view, Ordering> ordering_names[] = {
    {"weak", Ordering::weak},
    {"volatile", Ordering::is_volatile},
    {"relaxed", Ordering::relaxed},
    {"acquire", Ordering::acquire},
    {"release", Ordering::release},
    {"acq_rel", Ordering::acq_rel},
    {"sc", Ordering::sc}};
constexpr std::pair<std::string_view, Scope> scope_names[] = {{"cta", Scope::cta},
                                                              {"cluster", Scope::cluster},
                                                              {"gpu", Scope::gpu},
                                                              {"sys", Scope::sys},
                                                              {"gl", Scope::gpu}};
constexpr std::pair<std::string_view, CacheOperator> cache_operators[] = {
    {"ca", CacheOperator::ca}, {"cg", CacheOperator::cg},          {"cs", CacheOperator::cs},
    {"lu", CacheOperator::lu}, {"cv", CacheOperator::cv},          {"wb", CacheOperator::wb},
    {"wt", CacheOperator::wt}, {"nc", CacheOperator::non_coherent}};
constexpr std::pair<std::string_view, L2Priority> l2_priorities[] = {
    {"L2::evict_normal", L2Priority::normal},
    {"L2::evict_first", L2Priority::first},
    {"L2::evict_last", L2Priority::last},
    {"L2::evict_unchanged", L2Priority::unchanged}};
constexpr std::pair<std::string_view, std::uint8_t> vector_widths[] = {
    {"v2", 2}, {"v4", 4}, {"v8", 8}};

}  // namespace

Space take_space(Modifiers& modifiers) {
  return modifiers.take_one(space_names, Space::generic);
}

Ordering take_ordering(Modifiers& modifiers, Ordering otherwise) {
  return modifiers.take_one(ordering_names, otherwise);
}

Scope take_scope(Modifiers& modifiers) {
  return modifiers.take_one(scope_names, Scope::none);
}

void read_qualifiers(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  operation.space =
      modifiers.take("shared::cluster") ? Space::shared_cluster : take_space(modifiers);
  operation.ordering = take_ordering(modifiers, Ordering::weak);
  operation.scope = take_scope(modifiers);
  operation.cache = modifiers.take_one(cache_operators, CacheOperator::none);
  modifiers.drop_starting("L1::");
  const bool moves = operation.opcode == Opcode::ld || operation.opcode == Opcode::st;
  const L2Priority priority = take_l2_priority(modifiers, L2Priority::unchanged);
  if (moves && priority != L2Priority::unchanged)
    operation.mode = L2Hint{.primary = priority}.packed();
  modifiers.drop_starting("L2::");
  modifiers.drop_starting("level::");
  operation.elements = modifiers.take_one(vector_widths, std::uint8_t{1});
}

std::size_t take_cache_hint(Modifiers& modifiers) {
  return modifiers.take("L2::cache_hint") ? 1 : 0;
}

std::uint16_t read_cache_hint(const PtxInstruction& instruction, const Translation& code,
                              OperandReader& operands) {
  const syntax::Operand& written = instruction.argument(instruction.arguments() - 1);
  const auto policy = code.constant_in(operands.source(instruction, written, Type::b64));
  return policy ? l2_hint_of_policy(static_cast<std::uint64_t>(*policy)) : no_l2_hint;
}

L2Priority take_l2_priority(Modifiers& modifiers, L2Priority otherwise) {
  return modifiers.take_one(l2_priorities, otherwise);
}

Type read_memory_type(PtxInstruction& instruction) {
  ir::Operation& operation = instruction.operation;
  if (operation.elements == 1 && instruction.modifiers.take("b128")) {
    operation.elements = 2;
    return Type::b64;
  }
  const Type type = instruction.modifiers.take_type();
  if (type == Type::none || type == Type::pred) instruction.lacks_type();
  return type;
}

std::vector<syntax::Operand> elements(const Translation& code, const PtxInstruction& instruction,
                                      const syntax::Operand& operand) {
  const unsigned count = instruction.operation.elements;
  std::vector<syntax::Operand> list;
  if (operand.kind == syntax::Operand::Kind::vector) {
    list = operand.children;
  } else if (count == 2 && is_b128(code, operand)) {
    list = halves(operand);
  } else {
    list = {operand};
  }
  if (list.size() != count || (count == 1 && operand.kind == syntax::Operand::Kind::vector))
    instruction.fail(operand.at, "operand does not match the width of " + instruction.text());
  return list;
}

}  // namespace lockstep::isa
