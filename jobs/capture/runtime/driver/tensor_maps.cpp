/// Tensor maps, in the bytes that copies of tiles read.
///
/// Source: CUDA Driver API reference, "Tensor Map Object Management".
#include <algorithm>
#include <cstring>
#include <utility>

#include "jobs/capture/runtime/driver/driver.hpp"
#include "models/isa/bulk/tensor_map.hpp"

namespace lockstep::capture::driver {
namespace {

using isa::TensorMap;

Error write(void* to, const TensorMap& map) {
  if (!isa::mistake_in_fields(map).empty()) return invalid_value;
  if (!isa::not_modelled(map).empty())
    return unsupported(("cuTensorMapEncodeTiled (" + isa::not_modelled(map) + ")").c_str());
  const TensorMap::Bytes bytes = isa::encode(map);
  std::memcpy(to, bytes.data(), bytes.size());
  return success;
}

}  // namespace

LOCKSTEP_DRIVER Error cuTensorMapEncodeTiled(void* to, int type, unsigned rank, void* address,
                                             const std::uint64_t* sizes,
                                             const std::uint64_t* strides, const std::uint32_t* box,
                                             const std::uint32_t* steps, int interleave,
                                             int swizzle, int promotion, int fill) {
  return apart([&]() -> Error {
    if (to == nullptr || sizes == nullptr || box == nullptr || steps == nullptr || rank == 0 ||
        rank > TensorMap::most_rank || (rank > 1 && strides == nullptr))
      return invalid_value;
    for (const auto& [value, end] :
         {std::pair(type, static_cast<int>(isa::TensorType::count)), std::pair(interleave, 3),
          std::pair(swizzle, static_cast<int>(isa::Swizzle::count)), std::pair(promotion, 4),
          std::pair(fill, 2)})
      if (value < 0 || value >= end) return invalid_value;
    TensorMap map;
    map.address = reinterpret_cast<std::uint64_t>(address);
    map.rank = rank;
    map.type = static_cast<isa::TensorType>(type);
    map.interleave = static_cast<unsigned>(interleave);
    map.swizzle = static_cast<isa::Swizzle>(swizzle);
    map.promotion = static_cast<unsigned>(promotion);
    map.fills_nan = fill == 1;
    std::copy_n(sizes, rank, map.size.begin());
    if (rank > 1) std::copy_n(strides, rank - 1, map.stride.begin() + 1);
    std::copy_n(box, rank, map.box.begin());
    std::copy_n(steps, rank, map.step.begin());
    return write(to, map);
  });
}

LOCKSTEP_DRIVER Error cuTensorMapReplaceAddress(void* of, void* address) {
  return apart([&]() -> Error {
    if (of == nullptr) return invalid_value;
    TensorMap::Bytes bytes;
    std::memcpy(bytes.data(), of, bytes.size());
    if (!isa::mistake_in_bytes(bytes).empty()) return invalid_value;
    TensorMap map = isa::decode(bytes);
    map.address = reinterpret_cast<std::uint64_t>(address);
    return write(of, map);
  });
}

}  // namespace lockstep::capture::driver
