/// Loads, stores, atomics, fences and prefetches.
/// Source: PTX ISA 8.x, sections 9.7.9 and 9.7.13, "Memory Consistency Model" 8.
///
/// Simplified: eviction and prefetch-size hints are read and have no effect.  All accesses go one
/// way: no asynchronous copies or tensor maps, and no two virtual addresses of the same memory.  So
/// fence.proxy.alias and .async have nothing to order and become no instruction; those of tensor
/// maps, which also order ordinary accesses between threads, are plain fences.
#include "models/isa/reader/function_translator.hpp"

namespace lockstep::isa {

using Kind = ir::Operand::Kind;
using Argument = syntax::Operand;

namespace {

constexpr std::pair<std::string_view, Space> spaces[] = {
    {"global", Space::global},          {"shared", Space::shared},
    {"shared::cta", Space::shared},     {"local", Space::local},
    {"const", Space::constant},         {"param", Space::parameter},
    {"param::entry", Space::parameter}, {"param::func", Space::parameter}};
constexpr std::pair<std::string_view, Ordering> orderings[] = {{"weak", Ordering::weak},
                                                               {"volatile", Ordering::is_volatile},
                                                               {"relaxed", Ordering::relaxed},
                                                               {"acquire", Ordering::acquire},
                                                               {"release", Ordering::release},
                                                               {"acq_rel", Ordering::acq_rel},
                                                               {"sc", Ordering::sc}};
constexpr std::pair<std::string_view, lockstep::isa::Scope> scopes[] = {
    {"cta", Scope::cta}, {"gpu", Scope::gpu}, {"sys", Scope::sys}, {"gl", Scope::gpu}};
constexpr std::pair<std::string_view, CacheOperator> cache_operators[] = {
    {"ca", CacheOperator::ca}, {"cg", CacheOperator::cg},          {"cs", CacheOperator::cs},
    {"lu", CacheOperator::lu}, {"cv", CacheOperator::cv},          {"wb", CacheOperator::wb},
    {"wt", CacheOperator::wt}, {"nc", CacheOperator::non_coherent}};
constexpr std::pair<std::string_view, std::uint8_t> vector_widths[] = {
    {"v2", 2}, {"v4", 4}, {"v8", 8}};

}  // namespace

bool FunctionTranslator::memory(Current& current) {
  const std::string& base = current.modifiers.base();
  if (base == "ld" || base == "ldu") {
    load(current);
  } else if (base == "st") {
    store(current);
  } else if (base == "atom" || base == "red") {
    atomic(current);
  } else if (base == "membar" || base == "fence") {
    fence(current);
  } else if (base == "prefetch" || base == "prefetchu") {
    prefetch(current);
  } else {
    return false;
  }
  return true;
}

void FunctionTranslator::memory_qualifiers(Current& current) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  operation.space = modifiers.take_one(spaces, Space::generic);
  operation.ordering = modifiers.take_one(orderings, Ordering::weak);
  operation.scope = modifiers.take_one(scopes, Scope::none);
  operation.cache = modifiers.take_one(cache_operators, CacheOperator::none);
  modifiers.drop_starting("L1::");
  modifiers.drop_starting("L2::");
  modifiers.drop_starting("level::");
  operation.elements = modifiers.take_one(vector_widths, std::uint8_t{1});
}

Type FunctionTranslator::memory_type(Current& current) {
  ir::Operation& operation = current.operation;
  if (operation.elements == 1 && current.modifiers.take("b128")) {
    operation.elements = 2;
    return Type::b64;
  }
  const Type type = current.modifiers.take_type();
  if (type == Type::none || type == Type::pred) fail(current, "needs a type");
  return type;
}

