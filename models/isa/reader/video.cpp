/// Video instructions, and integer arithmetic on pairs of halves, which is the same thing.
/// Source: PTX ISA 8.x, "Video Instructions", "Integer Arithmetic Instructions".
///
/// Operands of SIMD instructions that are put together from parts of a and b come from a prmt.
#include <algorithm>

#include "models/isa/reader/function_translator.hpp"
#include "models/isa/semantics/semantics.hpp"

namespace lockstep::isa {

using Argument = syntax::Operand;

namespace {

constexpr std::pair<std::string_view, VideoOperation> video_operations[] = {
    {"vadd", VideoOperation::add},         {"vsub", VideoOperation::sub},
    {"vabsdiff", VideoOperation::absdiff}, {"vmin", VideoOperation::min},
    {"vmax", VideoOperation::max},         {"vset", VideoOperation::set},
    {"vavrg", VideoOperation::average},    {"vshl", VideoOperation::shl},
    {"vshr", VideoOperation::shr},         {"vmad", VideoOperation::add}};
constexpr std::pair<std::string_view, VideoOperation> packed_operations[] = {
    {"add", VideoOperation::add},
    {"sub", VideoOperation::sub},
    {"min", VideoOperation::min},
    {"max", VideoOperation::max}};
constexpr std::pair<std::string_view, Comparison> video_comparisons[] = {
    {"eq", Comparison::eq}, {"ne", Comparison::ne}, {"lt", Comparison::lt},
    {"le", Comparison::le}, {"gt", Comparison::gt}, {"ge", Comparison::ge}};
constexpr std::pair<std::string_view, VideoSecondary> secondaries[] = {
    {"add", VideoSecondary::add}, {"min", VideoSecondary::min}, {"max", VideoSecondary::max}};
constexpr std::pair<std::string_view, std::uint32_t> scales[] = {{"shr7", 7}, {"shr15", 15}};
constexpr std::pair<std::string_view, VideoPart> part_names[] = {
    {"", VideoPart::whole}, {"b0", VideoPart::b0}, {"b1", VideoPart::b1}, {"b2", VideoPart::b2},
    {"b3", VideoPart::b3},  {"h0", VideoPart::h0}, {"h1", VideoPart::h1}};

template <class Table>
auto find_named(const Table& table, std::string_view name) {
  return std::find_if(std::begin(table), std::end(table),
                      [&](const auto& entry) { return entry.first == name; });
}
template <class Value>
std::uint32_t at(Value value, unsigned shift) {
  return static_cast<std::uint32_t>(value) << shift;
}
std::uint32_t flag(bool condition, std::uint32_t bits) {
  return condition ? bits : 0;
}
Argument without_marks(Argument operand) {
  operand.selector.clear();
  operand.minus = false;
  return operand;
}

}  // namespace

bool FunctionTranslator::video(Current& current) {
  std::string_view base = current.modifiers.base();
  unsigned parts = 1;
  if (base.ends_with('2') || base.ends_with('4')) {
    parts = base.back() == '2' ? 2 : 4;
    base.remove_suffix(1);
  }
  const auto* found = find_named(video_operations, base);
  if (found == std::end(video_operations)) return false;
  const bool scalar_only = base == "vmad" || base == "vshl" || base == "vshr";
  if (parts == 1 ? base == "vavrg" : scalar_only) return false;
  parts == 1 ? scalar_video(current, found->second) : simd_video(current, found->second, parts);
  return true;
}

/// .dtype.atype.btype, saturation and what happens to the result; the result of vset is 0 or 1.
std::uint32_t FunctionTranslator::video_modifiers(Current& current, VideoOperation operation) {
  Modifiers& modifiers = current.modifiers;
  std::uint32_t bits = at(operation, video_bits::operation_shift);
  const auto take_sign = [&](std::uint32_t sign) {
    const Type type = modifiers.take_type();
    if (type != Type::u32 && type != Type::s32) fail(current, "needs types .u32 or .s32");
    return flag(type == Type::s32, sign);
  };
  if (operation == VideoOperation::set) {
    const Comparison comparison = modifiers.take_one(video_comparisons, Comparison::none);
    if (comparison == Comparison::none) fail(current, "needs a comparison");
    bits |= at(comparison, video_bits::comparison_shift);
  } else {
    bits |= take_sign(video_bits::result_signed);
  }
  bits |= take_sign(video_bits::a_signed) | take_sign(video_bits::b_signed);
  bits |= flag(modifiers.take("sat"), video_bits::saturate);
  return bits;
}

void FunctionTranslator::scalar_video(Current& current, VideoOperation which) {
  ir::Operation& operation = current.operation;
  Modifiers& modifiers = current.modifiers;
  const bool multiplies = modifiers.base() == "vmad";
  operation.opcode = Opcode::video;
  operation.type = Type::b32;
  std::uint32_t bits = video_modifiers(current, which);
  VideoSecondary secondary = VideoSecondary::none;
  if (multiplies) {
    operation.mode = video_multiply_add;
    bits |= flag(modifiers.take("po"), video_bits::plus_one);
    bits |= modifiers.take_one(scales, 0u) << video_bits::scale_shift;
  } else {
    secondary = modifiers.take_one(secondaries, VideoSecondary::none);
    bits |= at(secondary, video_bits::secondary_shift);
  }
  if (which == VideoOperation::shl || which == VideoOperation::shr) {
    bits |= flag(modifiers.take("wrap"), video_bits::wrap);
    modifiers.take("clamp");
  }
  expect_arguments(current, 3, 4);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* part = find_named(part_names, argument(current, i).selector);
    if (part == std::end(part_names)) fail(argument(current, i).at, "no such part of a register");
    bits |= at(part->second, video_bits::part_shift[i]);
  }
  const bool has_c = current.statement->operands.size() == 4;
  const bool merges = !argument(current, 0).selector.empty();
  if (has_c != (multiplies || merges || secondary != VideoSecondary::none) ||
      (merges && (multiplies || secondary != VideoSecondary::none)))
    fail(current, "there is no such instruction");
  if (multiplies) {
    const bool negates = argument(current, 1).minus != argument(current, 2).minus;
    bits |= flag(negates, video_bits::negate_product);
    bits |= flag(argument(current, 3).minus, video_bits::negate_c);
  }
  operation.immediate = bits;
  operation.destinations.push_back(
      destination(current, without_marks(argument(current, 0)), Type::b32));
  for (std::size_t i = 1; i < current.statement->operands.size(); ++i) {
    Argument written = argument(current, i);
    if (i < 3) written.selector.clear();
    if (multiplies) written.minus = false;
    operation.sources.push_back(source(current, written, Type::b32));
  }
  finish(current);
}

