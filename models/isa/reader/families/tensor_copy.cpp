/// Bulk copies of tiles of tensors, which a tensor map describes.
///
/// A copy is one operation with 64-bit sources: sources[0] is the generic address of the map;
/// sources[1] has the shared address in its low half and, for a load, the mbarrier's address in its
/// high half; sources[2..4] have two coordinates each, the innermost first.  The mask of ranks to
/// whose blocks a tile goes (.multicast::cluster) stands behind them like one more coordinate.
/// Source: PTX ISA 8.x, "cp.async.bulk.tensor", "cp.async.bulk.prefetch.tensor"; modern-isa.md,
/// section 3.3.
///
/// Simplified: elements of type tf32 keep their bits, which hardware may round. NaN that fills is
/// all ones.  Maps in im2col mode, interleaved ones, those of types that flush subnormals, and rows
/// shorter than their swizzle are refused.
#include "models/isa/reader/families/async_copy.hpp"
#include "models/isa/reader/families/bulk_copy.hpp"
#include "models/isa/reader/families/qualifiers.hpp"

namespace lockstep::isa {

using ir::BulkCopyStep;

namespace {

/// Returns the rank that .1d to .5d say.
unsigned take_rank(PtxInstruction& instruction) {
  static constexpr std::pair<std::string_view, unsigned> ranks[] = {
      {"1d", 1}, {"2d", 2}, {"3d", 3}, {"4d", 4}, {"5d", 5}};
  const unsigned rank = instruction.modifiers.take_one(ranks, 0u);
  if (rank == 0) instruction.fail("needs the number of dimensions, .1d to .5d");
  return rank;
}

void take_mode(PtxInstruction& instruction) {
  Modifiers& modifiers = instruction.modifiers;
  for (const char* mode : {"im2col", "im2col_no_offs", "im2col::w", "im2col::w::128"})
    if (modifiers.has(mode))
      instruction.fail(instruction.at(), "im2col mode is not modelled in this release",
                       "copy tiles, with .tile or without a mode");
  for (const char* mode : {"tile::gather4", "tile::scatter4"})
    if (modifiers.has(mode))
      instruction.fail(instruction.at(), "." + std::string(mode) + " belongs to sm_100",
                       "compile for sm_90a");
  modifiers.take("tile");
}

}  // namespace

void BulkCopyReader::tile(PtxInstruction& instruction) {
  const unsigned rank = take_rank(instruction);
  take_mode(instruction);
  if (instruction.modifiers.take("prefetch")) return prefetch_tile(instruction, rank);
  if (instruction.modifiers.take("reduce")) {
    take_operation(instruction);
    return store_tile(instruction, rank, BulkCopyStep::reduce);
  }
  if (instruction.modifiers.has("bulk_group"))
    return store_tile(instruction, rank, BulkCopyStep::store);
  load_tile(instruction, rank);
}

void BulkCopyReader::load_tile(PtxInstruction& instruction, unsigned rank) {
  const bool multicast = take_load(instruction, false) == LoadKind::multicast;
  const std::size_t hints = take_cache_hint(instruction.modifiers);
  instruction.refuse_known();
  expect(instruction, multicast ? 4 : 3, hints);
  const ir::Operand to = shared_address(code_, operands_, instruction, instruction.argument(0));
  const ir::Operand barrier =
      shared_address(code_, operands_, instruction, instruction.argument(2));
  const ir::Operand both = pair(instruction, to, barrier);
  finish_tile(instruction, {BulkCopyStep::load, rank, multicast}, instruction.argument(1), both);
}

void BulkCopyReader::store_tile(PtxInstruction& instruction, unsigned rank, BulkCopyStep step) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("bulk_group") || !modifiers.take("global") || !modifiers.take("shared::cta"))
    instruction.fail("goes from .shared::cta to .global with .bulk_group");
  const std::size_t hints = take_cache_hint(modifiers);
  expect(instruction, 2, hints);
  const ir::Operand from = shared_address(code_, operands_, instruction, instruction.argument(1));
  const ir::Operand both = pair(instruction, from, ir::immediate_operand(0));
  finish_tile(instruction, {step, rank}, instruction.argument(0), both);
}

void BulkCopyReader::prefetch_tile(PtxInstruction& instruction, unsigned rank) {
  Modifiers& modifiers = instruction.modifiers;
  if (!modifiers.take("L2") || !modifiers.take("global"))
    instruction.fail("prefetches .L2 from .global");
  const std::size_t hints = take_cache_hint(modifiers);
  expect(instruction, 1, hints);
  finish_tile(instruction, {BulkCopyStep::prefetch, rank}, instruction.argument(0),
              ir::immediate_operand(0));
}

void BulkCopyReader::finish_tile(PtxInstruction& instruction, BulkCopyForm form,
                                 const Argument& tile, const ir::Operand& places) {
  const std::vector<ir::Operand> first = coordinates(instruction, tile, form);
  Argument map = tile;
  map.children.resize(1);
  begin(instruction, form, map);
  instruction.operation.sources.push_back(places);
  for (const ir::Operand& both : first) instruction.operation.sources.push_back(both);
  code_.finish(instruction);
}

std::vector<ir::Operand> BulkCopyReader::coordinates(PtxInstruction& instruction,
                                                     const Argument& tile, BulkCopyForm form) {
  const unsigned rank = form.rank;
  const bool has_list = tile.kind == Argument::Kind::address && tile.children.size() == 2 &&
                        tile.children[1].kind == Argument::Kind::vector;
  if (!has_list || tile.children[1].children.size() != rank)
    instruction.fail(tile.at,
                     "a tile of " + std::to_string(rank) + " dimensions is [map, {coordinates}]",
                     "give as many coordinates as dimensions, the innermost first");
  const std::vector<Argument>& given = tile.children[1].children;
  std::vector<ir::Operand> words;
  for (const Argument& coordinate : given)
    words.push_back(operands_.source(instruction, coordinate, Type::s32));
  if (form.multicast) words.push_back(ranks(instruction, 3));
  if (words.size() % 2 != 0) words.push_back(ir::immediate_operand(0));
  std::vector<ir::Operand> pairs;
  for (std::size_t w = 0; w < words.size(); w += 2)
    pairs.push_back(pair(instruction, words[w], words[w + 1]));
  return pairs;
}

}  // namespace lockstep::isa
