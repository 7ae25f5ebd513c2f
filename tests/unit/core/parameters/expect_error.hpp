#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error/error.hpp"

namespace lockstep {

/// The message of the UserError that `action` throws; "no error" if it throws none.
template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace lockstep
