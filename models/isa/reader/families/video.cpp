/// Video instructions, and integer arithmetic on pairs of halves, which is equivalent.
/// Source: PTX ISA 8.x, "Video Instructions", "Integer Arithmetic Instructions".
///
/// A prmt joins operands of SIMD instructions from parts of a and b.
#include "models/isa/reader/families/video.hpp"

#include <algorithm>

namespace lockstep::isa {

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
syntax::Operand without_marks(syntax::Operand operand) {
  operand.selector.clear();
  operand.minus = false;
  return operand;
}

}  // namespace

void VideoReader::video(PtxInstruction& instruction) {
  std::string_view name = instruction.modifiers.base();
  const Opcode opcode = instruction.operation.opcode;
  if (opcode != Opcode::video) name.remove_suffix(1);
  const VideoOperation which = find_named(video_operations, name)->second;
  if (opcode == Opcode::video) {
    scalar(instruction, which);
  } else {
    simd(instruction, which, opcode == Opcode::video2 ? 2 : 4);
  }
}

/// Takes .dtype.atype.btype, saturation and the use of the result; the result of vset is 0 or 1.
std::uint32_t VideoReader::modifiers_of(PtxInstruction& instruction, VideoOperation operation) {
  Modifiers& modifiers = instruction.modifiers;
  std::uint32_t bits = at(operation, video_bits::operation_shift);
  const auto take_sign = [&](std::uint32_t sign) {
    const Type type = modifiers.take_type();
    if (type != Type::u32 && type != Type::s32) instruction.fail("needs types .u32 or .s32");
    return flag(type == Type::s32, sign);
  };
  if (operation == VideoOperation::set) {
    const Comparison comparison = modifiers.take_one(video_comparisons, Comparison::none);
    if (comparison == Comparison::none) instruction.fail("needs a comparison");
    bits |= at(comparison, video_bits::comparison_shift);
  } else {
    bits |= take_sign(video_bits::result_signed);
  }
  bits |= take_sign(video_bits::a_signed) | take_sign(video_bits::b_signed);
  bits |= flag(modifiers.take("sat"), video_bits::saturate);
  return bits;
}

void VideoReader::scalar(PtxInstruction& instruction, VideoOperation which) {
  ir::Operation& operation = instruction.operation;
  Modifiers& modifiers = instruction.modifiers;
  const bool multiplies = modifiers.base() == "vmad";
  operation.type = Type::b32;
  std::uint32_t bits = modifiers_of(instruction, which);
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
  instruction.expect_arguments(3, 4);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* part = find_named(part_names, instruction.argument(i).selector);
    if (part == std::end(part_names))
      instruction.fail(instruction.argument(i).at, "no such part of a register",
                       "parts are .b0 to .b3, .h0 and .h1");
    bits |= at(part->second, video_bits::part_shift[i]);
  }
  const bool has_c = instruction.arguments() == 4;
  const bool merges = !instruction.argument(0).selector.empty();
  if (has_c != (multiplies || merges || secondary != VideoSecondary::none) ||
      (merges && (multiplies || secondary != VideoSecondary::none)))
    instruction.fail("there is no such instruction");
  if (multiplies) {
    const bool negates = instruction.argument(1).minus != instruction.argument(2).minus;
    bits |= flag(negates, video_bits::negate_product);
    bits |= flag(instruction.argument(3).minus, video_bits::negate_c);
  }
  operation.immediate = bits;
  operation.destinations.push_back(
      operands_.destination(instruction, without_marks(instruction.argument(0)), Type::b32));
  for (std::size_t i = 1; i < instruction.arguments(); ++i) {
    Argument written = instruction.argument(i);
    if (i < 3) written.selector.clear();
    if (multiplies) written.minus = false;
    operation.sources.push_back(operands_.source(instruction, written, Type::b32));
  }
  code_.finish(instruction);
}

