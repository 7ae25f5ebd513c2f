#include "models/workload/initializer.hpp"

#include <string>
#include <vector>

#include "core/parameters/document.hpp"
#include "models/workload/init_keys.hpp"
#include "models/workload/named_values.hpp"
#include "models/workload/required_key.hpp"
#include "models/workload/texture_initializer.hpp"
#include "models/workload/workload.hpp"

namespace lockstep {

namespace {

/// Reads the initial content of one buffer.
class InitializerReader {
  using Kind = Initializer::Kind;

 public:
  InitializerReader(std::vector<Buffer>& buffers, Buffer& buffer, const Variables& variables)
      : buffers_(buffers), buffer_(buffer), variables_(variables) {}

  void read(const Node& node) {
    initial_.where = node.where();
    std::string name;
    Node argument;
    if (node.is_scalar()) {
      name = node.text();
    } else {
      const auto entries = node.entries();
      if (entries.size() != 1)
        throw node.error("initial content is one entry", "write it as {value: 1}");
      name = entries.front().first;
      argument = entries.front().second;
    }
    struct Word {
      const char* name;
      Kind kind;
      void (InitializerReader::*read)(const Node&);
      bool stands_alone = false;
    };
    static constexpr Word words[] = {
        {"zero", Kind::zero, &InitializerReader::zero, true},
        {"value", Kind::value, &InitializerReader::value},
        {"linear", Kind::linear, &InitializerReader::linear},
        {"uniform", Kind::uniform, &InitializerReader::uniform},
        {"normal", Kind::normal, &InitializerReader::normal},
        {"permutation", Kind::permutation, &InitializerReader::permutation, true},
        {"csr_graph", Kind::csr_row, &InitializerReader::graph},
        {"file", Kind::file, &InitializerReader::file},
        {"texture", Kind::texture, &InitializerReader::texture},
    };
    for (const Word& word : words) {
      if (name != word.name || (node.is_scalar() && !word.stands_alone)) continue;
      initial_.kind = word.kind;
      (this->*word.read)(argument);
      buffer_.initial = initial_;
      return;
    }
    std::string known;
    for (const ParameterField& field : schema_of<InitKeys>().fields())
      known += (known.empty() ? "" : ", ") + field.key;
    throw node.error("no initial content is called \"" + name + "\"", known);
  }

 private:
  double number(const Node& node, double otherwise) const {
    return node.exists() ? Expression(node).evaluate(variables_) : otherwise;
  }
  std::uint64_t whole(const Node& node) const {
    return static_cast<std::uint64_t>(
        Expression(node).evaluate_integer(variables_, 0, maximum_count));
  }
  static std::uint64_t seed(const Node& node) {
    return node.exists() ? node.unsigned_integer() : 0;
  }
  Buffer& buffer_named(const Node& name) { return buffers_[buffer_index(name, buffers_)]; }

  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): one of the readers
  void zero(const Node& node) {
    if (node.exists())
      throw node.error("zero stands alone", "write init: zero, or init: {value: 1}");
  }
  void value(const Node& node) { initial_.first = Expression(node).evaluate(variables_); }
  void linear(const Node& map) {
    const auto keys = read_parameters<LinearKeys>(map);
    initial_.first = number(keys.start, 0);
    initial_.second = number(keys.step, 1);
  }
  void uniform(const Node& map) {
    const auto keys = read_parameters<UniformKeys>(map);
    initial_.first = number(keys.low, 0);
    initial_.second = number(keys.high, 1);
    initial_.seed = seed(keys.seed);
  }
  void normal(const Node& map) {
    const auto keys = read_parameters<NormalKeys>(map);
    initial_.first = number(keys.mean, 0);
    initial_.second = number(keys.deviation, 1);
    initial_.seed = seed(keys.seed);
  }
  void permutation(const Node& map) {
    if (map.exists()) initial_.seed = seed(read_parameters<PermutationKeys>(map).seed);
  }
  /// Reads a graph, which fills its own buffer (row offsets) and the buffers that it names.
  void graph(const Node& map) {
    const auto keys = read_parameters<CsrGraphKeys>(map);
    const std::string kind = required_key(map, keys.kind, "kind").text();
    if (kind != "rmat" && kind != "uniform")
      throw keys.kind.error("no graph is called \"" + kind + "\"", "rmat or uniform");
    initial_.rmat = kind == "rmat";
    initial_.vertices = whole(required_key(map, keys.vertices, "vertices"));
    initial_.edges = whole(required_key(map, keys.edges, "edges"));
    initial_.seed = seed(keys.seed);
    if (initial_.vertices == 0)
      throw keys.vertices.error("a graph needs a vertex", "write 1 or more");
    const auto fill = [&](Buffer& buffer, Kind part, std::uint64_t needed) {
      if (buffer.count < needed)
        throw map.error("buffer " + buffer.name + " has " + std::to_string(buffer.count) +
                            " elements, the graph needs " + std::to_string(needed),
                        "raise its count");
      Initializer initial = initial_;
      initial.kind = part;
      buffer.initial = initial;
    };
    fill(buffer_, Kind::csr_row, initial_.vertices + 1);
    fill(buffer_named(required_key(map, keys.columns, "columns")), Kind::csr_column,
         initial_.edges);
    if (keys.weights.exists()) fill(buffer_named(keys.weights), Kind::csr_weight, initial_.edges);
  }
  void file(const Node& node) {
    Node name = node;
    if (!node.is_scalar()) {
      const auto keys = read_parameters<FileKeys>(node);
      name = required_key(node, keys.name, "name");
      if (keys.data_set.exists()) initial_.data_set = keys.data_set.text();
    }
    initial_.file = resolve_file_name(name);
  }
  void texture(const Node& map) {
    if (buffer_.bytes() < isa::texture_header_bytes)
      throw map.error("buffer " + buffer_.name + " has no room for a texture's header",
                      "give it 64 bytes, as {type: u8, count: 64}");
    const auto keys = read_parameters<TextureKeys>(map);
    initial_.texture =
        read_texture(keys, map, buffer_named(required_key(map, keys.buffer, "buffer")), variables_);
  }

  std::vector<Buffer>& buffers_;
  Buffer& buffer_;
  const Variables& variables_;
  Initializer initial_;
};

}  // namespace

void read_initializer(const Node& node, std::vector<Buffer>& buffers, Buffer& buffer,
                      const Variables& variables) {
  InitializerReader(buffers, buffer, variables).read(node);
}

}  // namespace lockstep
