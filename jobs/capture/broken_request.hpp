/// A request that Lockstep's CUDA runtime never makes: the program has written to the channel
/// itself, or over the memory of its runtime.
#pragma once

#include <string>

#include "core/error/error.hpp"

namespace lockstep::capture {

class BrokenRequest : public UserError {
 public:
  explicit BrokenRequest(const std::string& why) : UserError("", why, "") {}
};

inline void require(bool holds, const char* why) {
  if (!holds) throw BrokenRequest(why);
}

}  // namespace lockstep::capture