void VideoReader::simd(PtxInstruction& instruction, VideoOperation which, unsigned parts) {
  ir::Operation& operation = instruction.operation;
  operation.type = Type::b32;
  std::uint32_t bits = modifiers_of(instruction, which);
  if (instruction.modifiers.take("add"))
    bits |= at(VideoSecondary::add, video_bits::secondary_shift);
  instruction.expect_arguments(4, 4);
  const Argument& to = instruction.argument(0);
  std::uint32_t mask = to.selector.empty() ? (1u << parts) - 1 : 0;
  for (const unsigned part : selected_parts(instruction, to, parts, parts)) mask |= 1u << part;
  operation.immediate = bits | mask << video_bits::mask_shift;
  operation.destinations.push_back(
      operands_.destination(instruction, without_marks(to), Type::b32));
  for (std::size_t i = 1; i < 3; ++i) operation.sources.push_back(selected(instruction, i, parts));
  operation.sources.push_back(operands_.source(instruction, instruction.argument(3), Type::b32));
  code_.finish(instruction);
}

/// Returns the digits of a selector such as .h10 or .b7610, highest part first.
std::vector<unsigned> VideoReader::selected_parts(const PtxInstruction& instruction,
                                                  const Argument& written, unsigned parts,
                                                  unsigned limit) const {
  std::vector<unsigned> digits;
  if (written.selector.empty()) return digits;
  for (const char c : written.selector.substr(1)) digits.push_back(static_cast<unsigned>(c - '0'));
  const bool too_large =
      std::any_of(digits.begin(), digits.end(), [&](unsigned d) { return d >= limit; });
  if (written.selector.front() != (parts == 2 ? 'h' : 'b') || too_large || digits.size() > parts)
    instruction.fail(written.at, "no such parts of a register",
                     "parts are as .h10 of two halves, .b3210 of four bytes");
  return digits;
}

/// Returns operand a or b of a SIMD instruction: itself, or parts of both.
ir::Operand VideoReader::selected(PtxInstruction& instruction, std::size_t which, unsigned parts) {
  const Argument& written = instruction.argument(which);
  const std::vector<unsigned> digits = selected_parts(instruction, written, parts, 2 * parts);
  if (digits.empty()) return operands_.source(instruction, written, Type::b32);
  if (digits.size() != parts)
    instruction.fail(written.at, "needs a place for every part",
                     "write as many digits as the instruction has parts");
  std::int64_t choices = 0;
  for (const unsigned digit : digits)
    choices = parts == 4 ? choices << 4 | digit : choices << 8 | (2 * digit + 1) << 4 | 2 * digit;
  ir::Operation permute = instruction.plain(Opcode::prmt, Type::b32);
  for (std::size_t i = 1; i < 3; ++i)
    permute.sources.push_back(
        operands_.source(instruction, without_marks(instruction.argument(i)), Type::b32));
  permute.sources.emplace_back().kind = ir::Operand::Kind::immediate;
  permute.sources.back().value = choices;
  ir::Operand result;
  result.kind = ir::Operand::Kind::reg;
  result.index = code_.new_register(Type::b32, "%selected");
  permute.destinations.push_back(result);
  code_.append(std::move(permute));
  return result;
}

/// Reads add, sub, min, max of .u16x2 and .s16x2.
bool VideoReader::packed_integers(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  const auto* found = find_named(packed_operations, modifiers.base());
  if (found == std::end(packed_operations)) return false;
  const bool is_signed = modifiers.has("s16x2");
  if (!modifiers.take("s16x2") && !modifiers.take("u16x2")) return false;
  ir::Operation& operation = instruction.operation;
  operation.opcode = Opcode::video2;
  operation.type = Type::b32;
  const bool extreme = found->second == VideoOperation::min || found->second == VideoOperation::max;
  operation.immediate =
      at(found->second, video_bits::operation_shift) | at(3, video_bits::mask_shift) |
      flag(is_signed, video_bits::result_signed | video_bits::a_signed | video_bits::b_signed) |
      flag(!extreme && modifiers.take("sat"), video_bits::saturate) |
      flag(extreme && is_signed && modifiers.take("relu"), video_bits::relu);
  instruction.expect_arguments(3, 3);
  operation.destinations.push_back(
      operands_.destination(instruction, instruction.argument(0), Type::b32));
  for (std::size_t i = 1; i < 3; ++i)
    operation.sources.push_back(operands_.source(instruction, instruction.argument(i), Type::b32));
  code_.finish(instruction);
  return true;
}

}  // namespace lockstep::isa
