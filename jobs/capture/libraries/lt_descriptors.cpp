#include "jobs/capture/libraries/lt_descriptors.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::capture {
namespace {

/// Where an attribute stands in a descriptor.
struct Place {
  void* at = nullptr;
  std::size_t bytes = 0;
};
template <class Value>
Place place_of(Value& value) {
  return {&value, sizeof value};
}

Place find(MatrixLayout& l, int attribute) {
  switch (attribute) {
    case 0:
      return place_of(l.type);
    case 1:
      return place_of(l.order);
    case 2:
      return place_of(l.rows);
    case 3:
      return place_of(l.columns);
    case 4:
      return place_of(l.distance);
    case 5:
      return place_of(l.batch);
    case 6:
      return place_of(l.stride);
    default:
      return {};
  }
}
Place find(MatmulDescription& d, int attribute) {
  switch (attribute) {
    case 0:
      return place_of(d.compute);
    case 1:
      return place_of(d.scale_type);
    case 2:
      return place_of(d.pointer_mode);
    case 3:
      return place_of(d.a_operation);
    case 4:
      return place_of(d.b_operation);
    case 5:
      return place_of(d.c_operation);
    case 7:
      return place_of(d.epilogue);
    case 8:
      return place_of(d.bias);
    case 10:
      return place_of(d.bias_stride);
    case 11:
      return place_of(d.aux);
    case 12:
      return place_of(d.aux_column);
    case 13:
      return place_of(d.aux_stride);
    case 15:
      return place_of(d.sms);
    case 22:
      return place_of(d.aux_type);
    case 25:
      return place_of(d.fast_accumulation);
    case 26:
      return place_of(d.bias_type);
    default:
      return {};
  }
}
Place find(MatmulPreference& p, int attribute) {
  switch (attribute) {
    case 0:
      return place_of(p.search);
    case 1:
      return place_of(p.workspace);
    case 3:
      return place_of(p.reductions);
    case 5:
      return place_of(p.a_alignment);
    case 6:
      return place_of(p.b_alignment);
    case 7:
      return place_of(p.c_alignment);
    case 8:
      return place_of(p.d_alignment);
    case 9:
      return place_of(p.waves);
    case 12:
      return place_of(p.implementations);
    default:
      return {};
  }
}

/// Attributes that cuBLAS has and these descriptors have not.
constexpr int last_of_layout = 8, last_of_description = 38;
constexpr int fill_mode = 6, full = 2;

bool is_default(int attribute, const void* from, std::size_t bytes, bool of_description) {
  const auto* const first = static_cast<const char*>(from);
  if (of_description && attribute == fill_mode) return *first == full;
  return std::all_of(first, first + bytes, [](char byte) { return byte == 0; });
}

template <class Descriptor>
Status write(Descriptor& descriptor, int attribute, const void* from, std::size_t bytes) {
  const Place place = find(descriptor, attribute);
  if (!from || !place.at || bytes != place.bytes) return invalid_value;
  std::memcpy(place.at, from, bytes);
  return success;
}
/// Writes an attribute of a descriptor that records unsupported attributes.
template <class Descriptor>
Status write_or_remember(Descriptor& descriptor, int attribute, const void* from, std::size_t bytes,
                         int last, bool of_description) {
  if (find(descriptor, attribute).at) return write(descriptor, attribute, from, bytes);
  if (!from || !bytes || attribute < 0 || attribute > last) return invalid_value;
  const auto number = static_cast<std::uint32_t>(attribute) + 1;
  if (!is_default(attribute, from, bytes, of_description))
    descriptor.lacking = number;
  else if (descriptor.lacking == number)
    descriptor.lacking = 0;
  return success;
}
template <class Descriptor>
Status read(Descriptor& descriptor, int attribute, void* to, std::size_t bytes,
            std::size_t* written) {
  const Place place = find(descriptor, attribute);
  if (!place.at || (bytes == 0 && !written)) return invalid_value;
  if (written) *written = place.bytes;
  if (bytes == 0) return success;
  if (!to || bytes < place.bytes) return invalid_value;
  std::memcpy(to, place.at, place.bytes);
  return success;
}

}  // namespace

Status set(MatrixLayout& layout, int attribute, const void* from, std::size_t bytes) {
  return write_or_remember(layout, attribute, from, bytes, last_of_layout, false);
}
Status set(MatmulDescription& description, int attribute, const void* from, std::size_t bytes) {
  return write_or_remember(description, attribute, from, bytes, last_of_description, true);
}
Status set(MatmulPreference& preference, int attribute, const void* from, std::size_t bytes) {
  return write(preference, attribute, from, bytes);
}
Status get(MatrixLayout& layout, int attribute, void* to, std::size_t bytes, std::size_t* written) {
  return read(layout, attribute, to, bytes, written);
}
Status get(MatmulDescription& description, int attribute, void* to, std::size_t bytes,
           std::size_t* written) {
  return read(description, attribute, to, bytes, written);
}
Status get(MatmulPreference& preference, int attribute, void* to, std::size_t bytes,
           std::size_t* written) {
  return read(preference, attribute, to, bytes, written);
}

}  // namespace lockstep::capture
