/// Pools that memory is asked for in the order of a stream.
///
/// Simplified: pools remember their settings and hold no memory back, so that reserved memory is
/// used memory.
#include <cstring>
#include <map>

#include "jobs/capture/runtime/connection.hpp"

namespace lockstep::capture {
namespace {

struct Pool {
  std::map<int, std::uint64_t> attributes;
};

Pool default_pool;
Pool* current_pool = &default_pool;

constexpr int last_flag = 3;  // attributes up to this one are int, the others have 64 bits
constexpr int release_threshold = 4;

std::uint64_t used_bytes() {
  const Connection::Reply reply = Connection::get().ask(Operation::memory_left);
  return reply.numbers[1] - reply.numbers[0];
}

}  // namespace

LOCKSTEP_EXPORT Error cudaDeviceGetDefaultMemPool(Pool** pool, int) {
  return give(pool, &default_pool);
}
LOCKSTEP_EXPORT Error cudaDeviceGetMemPool(Pool** pool, int) {
  return give(pool, current_pool);
}
LOCKSTEP_EXPORT Error cudaDeviceSetMemPool(int, Pool* pool) {
  if (!pool) return noted(invalid_value);
  current_pool = pool;
  return success;
}
LOCKSTEP_EXPORT Error cudaMemPoolCreate(Pool** pool, const void*) {
  if (!pool) return noted(invalid_value);
  *pool = new Pool;
  return success;
}
LOCKSTEP_EXPORT Error cudaMemPoolDestroy(Pool* pool) {
  if (!pool || pool == &default_pool) return noted(invalid_value);
  if (current_pool == pool) current_pool = &default_pool;
  delete pool;
  return success;
}
LOCKSTEP_EXPORT Error cudaMemPoolSetAttribute(Pool* pool, int attribute, const void* value) {
  if (!pool || !value) return noted(invalid_value);
  std::uint64_t& kept = pool->attributes[attribute];
  kept = 0;
  std::memcpy(&kept, value, attribute <= last_flag ? sizeof(int) : sizeof kept);
  return success;
}
LOCKSTEP_EXPORT Error cudaMemPoolGetAttribute(const Pool* pool, int attribute, void* value) {
  if (!pool || !value) return noted(invalid_value);
  const auto kept = pool->attributes.find(attribute);
  std::uint64_t answer = attribute <= last_flag ? 1 : 0;  // reuse is allowed unless it is forbidden
  if (attribute > release_threshold) {
    answer = used_bytes();
  } else if (kept != pool->attributes.end()) {
    answer = kept->second;
  }
  std::memcpy(value, &answer, attribute <= last_flag ? sizeof(int) : sizeof answer);
  return success;
}
LOCKSTEP_EXPORT Error cudaMemPoolTrimTo(Pool*, std::size_t) {
  return success;
}
LOCKSTEP_EXPORT Error cudaMemPoolSetAccess(Pool*, const void*, std::size_t) {
  return success;  // one device needs no access rights
}

}  // namespace lockstep::capture
