/// Bytes through the socket between the program's process and `lockstep capture`, for both ends.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace lockstep::capture {

/// Receives all bytes. Returns false at the end of the channel.
inline bool receive_all(int socket, void* to, std::size_t bytes) {
  char* place = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::read(socket, place, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    place += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

inline bool send_all(int socket, const void* from, std::size_t bytes) {
  const char* place = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t count = ::write(socket, place, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    place += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace lockstep::capture
