#include "models/workload/buffer_part.hpp"

#include <algorithm>

#include "core/error/error.hpp"

namespace lockstep {

BufferPart part_of(const Step& step, const Buffer& buffer, const Variables& variables,
                   const std::string& tenant) {
  const auto number = [&](const Expression& given, std::uint64_t otherwise) {
    return given.given()
               ? static_cast<std::uint64_t>(given.evaluate_integer(variables, 0, maximum_count))
               : otherwise;
  };
  const std::uint64_t first = number(step.offset, 0);
  const std::uint64_t rest = buffer.count - std::min(first, buffer.count);
  const std::uint64_t count = number(step.count, rest);
  const std::uint64_t bytes = count * isa::bytes_of(buffer.type);
  if (step.data && count <= rest && bytes > step.data->bytes)
    throw UserError(step.count.given() ? step.count.where() : step.where,
                    "buffer " + buffer.name + " of tenant " + tenant + " gets " +
                        std::to_string(bytes) + " bytes, the recording has " +
                        std::to_string(step.data->bytes) + " for this step",
                    "lower count, or leave `recorded` out");
  if (first <= buffer.count && count <= rest) return {first, count};
  const Expression& culprit = first <= buffer.count ? step.count : step.offset;
  throw UserError(culprit.where(),
                  std::to_string(count) + " elements from " + std::to_string(first) +
                      " on lie outside of buffer " + buffer.name + " of tenant " + tenant +
                      ", which has " + std::to_string(buffer.count),
                  "change offset and count, or the parameters");
}

PeerParts peer_parts_of(const Step& step, const Buffer& from, const Buffer& to,
                        const Variables& variables, const std::string& tenant) {
  Step there = step;
  there.offset = step.other_offset;
  there.count = Expression();
  const BufferPart source = part_of(step, from, variables, tenant);
  const BufferPart rest = part_of(there, to, variables, tenant);
  if (source.count > rest.count)
    throw UserError(step.where,
                    std::to_string(source.count) + " elements do not fit into buffer " + to.name +
                        " of tenant " + tenant + ", which has " + std::to_string(rest.count) +
                        " from " + std::to_string(rest.first) + " on",
                    "lower count or at, or make the buffer larger");
  const std::uint64_t width = isa::bytes_of(from.type);
  return {source.first * width, rest.first * width, source.count * width};
}

}  // namespace lockstep
