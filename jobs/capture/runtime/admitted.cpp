/// Calls of the C library whose system calls would fail on pages taken from the CPU: these versions
/// first give the CPU access.  They take precedence over the library's own, since programs are
/// linked with this library first.
///
/// Simplified: only calls to which programs pass managed memory are here; others would fail with
/// EFAULT.
#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdio>

#include "jobs/capture/runtime/cuda_abi.hpp"
#include "jobs/capture/runtime/shared_pages.hpp"

namespace lockstep::capture {
namespace {

template <class Function>
Function library_own(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

LOCKSTEP_EXPORT ssize_t read(int file, void* to, std::size_t bytes) {
  static const auto own = library_own<ssize_t (*)(int, void*, std::size_t)>("read");
  admit_pages(to, bytes, true);
  return own(file, to, bytes);
}

LOCKSTEP_EXPORT ssize_t write(int file, const void* from, std::size_t bytes) {
  static const auto own = library_own<ssize_t (*)(int, const void*, std::size_t)>("write");
  admit_pages(from, bytes, false);
  return own(file, from, bytes);
}

LOCKSTEP_EXPORT ssize_t writev(int file, const iovec* parts, int count) {
  static const auto own = library_own<ssize_t (*)(int, const iovec*, int)>("writev");
  for (int i = 0; i < count; ++i) admit_pages(parts[i].iov_base, parts[i].iov_len, false);
  return own(file, parts, count);
}

LOCKSTEP_EXPORT ssize_t readv(int file, const iovec* parts, int count) {
  static const auto own = library_own<ssize_t (*)(int, const iovec*, int)>("readv");
  for (int i = 0; i < count; ++i) admit_pages(parts[i].iov_base, parts[i].iov_len, true);
  return own(file, parts, count);
}

LOCKSTEP_EXPORT std::size_t fread(void* to, std::size_t size, std::size_t count, FILE* file) {
  static const auto own =
      library_own<std::size_t (*)(void*, std::size_t, std::size_t, FILE*)>("fread");
  admit_pages(to, size * count, true);
  return own(to, size, count, file);
}

LOCKSTEP_EXPORT std::size_t fwrite(const void* from, std::size_t size, std::size_t count,
                                   FILE* file) {
  static const auto own =
      library_own<std::size_t (*)(const void*, std::size_t, std::size_t, FILE*)>("fwrite");
  admit_pages(from, size * count, false);
  return own(from, size, count, file);
}

}  // namespace lockstep::capture
