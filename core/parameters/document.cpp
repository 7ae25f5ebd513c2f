#include "core/parameters/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "core/error/input_file.hpp"
#include "core/parameters/node_data.hpp"
#include "core/parameters/search_path.hpp"
#include "core/parameters/suggest.hpp"
#include "core/parameters/yaml_advice.hpp"

namespace lockstep {
namespace {

/// Returns whether the node is part of an expression that YAML took apart at a comma: `[min(n, 4),
/// 1]` has the items `min(n` and `4)`.
bool is_open_expression(const Node& node) {
  if (!node.exists() || !node.is_scalar() || node.data()->quoted) return false;
  const std::string& text = node.data()->scalar;
  return std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
}

void continue_expression(const Node& node, const std::string& rest) {
  node.data()->scalar += ", " + rest;
}

/// Builds the tree from the parser's events; unlike yaml-cpp's own tree it keeps the place of every
/// key, the order of the file, and notices repeated keys.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const std::string> source) : source_(std::move(source)) {}

  Node root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    insert(make(Node::Kind::null, mark, anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (anchors_.count(anchor) == 0)
      throw UserError(position(mark).text(), "unknown alias", "define it before with \"&name\"");
    // A copy: reads and overrides at one place do not affect the other.
    Node copy = deep_copy(anchors_.at(anchor));
    copy.data()->position = position(mark);
    insert(copy);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const Node node = make(Node::Kind::scalar, mark, anchor);
    node.data()->scalar = value;
    node.data()->quoted = tag == "!";
    insert(node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(Node::Kind::sequence, mark, anchor));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(Node::Kind::map, mark, anchor));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Node container;
    Node key;  ///< key of a map that has been read; the value comes next
  };

  Position position(const YAML::Mark& mark) const {
    return {source_, mark.line + 1, mark.column + 1};
  }

  Node make(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    auto data = std::make_shared<Node::Data>();
    data->kind = kind;
    data->position = position(mark);
    Node node{std::move(data)};
    if (anchor != 0) anchors_[anchor] = node;
    return node;
  }

  Node deep_copy(const Node& node) {
    if (++copies_ > most_copies)
      throw node.error("aliases make more than a million copies", "write fewer of them");
    Node copy{std::make_shared<Node::Data>(*node.data())};
    for (Node& item : copy.data()->sequence) item = deep_copy(item);
    for (Node::Data::Entry& entry : copy.data()->map) entry.value = deep_copy(entry.value);
    return copy;
  }

  void open(const Node& container) {
    levels_.push_back({container, Node{}});
    if (levels_.size() > 100)
      throw container.error("is nested more than 100 deep",
                            "close some brackets before, or indent less");
  }

  void close() {
    const Node done = levels_.back().container;
    levels_.pop_back();
    insert(done);
  }

  void insert(const Node& node) {
    if (levels_.empty()) {
      root_ = node;
      return;
    }
    Level& level = levels_.back();
    Node::Data& container = *level.container.data();
    if (container.kind == Node::Kind::sequence) {
      if (!container.sequence.empty() && is_open_expression(container.sequence.back()) &&
          node.is_scalar())
        return continue_expression(container.sequence.back(), node.data()->scalar);
      container.sequence.push_back(node);
    } else if (!level.key.exists()) {
      if (!node.is_scalar())
        throw UserError(node.where(), "a key must be a single word", "write \"word: value\"");
      level.key = node;
    } else {
      add_entry(container, level.key, node);
      level.key = Node{};
    }
  }

  static void add_entry(Node::Data& map, const Node& key, const Node& value) {
    const std::string& name = key.data()->scalar;
    if (!map.map.empty() && is_open_expression(map.map.back().value) && value.is_null())
      return continue_expression(map.map.back().value, name);
    if (const Node::Data::Entry* first = map.find(name)) {
      throw UserError(key.where(), "the key \"" + name + "\" appears twice",
                      "it stands at " + first->key_position.text() + " already; remove one");
    }
    if (map.map.size() == most_keys)
      throw UserError(key.where(), "a map of more than 10000 keys", "split it or use a list");
    map.map.push_back({name, key.data()->position, value});
  }

  std::shared_ptr<const std::string> source_;
  Node root_;
  std::vector<Level> levels_;
  std::map<YAML::anchor_t, Node> anchors_;
  static constexpr std::uint32_t most_copies = 1'000'000;
  static constexpr std::size_t most_keys = 10'000;
  std::uint32_t copies_ = 0;
};

/// Throws for the first line up to `last` that is indented with a tab: the parser's message about
/// it, or about a later line, makes sense only to a reader who sees the tab.
void refuse_tabs(const std::string& text, const std::string& name, int last) {
  std::istringstream lines(text);
  int number = 1;
  for (std::string line; number <= last && std::getline(lines, line); ++number) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line[begin] != '\t') continue;
    throw UserError(name + ":" + std::to_string(number) + ":" + std::to_string(begin + 1),
                    "a tab indents this line, and YAML takes only spaces",
                    "replace the tab by as many spaces as the lines beside it have");
  }
}