std::vector<syntax::Operand> FunctionTranslator::elements(const Current& current,
                                                          const syntax::Operand& operand) const {
  const unsigned count = current.operation.elements;
  std::vector<Argument> list;
  if (operand.kind == Argument::Kind::vector) {
    list = operand.children;
  } else if (count == 2 && is_b128(operand)) {
    list = halves(operand);
  } else {
    list = {operand};
  }
  if (list.size() != count || (count == 1 && operand.kind == Argument::Kind::vector))
    fail(operand.at, "operand does not match the width of " + current.statement->text);
  return list;
}

void FunctionTranslator::load(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = current.modifiers.base() == "ld" ? Opcode::ld : Opcode::ldu;
  memory_qualifiers(current);
  operation.type = memory_type(current);
  if (operation.elements > 4) fail(current, "vectors of 8 are not supported");
  expect_arguments(current, 2, 2);
  for (const Argument& to : elements(current, argument(current, 0)))
    operation.destinations.push_back(destination(current, to, operation.type, true));
  if (operation.space == Space::parameter && parameter_access(current, false)) return;
  address(current, argument(current, 1));
  finish(current);
}

void FunctionTranslator::store(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::st;
  memory_qualifiers(current);
  operation.type = memory_type(current);
  if (operation.elements > 4) fail(current, "vectors of 8 are not supported");
  expect_arguments(current, 2, 2);
  std::vector<ir::Operand> data;
  for (const Argument& from : elements(current, argument(current, 1)))
    data.push_back(source(current, from, operation.type, true));
  if (operation.space == Space::parameter) {
    operation.sources = std::move(data);
    if (!parameter_access(current, true)) fail(current, "kernel parameters cannot be stored to");
    return;
  }
  if (operation.space == Space::constant) fail(current, "constant memory cannot be stored to");
  address(current, argument(current, 0));
  operation.sources.insert(operation.sources.end(), data.begin(), data.end());
  finish(current);
}

/// .param space: kernel parameters become moves of constants; those of calls are registers, or
/// memory of the thread when they are structures.  False: an ordinary access by address.
bool FunctionTranslator::parameter_access(Current& current, bool is_store) {
  const Argument& written = argument(current, is_store ? 0 : 1);
  if (written.kind != Argument::Kind::address || written.children.size() != 1 ||
      written.children[0].kind != Argument::Kind::name)
    fail(written.at, "malformed address of a parameter");
  const Argument& name = written.children[0];
  const Symbol symbol = find(name);
  if (!current.modifiers.rest().empty()) fail(current, "modifier is not supported here");
  switch (symbol.kind) {
    case Symbol::Kind::kernel_parameter:
      if (is_store) return false;
      read_kernel_parameter(current, name, symbol);
      return true;
    case Symbol::Kind::parameter:
      move_parameter(current, name, symbol, is_store);
      return true;
    case Symbol::Kind::parameter_bytes:
    case Symbol::Kind::parameter_pointer: {
      ir::Operand base;
      base.kind = symbol.kind == Symbol::Kind::parameter_bytes ? Kind::local_symbol : Kind::reg;
      base.index = symbol.index;
      base.type = Type::b32;
      ir::Operation operation = current.operation;
      operation.space = Space::local;
      operation.offset = name.addend;
      operation.sources.insert(operation.sources.begin(), base);
      append(std::move(operation));
      return true;
    }
    default:
      if (!source_.is_entry) current.operation.space = Space::generic;
      return false;
  }
}

Type FunctionTranslator::register_type(const ir::Operand& operand, Type otherwise) const {
  return operand.kind == Kind::reg ? function_.registers[operand.index].type : otherwise;
}

