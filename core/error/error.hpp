#pragma once

#include <stdexcept>
#include <string>

namespace lockstep {

/// A mistake of the user: one line with the place, the mistake, and advice.
class UserError : public std::runtime_error {
 public:
  /// `where` is "file:line:column" or another place that a person can find; it may be empty, like
  /// `advice`.  Control characters in quoted keys are shown as "\x0a".
  UserError(const std::string& where, const std::string& what, const std::string& advice);
};

/// Returns text of a file for a terminal: control characters, which a terminal could take as
/// commands, are shown as "\x1b".
std::string printable(const std::string& text);
/// Returns the text as printable() does, but keeps ends of lines.
std::string printable_lines(const std::string& text);

/// A mistake in the program: an invariant does not hold.  The engine adds component and simulated
/// time.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void internal_error(const char* file, int line, const char* condition,
                                 const std::string& message);

}  // namespace lockstep

/// Checked in every build; the message is only built on failure.
#define LOCKSTEP_CHECK(condition, message)                                 \
  do {                                                                     \
    if (!(condition)) [[unlikely]]                                         \
      ::lockstep::internal_error(__FILE__, __LINE__, #condition, message); \
  } while (false)

#ifdef NDEBUG
#define LOCKSTEP_DEBUG_CHECK(condition, message) static_cast<void>(0)
#else
#define LOCKSTEP_DEBUG_CHECK(condition, message) LOCKSTEP_CHECK(condition, message)
#endif
