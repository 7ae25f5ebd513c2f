/// PTX modules of a program as one, and constant memory that the host can write.
///
/// Simplified: constant variables become global ones, so that copies to them are copies like all
/// others; a replay reads them through L1 instead of the constant cache.  A symbol that two
/// modules define gets a number behind its name in the later one.
#pragma once

#include <map>
#include <set>
#include <string>

namespace lockstep::capture {

/// The text with its constant variables in global memory.
std::string with_global_constants(const std::string& text);

class MergedPtx {
 public:
  /// Adds a module; gives the names of its symbols that are others now.
  std::map<std::string, std::string> add(const std::string& text);
  bool empty() const { return body_.empty(); }
  /// `last`: another module, with symbols of its own, behind all others.
  std::string text(const std::string& last = "") const;

 private:
  std::string body_;
  double version_ = 0;
  int architecture_ = 0;
  std::string version_line_, target_line_;
  std::set<std::string> symbols_, external_;
  int modules_ = 0;
};

}  // namespace lockstep::capture
