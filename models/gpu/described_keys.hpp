#pragma once

#include <string>

namespace lockstep {

/// Returns a table of keys of a scenario (its machine, policies and tenants) and of a workload:
/// those that begin with `only`, or else those with it in their name or documentation; "" selects
/// all.
std::string describe_keys(const std::string& only);

/// Returns the same as a page of Markdown tables.
std::string page_of_keys();

}  // namespace lockstep
