#include "models/host/printed_lines.hpp"

#include <utility>

namespace lockstep {

PrintedLines::PrintedLines(const std::vector<Tenant>& tenants, Sink sink)
    : begun_(tenants.size()), sink_(std::move(sink)) {
  for (const Tenant& tenant : tenants)
    prefixes_.push_back(tenants.size() > 1 ? tenant.name + ": " : "");
}

void PrintedLines::add(std::size_t tenant, std::string_view text) {
  std::string& line = begun_[tenant];
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    line += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const std::string whole = prefixes_[tenant] + std::exchange(line, {});
    if (sink_) sink_(whole);
  }
  line += text;
}

void PrintedLines::end(std::size_t tenant) {
  if (!begun_[tenant].empty()) add(tenant, "\n");
}

}  // namespace lockstep
