#include "models/isa/reader/syntax/syntax.hpp"

#include <bit>
#include <cstdlib>

#include "core/error/error.hpp"
#include "models/isa/reader/syntax/tree.hpp"

namespace lockstep::isa::syntax {
namespace {

/// Turns the parse tree into declarations, statements and operands.
class Builder {
 public:
  explicit Builder(const std::string& file) : file_(file) {}

  Module module(const Node& root) {
    Module result;
    Linkage linkage = Linkage::own;
    for (const Node& node : root.children) {
      if (node.is("linkage")) {
        linkage = node.text == ".extern"   ? Linkage::external
                  : node.text == ".weak"   ? Linkage::weak
                  : node.text == ".common" ? Linkage::common
                                           : Linkage::visible;
        continue;
      }
      if (node.is("declaration")) {
        for (Declaration& d : declaration(node)) {
          d.linkage = linkage;
          result.variables.push_back(std::move(d));
        }
      } else if (node.is("entry") || node.is("device_function")) {
        result.functions.push_back(function(node));
        result.functions.back().linkage = linkage;
      }
      linkage = Linkage::own;
    }
    return result;
  }

 private:
  [[noreturn]] void fail(Position at, const std::string& what, const std::string& advice) const {
    throw UserError(file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column), what,
                    advice);
  }

  std::uint64_t integer(const Node& node) const {
    const std::string digits = node.text.substr(0, node.text.find('U'));
    errno = 0;
    const bool binary = digits.size() > 1 && (digits[1] == 'b' || digits[1] == 'B');
    const bool hex = digits.size() > 1 && (digits[1] == 'x' || digits[1] == 'X');
    const std::uint64_t value = binary ? std::strtoull(digits.c_str() + 2, nullptr, 2)
                                       : std::strtoull(digits.c_str(), nullptr,
                                                       hex                ? 16
                                                       : digits[0] == '0' ? 8
                                                                          : 10);
    if (errno != 0)
      fail(node.at, "number " + node.text + " does not fit in 64 bits",
           "write at most 0xffffffffffffffff");
    return value;
  }

  std::int64_t addend(const Node& node) const {
    const bool negative = node.children.front().is("minus");
    const auto value = static_cast<std::int64_t>(integer(node.children.back()));
    return negative ? -value : value;
  }

  Operand number(const Node& node) const {
    Operand operand;
    operand.at = node.at;
    operand.text = node.text;
    const bool negative = node.children.front().is("minus");
    const Node& digits = node.children.back();
    if (digits.is("single_float")) {
      operand.kind = Operand::Kind::single;
      operand.bits = std::strtoull(digits.text.c_str() + 2, nullptr, 16);
      if (negative) operand.bits ^= 0x80000000u;
    } else if (digits.is("double_float")) {
      operand.kind = Operand::Kind::double_;
      operand.bits = std::strtoull(digits.text.c_str() + 2, nullptr, 16);
      if (negative) operand.bits ^= std::uint64_t{1} << 63;
    } else if (digits.is("decimal_float")) {
      operand.kind = Operand::Kind::double_;
      operand.bits = std::bit_cast<std::uint64_t>(std::strtod(node.text.c_str(), nullptr));
    } else {
      operand.kind = Operand::Kind::integer;
      operand.bits = integer(digits);
      if (negative) operand.bits = ~operand.bits + 1;
    }
    return operand;
  }

  Operand operand(const Node& node) const {
    if (node.is("number")) return number(node);
    Operand result;
    result.at = node.at;
    result.text = node.text;
    if (node.is("vector_operand") || node.is("group_operand") || node.is("address_operand")) {
      result.kind = node.is("vector_operand")  ? Operand::Kind::vector
                    : node.is("group_operand") ? Operand::Kind::group
                                               : Operand::Kind::address;
      for (const Node& child : node.children) result.children.push_back(operand(child));
    } else if (node.is("negated_name")) {
      result.negated = true;
      result.text = node.children.front().text;
    } else if (node.is("pair_operand")) {
      result.kind = Operand::Kind::pair;
      for (const Node& child : node.children) result.children.push_back(operand(child));
    } else if (node.is("mask_operand")) {
      result.kind = Operand::Kind::mask;
      result.bits = integer(node.children.front());
      result.children.push_back(operand(node.children.back()));
    } else if (node.is("minus_operand")) {
      result = operand(node.children.front());
      result.minus = true;
    } else if (node.is("generic_operand") || node.is("name_operand")) {
      if (node.is("generic_operand")) result.kind = Operand::Kind::generic;
      result.text = node.children.front().text;
      for (const Node& part : node.children) {
        if (part.is("part_selector")) result.selector = part.text.substr(1);
        if (part.is("addend")) result.addend = addend(part);
      }
    }
    return result;
  }

  std::vector<Declaration> declaration(const Node& node) const {
    Declaration head;
    std::vector<Declaration> result;
    for (const Node& part : node.children) {
      if (part.is("state_space")) {
        head.space = part.text;
        head.at = part.at;
      } else if (part.is("alignment")) {
        head.alignment = integer(part.children.front());
      } else if (part.is("type_name")) {
        head.type = part.text;
      } else if (part.is("vector_width")) {
        head.vector = part.text.find('4') != std::string::npos ? 4 : 2;
      } else if (part.is("declarator")) {
        result.push_back(declarator(part, head));
      }
    }
    if (result.empty()) {
      head.name = "_";
      result.push_back(head);
    }
    return result;
  }