Node parse(std::istream& in, const std::string& name, const std::string& path) {
  auto source = std::make_shared<const std::string>(name);
  TreeBuilder builder(source);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    std::istringstream copy(text);
    YAML::Parser parser(copy);
    if (!parser.HandleNextDocument(builder) || !builder.root().exists()) {
      throw UserError(name + ":1:1", "the file is empty", "it needs lines of the form key: value");
    }
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second)) {
      throw UserError(second.root().where(), "there is a second document in this file",
                      "remove everything from the \"---\" on");
    }
  } catch (const YAML::Exception& error) {
    refuse_tabs(text, name, error.mark.line + 1);
    throw UserError(name + ":" + std::to_string(error.mark.line + 1) + ":" +
                        std::to_string(error.mark.column + 1),
                    "not valid YAML: " + error.msg, yaml_advice(error.msg));
  }
  set_paths(builder.root(), path);
  return builder.root();
}

Node load(const std::string& file, const std::string& path, const std::string& named_at) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw UserError(named_at, "\"" + file + "\" is a folder", "name a YAML file in it");
  }
  const std::string reason = why_unreadable(file);
  if (!reason.empty()) {
    throw UserError(named_at, "cannot read \"" + file + "\": " + reason,
                    named_at.empty() ? "check the name"
                                     : "file names are relative to the file that names them");
  }
  std::ifstream in(file, std::ios::binary);
  return parse(in, file, path);
}

}  // namespace

Node load_document(const std::string& file, const std::string& path) {
  return load(file, path, "");
}

Node parse_document(const std::string& text, const std::string& name, const std::string& path) {
  std::istringstream in(text);
  return parse(in, name, path);
}

std::string resolve_file_name(const Node& node) {
  const std::filesystem::path name = node.text();
  if (name.is_absolute() || node.file().empty()) return name.lexically_normal().string();
  return (std::filesystem::path(node.file()).parent_path() / name).lexically_normal().string();
}

bool is_file_name(const Node& node) {
  return node.is_scalar() && node.text().ends_with(".yaml");
}

Node resolve_include(const Node& node) {
  if (!node.is_scalar()) return node;
  return load(resolve_file_name(node), node.path(), node.where());
}

static std::string folder_of(const Node& node) {
  return std::filesystem::path(node.file()).parent_path().string();
}

std::optional<std::string> file_by_word(const std::string& key, const Node& value) {
  if (!value.is_scalar() || !is_word(value.text())) return std::nullopt;
  std::error_code absent;
  if (std::filesystem::exists(resolve_file_name(value), absent)) return std::nullopt;
  return find_by_name(value.text(), key + "s", folder_of(value));
}

/// Returns the file in a folder that is named after the key: X.workload/workload.yaml for
/// X.workload.  Returns "" if there is none.
static std::string file_in_folder(const std::string& key, const Node& value) {
  if (!value.is_scalar()) return "";
  const std::filesystem::path file =
      std::filesystem::path(resolve_file_name(value)) / (key + ".yaml");
  std::error_code absent;
  return std::filesystem::exists(file, absent) ? file.string() : "";
}

bool stands_for_file(const std::string& key, const Node& value) {
  return is_file_name(value) || !file_in_folder(key, value).empty() ||
         !file_by_word(key, value).value_or("").empty();
}

void resolve_include_at(const Node& root, const std::string& key) {
  if (!root.is_map()) return;
  Node::Data::Entry* const entry = root.data()->find(key);
  if (!entry) return;
  const Node& value = entry->value;
  if (const std::string inside = file_in_folder(key, value); !inside.empty()) {
    entry->value = load(inside, value.path(), value.where());
    return;
  }
  const std::optional<std::string> file = file_by_word(key, value);
  if (file && file->empty()) {
    const auto known = known_names(key + "s", folder_of(value));
    throw UserError(value.where(),
                    "there is no " + value.text() + ".yaml beside this file, in LOCKSTEP_PATH or " +
                        "among the " + key + "s that came with the program",
                    known.empty() ? "write the name of its file" : suggest(value.text(), known));
  }
  entry->value = file ? load(*file, value.path(), value.where()) : resolve_include(value);
}

}  // namespace lockstep
