/// Copies between arrays and linear memory in the driver's interface.
#include "jobs/capture/runtime/copies.hpp"
#include "jobs/capture/runtime/driver/driver.hpp"
#include "jobs/capture/runtime/graphs/graphs.hpp"
#include "jobs/capture/runtime/textures/arrays.hpp"

namespace lockstep::capture {

LOCKSTEP_EXPORT Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from,
                                        std::size_t bytes, int kind);
LOCKSTEP_EXPORT Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y,
                                          std::size_t bytes, int kind);
LOCKSTEP_EXPORT Error cudaMemcpyToArrayAsync(Array* to, std::size_t x, std::size_t y,
                                             const void* from, std::size_t bytes, int kind,
                                             StreamHandle stream);
LOCKSTEP_EXPORT Error cudaMemcpyFromArrayAsync(void* to, const Array* from, std::size_t x,
                                               std::size_t y, std::size_t bytes, int kind,
                                               StreamHandle stream);

namespace driver {
namespace {

/// `offset`: bytes from row to row.
Error to_array(Array* to, std::size_t offset, const void* from, std::size_t bytes) {
  if (!to) return invalid_value;
  const std::size_t row = to->row_bytes();
  return apart(
      [&] { return cudaMemcpyToArray(to, offset % row, offset / row, from, bytes, by_address); });
}

Error from_array(void* to, const Array* from, std::size_t offset, std::size_t bytes) {
  if (!from) return invalid_value;
  const std::size_t row = from->row_bytes();
  return apart(
      [&] { return cudaMemcpyFromArray(to, from, offset % row, offset / row, bytes, by_address); });
}

}  // namespace

LOCKSTEP_DRIVER Error cuMemcpyHtoA_v2(Array* to, std::size_t offset, const void* from,
                                      std::size_t bytes) {
  return to_array(to, offset, from, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyDtoA_v2(Array* to, std::size_t offset, const void* from,
                                      std::size_t bytes) {
  return to_array(to, offset, from, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyAtoH_v2(void* to, const Array* from, std::size_t offset,
                                      std::size_t bytes) {
  return from_array(to, from, offset, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyAtoD_v2(void* to, const Array* from, std::size_t offset,
                                      std::size_t bytes) {
  return from_array(to, from, offset, bytes);
}
LOCKSTEP_DRIVER Error cuMemcpyHtoAAsync_v2(Array* to, std::size_t offset, const void* from,
                                           std::size_t bytes, StreamHandle stream) {
  if (!to) return invalid_value;
  const std::size_t row = to->row_bytes();
  return apart([&] {
    return cudaMemcpyToArrayAsync(to, offset % row, offset / row, from, bytes, by_address, stream);
  });
}
LOCKSTEP_DRIVER Error cuMemcpyAtoHAsync_v2(void* to, const Array* from, std::size_t offset,
                                           std::size_t bytes, StreamHandle stream) {
  if (!from) return invalid_value;
  const std::size_t row = from->row_bytes();
  return apart([&] {
    return cudaMemcpyFromArrayAsync(to, from, offset % row, offset / row, bytes, by_address,
                                    stream);
  });
}

}  // namespace driver
}  // namespace lockstep::capture