  Declaration declarator(const Node& node, Declaration result) const {
    for (const Node& part : node.children) {
      if (part.is("declared_name")) {
        result.name = part.text;
        result.at = part.at;
      } else if (part.is("register_range")) {
        result.is_range = true;
        result.count = integer(part.children.front());
      } else if (part.is("dimension")) {
        result.is_array = true;
        result.dimensions.push_back(part.children.empty() ? 0 : integer(part.children.front()));
      } else if (part.is("initialiser")) {
        result.initialised = true;
        result.initial = operand(part.children.front());
      }
    }
    return result;
  }

  std::vector<Declaration> parameters(const Node& node) const {
    std::vector<Declaration> result;
    for (const Node& child : node.children)
      if (child.is("parameters")) {
        return parameters(child);
      } else {
        result.push_back(declaration(child).front());
      }
    return result;
  }

  void counts(const Node& node, std::uint32_t* three) const {
    for (std::size_t i = 0; i < 3; ++i)
      three[i] =
          i < node.children.size() ? static_cast<std::uint32_t>(integer(node.children[i])) : 1;
  }

  /// Refuses sizes of clusters that no grid has.
  void refuse_cluster(const Node& node, const Function& function) const {
    const std::uint32_t* size = function.required_cluster;
    if (size[0] != 0 && function.maximum_cluster != 0)
      fail(node.at, ".reqnctapercluster and .maxclusterrank exclude each other", "remove one");
    const std::uint64_t blocks = std::uint64_t{size[0]} * size[1] * size[2];
    const bool is_required = node.is("required_cluster");
    if (is_required ? blocks == 0 || blocks > 16 : function.maximum_cluster == 0)
      fail(node.at, "a cluster has 1 to 16 blocks", "change the directive");
  }

  Function function(const Node& node) const {
    Function result;
    result.is_entry = node.is("entry");
    for (const Node& part : node.children) {
      if (part.is("function_name")) {
        result.name = part.text;
        result.at = part.at;
      } else if (part.is("results")) {
        result.results = parameters(part);
      } else if (part.is("parameters")) {
        result.parameters = parameters(part);
      } else if (part.is("maximum_threads")) {
        counts(part, result.maximum_threads);
      } else if (part.is("required_threads")) {
        counts(part, result.required_threads);
      } else if (part.is("minimum_blocks")) {
        result.minimum_blocks = static_cast<std::uint32_t>(integer(part.children.front()));
      } else if (part.is("maximum_registers")) {
        result.maximum_registers = static_cast<std::uint32_t>(integer(part.children.front()));
      } else if (part.is("required_cluster")) {
        counts(part, result.required_cluster);
        refuse_cluster(part, result);
      } else if (part.is("maximum_cluster")) {
        result.maximum_cluster = static_cast<std::uint32_t>(integer(part.children.front()));
        refuse_cluster(part, result);
      } else if (part.is("explicit_cluster")) {
        result.explicit_cluster = true;
      } else if (part.is("body")) {
        result.has_body = true;
        statements(part, result.body);
      }
    }
    return result;
  }

  void statements(const Node& scope, std::vector<Statement>& into) const {
    for (const Node& node : scope.children) {
      Statement s;
      s.at = node.at;
      if (node.is("scope")) {
        s.kind = Statement::Kind::open;
        into.push_back(s);
        statements(node, into);
        s.kind = Statement::Kind::close;
      } else if (node.is("label_statement")) {
        s.kind = Statement::Kind::label;
        s.text = node.children.front().text;
      } else if (node.is("declaration")) {
        s.kind = Statement::Kind::declaration;
        s.declarations = declaration(node);
      } else if (node.is("branch_targets")) {
        s.kind = Statement::Kind::branch_targets;
        for (const Node& child : node.children) s.operands.push_back(operand(child));
      } else if (node.is("prototype")) {
        s.kind = Statement::Kind::prototype;
        for (const Node& child : node.children)
          (child.is("results") ? s.results : s.declarations) =
              child.is("results") || child.is("parameters") ? parameters(child)
                                                            : std::vector<Declaration>{};
      } else if (node.is("loop_pragma")) {
        s.kind = Statement::Kind::pragma;
        s.text = node.text;
      } else if (node.is("instruction")) {
        instruction(node, s);
      } else {
        continue;  // linkage directive of a declaration
      }
      into.push_back(std::move(s));
    }
  }

  void instruction(const Node& node, Statement& s) const {
    for (const Node& part : node.children) {
      if (part.is("guard")) {
        s.guarded = true;
        for (const Node& g : part.children) {
          s.guard_negated |= g.is("guard_negation");
          if (g.is("guard_name")) {
            s.guard = g.text;
            s.guard_at = g.at;
          }
        }
      } else if (part.is("opcode")) {
        s.text = part.text;
        s.at = part.at;
      } else {
        s.operands.push_back(operand(part));
      }
    }
  }

  const std::string& file_;
};

}  // namespace

Module parse(const std::string& text, const std::string& file) {
  return Builder(file).module(parse_tree(text, file));
}

}  // namespace lockstep::isa::syntax
