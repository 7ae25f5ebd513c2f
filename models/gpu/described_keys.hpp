#pragma once

#include <string>

namespace lockstep {

/// Returns a table of the keys of a scenario (its machine, policies and tenants) and of a workload
/// that begin with `only`, or else have it in their name or meaning; "" keeps all.
std::string describe_keys(const std::string& only);

/// Returns the same as a page of Markdown tables.
std::string page_of_keys();

}  // namespace lockstep
