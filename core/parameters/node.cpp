#include "core/parameters/node.hpp"

#include "core/parameters/node_data.hpp"
#include "core/parameters/suggest.hpp"
#include "core/parameters/units.hpp"

namespace lockstep {
namespace {

const char* kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::absent:
      return "absent";
    case Node::Kind::null:
      return "empty";
    case Node::Kind::scalar:
      return "a single value";
    case Node::Kind::sequence:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "";
}

const char* form_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::scalar:
      return "write one word or number";
    case Node::Kind::sequence:
      return "write [a, b], or a line \"- a\" for each entry";
    default:
      return "write {key: value}, or indented lines \"key: value\"";
  }
}

Node::Data& expect(const Node& node, Node::Kind kind) {
  LOCKSTEP_CHECK(node.exists(), "an absent node was read");
  if (node.kind() != kind) {
    throw node.error(std::string("is ") + kind_name(node.kind()) + ", not " + kind_name(kind),
                     form_of(kind));
  }
  return *node.data();
}

template <class T>
T scalar_as(const Node& node, ParameterType type) {
  const ParsedScalar parsed = parse_scalar(node.text(), type);
  if (!parsed.value) throw node.error(parsed.problem, parsed.advice);
  return std::get<T>(*parsed.value);
}

}  // namespace

Node::Kind Node::kind() const {
  return data_ ? data_->kind : Kind::absent;
}

std::string Node::where() const {
  return data_ ? data_->position.text() : "";
}

const std::string& Node::path() const {
  LOCKSTEP_CHECK(exists(), "an absent node was read");
  return data_->path;
}

const std::string& Node::file() const {
  static const std::string none;
  return data_ && data_->position.line > 0 ? *data_->position.source : none;
}

UserError Node::error(const std::string& what, const std::string& advice) const {
  const std::string name = data_ ? data_->path : "";
  return {where(), (name.empty() ? "" : name + ": ") + what, advice};
}

bool Node::has(const std::string& key) const {
  return find(key).exists();
}

Node Node::find(const std::string& key) const {
  Data& data = expect(*this, Kind::map);
  data.asked.insert(key);
  const Data::Entry* entry = data.find(key);
  return entry ? entry->value : Node{};
}

Node Node::at(const std::string& key) const {
  Node node = find(key);
  if (!node.exists()) throw missing(key, "add it");
  return node;
}

UserError Node::missing(const std::string& key, const std::string& advice) const {
  for (const Data::Entry& entry : expect(*this, Kind::map).map) {
    if (is_slip_of(entry.key, key) && !data_->asked.count(entry.key)) {
      return UserError(entry.key_position.text(), "unknown key \"" + entry.key + "\"",
                       "did you mean \"" + key + "\"?");
    }
  }
  return error("\"" + key + "\" is missing", advice);
}

std::vector<std::pair<std::string, Node>> Node::entries() const {
  Data& data = expect(*this, Kind::map);
  std::vector<std::pair<std::string, Node>> result;
  for (const Data::Entry& entry : data.map) {
    data.asked.insert(entry.key);
    result.emplace_back(entry.key, entry.value);
  }
  return result;
}

std::string Node::where_key(const std::string& key) const {
  const Data::Entry* entry = expect(*this, Kind::map).find(key);
  return entry ? entry->key_position.text() : where();
}

void Node::reject_unknown_keys() const {
  const Data& data = expect(*this, Kind::map);
  for (const Data::Entry& entry : data.map) {
    if (data.asked.count(entry.key)) continue;
    const std::string name = data.path.empty() ? entry.key : data.path + "." + entry.key;
    throw UserError(entry.key_position.text(), name + ": unknown key \"" + entry.key + "\"",
                    suggest(entry.key, {data.asked.begin(), data.asked.end()}));
  }
}

std::string Node::rename_key(const std::string& before, const std::string& now) const {
  if (!is_map() || data_->find(before) == nullptr) return "";
  std::erase_if(data_->map, [&](const Data::Entry& entry) { return entry.key == now; });
  Data::Entry& entry = *data_->find(before);
  entry.key = now;
  set_paths(entry.value, data_->path.empty() ? now : data_->path + "." + now);
  return entry.key_position.text();
}

std::size_t Node::size() const {
  if (kind() == Kind::map) return data_->map.size();
  return expect(*this, Kind::sequence).sequence.size();
}

std::vector<Node> Node::items() const {
  return expect(*this, Kind::sequence).sequence;
}

Node Node::item(std::size_t index) const {
  const Data& data = expect(*this, Kind::sequence);
  if (index >= data.sequence.size()) {
    throw error("has " + std::to_string(data.sequence.size()) + " entries, not " +
                    std::to_string(index + 1),
                "add what is missing");
  }
  return data.sequence[index];
}

const std::string& Node::text() const {
  return expect(*this, Kind::scalar).scalar;
}

bool Node::is_quoted() const {
  return data_ && data_->quoted;
}

bool Node::boolean() const {
  return scalar_as<bool>(*this, ParameterType::boolean);
}
std::int64_t Node::integer() const {
  return scalar_as<std::int64_t>(*this, ParameterType::int64);
}
std::uint64_t Node::unsigned_integer() const {
  return scalar_as<std::uint64_t>(*this, ParameterType::uint64);
}
double Node::real() const {
  return scalar_as<double>(*this, ParameterType::real);
}
Bytes Node::bytes() const {
  return Bytes{scalar_as<std::uint64_t>(*this, ParameterType::bytes)};
}
Time Node::time() const {
  return Time{scalar_as<std::int64_t>(*this, ParameterType::time)};
}
Frequency Node::frequency() const {
  return Frequency{scalar_as<double>(*this, ParameterType::frequency)};
}
Bandwidth Node::bandwidth() const {
  return Bandwidth{scalar_as<double>(*this, ParameterType::bandwidth)};
}

std::string Node::to_flow() const {
  std::string text;
  switch (kind()) {
    case Kind::absent:
    case Kind::null:
      return "null";
    case Kind::scalar:
      return data_->quoted ? "\"" + data_->scalar + "\"" : data_->scalar;
    case Kind::sequence:
      for (const Node& item : data_->sequence) text += (text.empty() ? "" : ", ") + item.to_flow();
      return "[" + text + "]";
    case Kind::map:
      for (const Data::Entry& entry : data_->map) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " + entry.value.to_flow();
      }
      return "{" + text + "}";
  }
  return text;
}

void set_paths(const Node& node, const std::string& path) {
  Node::Data& data = *node.data();
  data.path = path;
  const std::string prefix = path.empty() ? "" : path + ".";
  for (std::size_t i = 0; i < data.sequence.size(); ++i) {
    set_paths(data.sequence[i], prefix + std::to_string(i));
  }
  for (const Node::Data::Entry& entry : data.map) set_paths(entry.value, prefix + entry.key);
}

}  // namespace lockstep
