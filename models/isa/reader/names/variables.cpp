#include <bit>
#include <cstring>

#include "core/error/error.hpp"
#include "core/memory/round_up.hpp"
#include "models/isa/reader/names/names.hpp"
#include "models/isa/reader/names/symbols.hpp"
#include "models/isa/semantics/texture_header.hpp"

namespace lockstep::isa {

std::string place_in(const std::string& file, syntax::Position at) {
  return file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void fail(const std::string& file, syntax::Position at, const std::string& what,
          const std::string& advice) {
  throw UserError(place_in(file, at), what, advice);
}

ir::Variable variable_of(const std::string& file, const syntax::Declaration& d) {
  if (d.type == "texref" || d.type == "surfref")  // the host writes the header there
    return {d.name, texture_header_bytes, texture_header_bytes, 0};
  const Type type = type_named(d.type);
  if (type == Type::none || type == Type::pred)
    fail(file, d.at, "variable " + d.name + " of type ." + d.type + " is not supported",
         "its elements are .b, .u, .s or .f of 8 to 64 bits");
  ir::Variable v;
  v.name = d.name;
  const std::uint64_t element = std::uint64_t{bytes_of(type)} * d.vector;
  v.alignment = d.alignment != 0 ? d.alignment : element;
  if (!std::has_single_bit(v.alignment))
    fail(file, d.at, "alignment of " + d.name + " is no power of two", "write .align 4, 8 or 16");
  v.bytes = element;
  for (std::size_t i = 0; i < d.dimensions.size(); ++i) {
    std::uint64_t n = d.dimensions[i];
    if (n == 0 && i == 0 && d.initialised) n = d.initial.children.size();
    if (n != 0 && v.bytes > (std::uint64_t{1} << 40) / n)
      fail(file, d.at, "variable " + d.name + " is too large",
           "it holds at most 2^40 bytes: use a buffer");
    v.bytes *= n;
  }
  return v;
}

namespace {

/// Largest initialised size.  Initial values are text, so more bytes would need a module of
/// gigabytes; a larger extent is a mistake, for which this computer need not allocate memory.
constexpr std::uint64_t largest_initialised_bytes = std::uint64_t{256} << 20;

/// Target of an initialiser's values.
struct Target {
  ModuleSymbols& symbols;
  std::vector<std::byte>& bytes;
  std::vector<GlobalVariable::Relocation>& relocations;
  Type type;
  std::vector<std::uint64_t> dimensions;
};

std::uint64_t bits_as(const syntax::Operand& value, Type type) {
  if (value.kind == syntax::Operand::Kind::integer) {
    if (type == Type::f32)
      return std::bit_cast<std::uint32_t>(
          static_cast<float>(static_cast<std::int64_t>(value.bits)));
    if (type == Type::f64)
      return std::bit_cast<std::uint64_t>(
          static_cast<double>(static_cast<std::int64_t>(value.bits)));
    return value.bits;
  }
  const double number = value.kind == syntax::Operand::Kind::single
                            ? std::bit_cast<float>(static_cast<std::uint32_t>(value.bits))
                            : std::bit_cast<double>(value.bits);
  if (type == Type::f64)
    return value.kind == syntax::Operand::Kind::double_ ? value.bits
                                                        : std::bit_cast<std::uint64_t>(number);
  if (type == Type::f32)
    return value.kind == syntax::Operand::Kind::single
               ? value.bits
               : std::bit_cast<std::uint32_t>(static_cast<float>(number));
  return value.bits;
}

void store_address(Target& target, const syntax::Operand& value, std::uint64_t at, unsigned width,
                   unsigned shift) {
  const auto found = target.symbols.names.find(value.text);
  if (found == target.symbols.names.end())
    fail(target.symbols.file, value.at, "unknown symbol " + value.text + " in an initialiser",
         "declare it in this module");
  GlobalVariable::Relocation relocation{};
  relocation.offset = at;
  relocation.index = found->second.index;
  relocation.addend = value.addend;
  relocation.bytes = static_cast<std::uint8_t>(width);
  relocation.shift = static_cast<std::uint8_t>(shift);
  using Kind = GlobalVariable::Relocation::Target;
  switch (found->second.kind) {
    case Symbol::Kind::global:
      relocation.target = Kind::global;
      break;
    case Symbol::Kind::constant:
      relocation.target = Kind::constant;
      relocation.addend += static_cast<std::int64_t>(found->second.value);
      break;
    case Symbol::Kind::function:
      relocation.target = Kind::function;
      break;
    default:
      fail(target.symbols.file, value.at,
           "address of " + value.text + " in an initialiser is not supported",
           "only .global and .const variables and functions have one");
  }
  target.relocations.push_back(relocation);
}

void store(Target& target, const syntax::Operand& value, std::uint64_t at, std::uint64_t end,
           std::size_t dimension) {
  const unsigned width = bytes_of(target.type);
  if (value.kind == syntax::Operand::Kind::vector) {
    // A nested list fills one row of the next dimension, even if it leaves elements out.
    std::uint64_t row = width;
    for (std::size_t d = dimension + 1; d < target.dimensions.size(); ++d)
      row *= target.dimensions[d];
    for (const syntax::Operand& child : value.children) {
      const std::uint64_t extent = child.kind == syntax::Operand::Kind::vector ? row : width;
      if (at + extent > end)
        fail(target.symbols.file, child.at, "initialiser has more values than the variable",
             "make the array larger");
      store(target, child, at, at + extent, dimension + 1);
      at += extent;
    }
    return;
  }
  if (value.kind == syntax::Operand::Kind::name || value.kind == syntax::Operand::Kind::generic) {
    if (width != 8 && width != 4)
      fail(target.symbols.file, value.at, "address of " + value.text + " does not fit its place",
           "addresses need elements of .u32 or .u64");
    store_address(target, value, at, width, 0);
  } else if (value.kind == syntax::Operand::Kind::mask) {
    const int shift = std::countr_zero(value.bits);
    if (value.bits != std::uint64_t{0xff} << (shift & 63) || width != 1)
      fail(target.symbols.file, value.at, "mask of an address must select one byte",
           "write 0xff(name), 0xff00(name), ... in a variable of .u8");
    store_address(target, value.children.front(), at, 1, static_cast<unsigned>(shift));
  } else {
    const std::uint64_t bits = bits_as(value, target.type);
    std::memcpy(target.bytes.data() + at, &bits, width);
  }
}

/// Returns whether the declaration follows its definition: such an .extern line is redundant.
bool is_declared_after_definition(const ModuleSymbols& symbols, const syntax::Declaration& d) {
  return d.linkage == Linkage::external && symbols.names.contains(d.name);
}

/// Returns the linkage of a variable.  A variable of the system ("%...") exists once for all
/// modules that name it.
SourceLink link_of(const ModuleSymbols& symbols, const syntax::Declaration& d) {
  return {d.name.starts_with("%") ? Linkage::weak : d.linkage, place_in(symbols.file, d.at)};
}

}  // namespace

/// Cooperative groups keep the barriers of groups of several warps at the second offset, in less
/// than half of the memory.  Source: PTX ISA 8.x, "%reserved_smem_offset"; 1 KiB as since sm_80.
void declare_reserved_shared(ModuleSymbols& symbols) {
  static constexpr std::pair<const char*, std::uint32_t> offsets[] = {
      {"begin", 0}, {"0", 0}, {"1", reserved_shared_bytes / 2}, {"end", reserved_shared_bytes}};
  Symbol symbol;
  symbol.kind = Symbol::Kind::shared;
  symbol.index = static_cast<std::uint32_t>(symbols.shared.size());
  symbols.shared.push_back({"%reserved_smem", reserved_shared_bytes, 16, 0});
  for (const auto& [name, offset] : offsets) {
    symbol.value = offset;
    symbols.names["%reserved_smem_offset_" + std::string(name)] = symbol;
  }
}

void declare_global(ModuleSymbols& symbols, const syntax::Declaration& d) {
  const ir::Variable v = variable_of(symbols.file, d);
  Symbol symbol;
  symbol.kind = Symbol::Kind::global;
  symbol.index = static_cast<std::uint32_t>(symbols.module->globals.size());
  symbol.bytes = v.bytes;
  if (!is_declared_after_definition(symbols, d)) symbols.names[d.name] = symbol;
  GlobalVariable global;
  global.name = v.name;
  global.bytes = v.bytes;
  global.alignment = v.alignment;
  symbols.module->globals.push_back(std::move(global));
  symbols.module->global_links.push_back(link_of(symbols, d));
}

void declare_constant(ModuleSymbols& symbols, const syntax::Declaration& d) {
  ir::Variable v = variable_of(symbols.file, d);
  auto& image = symbols.module->constant_image;
  // The module that defines the variable gives it room.
  if (d.linkage == Linkage::external) v.bytes = 0, v.alignment = 1;
  v.offset = round_up(image.size(), v.alignment);
  if (v.offset + v.bytes > constant_window_bytes)
    fail(symbols.file, d.at, "constant variables take more than 16 MiB", "keep some in .global");
  image.resize(v.offset + v.bytes);
  Symbol symbol;
  symbol.kind = Symbol::Kind::constant;
  symbol.index = static_cast<std::uint32_t>(symbols.module->constants.size());
  symbol.value = v.offset;
  symbol.bytes = v.bytes;
  if (!is_declared_after_definition(symbols, d)) symbols.names[d.name] = symbol;
  symbols.module->constants.push_back(v);
  symbols.module->constant_links.push_back(link_of(symbols, d));
}

void initialise(ModuleSymbols& symbols, const syntax::Declaration& d) {
  if (!d.initialised) return;
  const Symbol symbol = symbols.names.at(d.name);
  SourceModule& module = *symbols.module;
  const bool constant = symbol.kind == Symbol::Kind::constant;
  auto& bytes = constant ? module.constant_image : module.globals[symbol.index].initial;
  auto& relocations =
      constant ? module.constant_relocations : module.globals[symbol.index].relocations;
  if (symbol.bytes > largest_initialised_bytes)
    fail(symbols.file, d.at,
         "variable " + d.name + " with initial values takes " + std::to_string(symbol.bytes) +
             " bytes",
         "at most 256 MiB may have them: correct the extent, or use a buffer");
  if (!constant) bytes.resize(symbol.bytes);
  Target target{symbols, bytes, relocations, type_named(d.type), d.dimensions};
  if (d.vector > 1) target.dimensions.push_back(d.vector);
  store(target, d.initial, symbol.value, symbol.value + symbol.bytes, 0);
}

}  // namespace lockstep::isa
