#pragma once

#include "core/parameters/policy.hpp"

/// A registry's line for a policy.  The policy's file defines `PolicyRegistry<Factory>::Row name()`
/// with the policy's name, its line of documentation, its factory and its parameters; nothing else
/// declares it, so that a new policy edits that file and this line.
#define LOCKSTEP_REGISTERED(Factory, name)                  \
  [] {                                                      \
    extern ::lockstep::PolicyRegistry<Factory>::Row name(); \
    return name();                                          \
  }()