void FunctionTranslator::simd_video(Current& current, VideoOperation which, unsigned parts) {
  ir::Operation& operation = current.operation;
  operation.opcode = parts == 2 ? Opcode::video2 : Opcode::video4;
  operation.type = Type::b32;
  std::uint32_t bits = video_modifiers(current, which);
  if (current.modifiers.take("add")) bits |= at(VideoSecondary::add, video_bits::secondary_shift);
  expect_arguments(current, 4, 4);
  const Argument& to = argument(current, 0);
  std::uint32_t mask = to.selector.empty() ? (1u << parts) - 1 : 0;
  for (const unsigned part : selected_parts(to, parts, parts)) mask |= 1u << part;
  operation.immediate = bits | mask << video_bits::mask_shift;
  operation.destinations.push_back(destination(current, without_marks(to), Type::b32));
  for (std::size_t i = 1; i < 3; ++i) operation.sources.push_back(selected(current, i, parts));
  operation.sources.push_back(source(current, argument(current, 3), Type::b32));
  finish(current);
}

/// The digits of a selector such as .h10 or .b7610, highest part first.
std::vector<unsigned> FunctionTranslator::selected_parts(const syntax::Operand& written,
                                                         unsigned parts, unsigned limit) const {
  std::vector<unsigned> digits;
  if (written.selector.empty()) return digits;
  for (const char c : written.selector.substr(1)) digits.push_back(static_cast<unsigned>(c - '0'));
  const bool too_large =
      std::any_of(digits.begin(), digits.end(), [&](unsigned d) { return d >= limit; });
  if (written.selector.front() != (parts == 2 ? 'h' : 'b') || too_large || digits.size() > parts)
    fail(written.at, "no such parts of a register");
  return digits;
}

/// Operand a or b of a SIMD instruction: itself, or parts of both.
ir::Operand FunctionTranslator::selected(Current& current, std::size_t which, unsigned parts) {
  const Argument& written = argument(current, which);
  const std::vector<unsigned> digits = selected_parts(written, parts, 2 * parts);
  if (digits.empty()) return source(current, written, Type::b32);
  if (digits.size() != parts) fail(written.at, "needs a place for every part");
  std::int64_t choices = 0;
  for (const unsigned digit : digits)
    choices = parts == 4 ? choices << 4 | digit : choices << 8 | (2 * digit + 1) << 4 | 2 * digit;
  ir::Operation permute = plain(current, Opcode::prmt, Type::b32);
  for (std::size_t i = 1; i < 3; ++i)
    permute.sources.push_back(source(current, without_marks(argument(current, i)), Type::b32));
  permute.sources.emplace_back().kind = ir::Operand::Kind::immediate;
  permute.sources.back().value = choices;
  ir::Operand result;
  result.kind = ir::Operand::Kind::reg;
  result.index = new_register(Type::b32, "%selected");
  permute.destinations.push_back(result);
  append(std::move(permute));
  return result;
}

/// add, sub, min, max of .u16x2 and .s16x2.
bool FunctionTranslator::packed_integers(Current& current) {
  Modifiers& modifiers = current.modifiers;
  const auto* found = find_named(packed_operations, modifiers.base());
  if (found == std::end(packed_operations)) return false;
  const bool is_signed = modifiers.has("s16x2");
  if (!modifiers.take("s16x2") && !modifiers.take("u16x2")) return false;
  ir::Operation& operation = current.operation;
  operation.opcode = Opcode::video2;
  operation.type = Type::b32;
  const bool extreme = found->second == VideoOperation::min || found->second == VideoOperation::max;
  operation.immediate =
      at(found->second, video_bits::operation_shift) | at(3, video_bits::mask_shift) |
      flag(is_signed, video_bits::result_signed | video_bits::a_signed | video_bits::b_signed) |
      flag(!extreme && modifiers.take("sat"), video_bits::saturate) |
      flag(extreme && is_signed && modifiers.take("relu"), video_bits::relu);
  expect_arguments(current, 3, 3);
  operation.destinations.push_back(destination(current, argument(current, 0), Type::b32));
  for (std::size_t i = 1; i < 3; ++i)
    operation.sources.push_back(source(current, argument(current, i), Type::b32));
  finish(current);
  return true;
}

}  // namespace lockstep::isa