void FunctionTranslator::read_kernel_parameter(Current& current, const syntax::Operand& name,
                                               const Symbol& symbol) {
  const ir::Operation operation = current.operation;
  const unsigned bytes = bytes_of(operation.type);
  if (name.addend < 0 ||
      static_cast<std::uint64_t>(name.addend) + bytes * operation.elements > symbol.bytes)
    fail(name.at, "access beyond parameter " + name.text);
  for (unsigned e = 0; e < operation.elements; ++e) {
    const ir::Operand& to = operation.destinations[e];
    ir::Operation read = plain(current, Opcode::mov, register_type(to, operation.type));
    if (bytes_of(read.type) < 2) read.type = Type::b16;
    read.guard = operation.guard;
    ir::Operand from;
    from.kind = Kind::parameter;
    from.type = operation.type;
    from.value = static_cast<std::int64_t>(symbol.value) + name.addend + std::int64_t{e} * bytes;
    read.destinations.push_back(to);
    read.destinations.back().type = Type::none;
    read.sources.push_back(from);
    append(std::move(read));
  }
}

/// A parameter of a call that is held in a register: widened or cut as the access says.
void FunctionTranslator::move_parameter(Current& current, const syntax::Operand& name,
                                        const Symbol& symbol, bool is_store) {
  const ir::Operation operation = current.operation;
  const unsigned bytes = bytes_of(operation.type);
  if (name.addend != 0 || operation.elements != 1 || bytes > symbol.bytes)
    fail(name.at, "part of parameter " + name.text + " is not supported");
  ir::Operand held;
  held.kind = Kind::reg;
  held.index = symbol.index;
  const ir::Operand from = is_store ? operation.sources[0] : held;
  const ir::Operand to = is_store ? held : operation.destinations[0];
  const Type have = register_type(from, operation.type), need = register_type(to, operation.type);
  const bool narrow = bytes < bytes_of(need) || bytes < bytes_of(have);
  ir::Operation copy =
      plain(current, narrow && from.kind == Kind::reg ? Opcode::cvt : Opcode::mov, need);
  copy.guard = operation.guard;
  copy.sources.push_back(from);
  copy.destinations.push_back(to);
  copy.sources[0].type = copy.destinations[0].type = Type::none;
  if (copy.opcode == Opcode::cvt) {
    static constexpr Type unsigned_types[] = {Type::none, Type::u8,   Type::u16,
                                              Type::none, Type::u32,  Type::none,
                                              Type::none, Type::none, Type::u64};
    static constexpr Type signed_types[] = {Type::none, Type::s8,   Type::s16,
                                            Type::none, Type::s32,  Type::none,
                                            Type::none, Type::none, Type::s64};
    const auto& table = is_signed(operation.type) ? signed_types : unsigned_types;
    copy.source_type = table[bytes];
    copy.type = table[bytes_of(need)];
    if (bytes_of(have) > bytes) copy.sources[0].type = have;
  }
  append(std::move(copy));
}

void FunctionTranslator::fence(Current& current) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  operation.opcode = Opcode::fence;
  const bool proxy = modifiers.take("proxy");
  if (proxy && (modifiers.take("alias") || modifiers.take("async"))) {
    for (const char* place : {"global", "shared::cta", "shared::cluster"}) modifiers.take(place);
    expect_arguments(current, 0, 0);
    reject_rest(current);
    return;
  }
  if (proxy && !modifiers.take("tensormap::generic")) fail(current, "unknown kind of proxy");
  const bool old = modifiers.base() == "membar";
  operation.ordering = modifiers.take_one(orderings, old ? Ordering::sc : Ordering::acq_rel);
  operation.scope = modifiers.take_one(scopes, Scope::none);
  if (operation.scope == Scope::none) fail(current, "needs a scope: .cta, .gpu or .sys");
  // Which bytes the fence of a tensor map is about does not matter.
  const std::size_t operands = proxy && operation.ordering == Ordering::acquire ? 2 : 0;
  expect_arguments(current, operands, operands);
  finish(current);
}

void FunctionTranslator::prefetch(Current& current) {
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::prefetch;
  operation.space = current.modifiers.take_one(spaces, Space::generic);
  operation.mode = current.modifiers.take("L2") ? 2 : 1;
  current.modifiers.take("L1");
  current.modifiers.drop_starting("L2::");
  expect_arguments(current, 1, 1);
  address(current, argument(current, 0));
  finish(current);
}

}  // namespace lockstep::isa
