/// Grammar of PTX, as far as its structure goes; the meaning of opcodes and modifiers stands in
/// families/instruction_table.cpp.
///
/// Source: PTX ISA 8.x, sections 4 "Syntax", 5 "State Spaces, Types, and Variables", 7 "Abstracting
/// the ABI", 11 "Directives".
///
/// Simplified: no constant expressions beyond name + number; debug sections are skipped.
#include <tao/pegtl.hpp>
#include <tao/pegtl/contrib/parse_tree.hpp>

#include "models/isa/reader/syntax/explain.hpp"
#include "models/isa/reader/syntax/tree.hpp"

namespace lockstep::isa::syntax {
namespace grammar {
using namespace tao::pegtl;  // NOLINT: the grammar reads like one
// Rules are named as the library names its own.
// NOLINTBEGIN(readability-identifier-naming)

#define WORD(text) TAO_PEGTL_STRING(text)

#if TAO_PEGTL_VERSION_MAJOR < 3  // 2.8 of Ubuntu 22.04: columns from 0, other names
inline std::size_t column_of(const position& at) {
  return at.byte_in_line + 1;
}
inline std::string type_of(const parse_tree::node& tree) {
  return tree.name();
}
#else
inline std::size_t column_of(const position& at) {
  return at.column;
}
inline std::string_view type_of(const parse_tree::node& tree) {
  return tree.type;
}
#endif

struct line_comment : seq<two<'/'>, until<eolf>> {};
struct block_comment : seq<string<'/', '*'>, until<string<'*', '/'>>> {};
struct blank : star<sor<space, line_comment, block_comment>> {};
template <char Character>
struct symbol : seq<one<Character>, blank> {};
struct semicolon : symbol<';'> {};
struct closing_brace : symbol<'}'> {};
struct closing_parenthesis : symbol<')'> {};
struct closing_bracket : symbol<']'> {};

struct name_first : ranges<'a', 'z', 'A', 'Z', '_', '_', '$', '$'> {};
struct name_other : ranges<'a', 'z', 'A', 'Z', '0', '9', '_', '_', '$', '$'> {};
struct word_end : not_at<name_other> {};
struct plain_name : seq<name_first, star<name_other>> {};
/// %tid.x: a selector belongs to the name.
struct percent_name : seq<one<'%'>, name_first, star<name_other>,
                          opt<one<'.'>, one<'x', 'y', 'z', 'w'>, word_end>> {};
struct name : sor<percent_name, plain_name> {};

// Numbers.
struct single_float : seq<one<'0'>, one<'f', 'F'>, rep<8, xdigit>> {};
struct double_float : seq<one<'0'>, one<'d', 'D'>, rep<16, xdigit>> {};
struct hexadecimal : seq<one<'0'>, one<'x', 'X'>, plus<xdigit>, opt<one<'U'>>> {};
struct binary : seq<one<'0'>, one<'b', 'B'>, plus<one<'0', '1'>>, opt<one<'U'>>> {};
struct exponent : seq<one<'e', 'E'>, opt<one<'+', '-'>>, plus<digit>> {};
struct decimal_float : seq<plus<digit>, sor<seq<one<'.'>, star<digit>, opt<exponent>>, exponent>> {
};
struct decimal : seq<plus<digit>, opt<one<'U'>>> {};
struct minus : one<'-'> {};
struct number
    : seq<opt<minus>, sor<single_float, double_float, hexadecimal, binary, decimal_float, decimal>,
          word_end> {};
struct addend : seq<sor<seq<one<'+'>, blank, opt<minus>>, minus>, blank, sor<hexadecimal, decimal>,
                    word_end> {};

// Operands.
struct operand;
struct operands : list<seq<operand, blank>, symbol<','>> {};
struct vector_operand : seq<symbol<'{'>, opt<operands>, must<closing_brace>> {};
struct group_operand : seq<symbol<'('>, opt<operands>, must<closing_parenthesis>> {};
struct address_operand
    : seq<symbol<'['>, must<operand>, blank, opt<symbol<','>, operands>, must<closing_bracket>> {};
struct negated_name : seq<symbol<'!'>, must<name>> {};
struct generic_operand : seq<WORD("generic"), blank, symbol<'('>, must<name>, blank,
                             must<closing_parenthesis>, opt<addend>> {};
struct mask_operand
    : seq<hexadecimal, blank, symbol<'('>, must<operand>, blank, must<closing_parenthesis>> {};
struct pair_operand : seq<name, blank, symbol<'|'>, must<sor<negated_name, name>>> {};
/// .b2, .h10: parts of a register, of video instructions.
struct part_selector : seq<one<'.'>, one<'b', 'h'>, plus<digit>, word_end> {};
struct name_operand : seq<name, opt<part_selector>, opt<seq<blank, addend>>> {};
struct minus_operand : seq<symbol<'-'>, name_operand> {};
struct operand : sor<vector_operand, group_operand, address_operand, negated_name, generic_operand,
                     mask_operand, number, minus_operand, pair_operand, name_operand> {};

// Declarations.
template <class Text>
struct directive : seq<one<'.'>, Text, word_end, blank> {};
struct integer : seq<sor<hexadecimal, decimal>, word_end, blank> {};
struct linkage
    : seq<one<'.'>, sor<WORD("visible"), WORD("extern"), WORD("weak"), WORD("common")>, word_end> {
};
struct linkages : star<seq<linkage, blank>> {};
struct state_space : seq<sor<WORD("reg"), WORD("param"), WORD("local"), WORD("shared"),
                             WORD("global"), WORD("const")>,
                         word_end> {};
struct alignment : seq<directive<WORD("align")>, must<integer>> {};
struct pointed_space
    : seq<one<'.'>,
          sor<WORD("global"), WORD("shared"), WORD("local"), WORD("const"), WORD("generic")>,
          word_end, blank> {};
struct pointer_attribute : seq<directive<WORD("ptr")>, opt<pointed_space>,
                               opt<directive<WORD("align")>, must<integer>>> {};
struct type_name : seq<plain_name> {};
struct vector_width : seq<one<'.'>, seq<one<'v'>, one<'2', '4'>, word_end>, blank> {};
struct attribute_list : seq<directive<WORD("attribute")>, symbol<'('>, until<one<')'>>, blank> {};
struct declared_name : seq<name> {};
struct register_range : seq<symbol<'<'>, must<integer>, must<symbol<'>'>>> {};
struct dimension : seq<symbol<'['>, opt<integer>, must<closing_bracket>> {};
struct initialiser : seq<symbol<'='>, must<operand>, blank> {};
struct declarator
    : seq<declared_name, blank, opt<register_range>, star<dimension>, opt<initialiser>> {};
struct declaration_head
    : seq<one<'.'>, state_space, blank, star<sor<alignment, attribute_list, vector_width>>,
          must<one<'.'>>, must<type_name>, blank, star<sor<pointer_attribute, alignment>>> {};
struct declaration : seq<declaration_head, must<list<declarator, symbol<','>>>> {};
struct parameter : seq<declaration_head, opt<declarator>> {};
struct parameters : seq<symbol<'('>, opt<list<parameter, symbol<','>>>, must<closing_parenthesis>> {
};
struct results : parameters {};

// Bodies.
struct opcode_name : seq<ranges<'a', 'z'>, star<sor<alnum, one<'_'>>>> {};
struct opcode_part : seq<sor<one<'.'>, two<':'>>, plus<sor<alnum, one<'_'>>>> {};
struct opcode : seq<opcode_name, star<opcode_part>> {};
struct guard_name : seq<name> {};
struct guard_negation : one<'!'> {};
struct guard : seq<symbol<'@'>, opt<guard_negation, blank>, must<guard_name>, blank> {};
struct instruction : seq<opt<guard>, must<opcode>, blank, opt<operands>, must<semicolon>> {};
struct label : seq<name> {};
struct label_statement : seq<label, blank, one<':'>, not_at<one<':'>>, blank> {};
struct to_line_end : seq<until<eolf>, blank> {};
struct location : seq<one<'.'>, sor<WORD("loc"), WORD("file")>, word_end, to_line_end> {};
struct pragma : seq<directive<WORD("pragma")>, until<one<';'>>, blank> {};
struct loop_pragma : pragma {};
struct branch_targets : seq<one<'.'>, sor<WORD("branchtargets"), WORD("calltargets")>, word_end,
                            blank, must<operands>, must<semicolon>> {};
struct prototype : seq<directive<WORD("callprototype")>, opt<results>, must<name>, blank,
                       opt<parameters>, opt<directive<WORD("noreturn")>>, must<semicolon>> {};
struct body_declaration : seq<linkages, declaration, must<semicolon>> {};
struct statement;
struct scope : seq<symbol<'{'>, star<statement>, must<closing_brace>> {};
struct body_directive
    : seq<at<one<'.'>>,
          must<sor<location, loop_pragma, branch_targets, prototype, body_declaration>>> {};
struct statement
    : seq<not_at<one<'}'>>, not_at<eof>, sor<scope, body_directive, label_statement, instruction>> {
};
struct body : seq<symbol<'{'>, star<statement>, must<closing_brace>> {};

// Modules.
struct counts : list<integer, symbol<','>> {};
struct maximum_threads : seq<directive<WORD("maxntid")>, must<counts>> {};
struct required_threads : seq<directive<WORD("reqntid")>, must<counts>> {};
struct minimum_blocks : seq<directive<WORD("minnctapersm")>, must<counts>> {};
struct maximum_blocks : seq<directive<WORD("maxnctapersm")>, must<counts>> {};
struct maximum_registers : seq<directive<WORD("maxnreg")>, must<counts>> {};
struct required_cluster : seq<directive<WORD("reqnctapercluster")>, must<counts>> {};
struct maximum_cluster : seq<directive<WORD("maxclusterrank")>, must<counts>> {};
struct explicit_cluster : directive<WORD("explicitcluster")> {};
struct performance_directives
    : star<sor<maximum_threads, required_threads, minimum_blocks, maximum_blocks, maximum_registers,
               required_cluster, maximum_cluster, explicit_cluster, directive<WORD("noreturn")>,
               pragma>> {};
struct function_name : seq<name> {};
struct entry_word : directive<WORD("entry")> {};
struct function_word : directive<WORD("func")> {};
struct entry : seq<entry_word, must<function_name>, blank, opt<parameters>, performance_directives,
                   sor<semicolon, must<body>>> {};
struct device_function
    : seq<function_word, opt<directive<WORD("noreturn")>>, opt<results>, must<function_name>, blank,
          opt<parameters>, performance_directives, sor<semicolon, must<body>>> {};
struct module_declaration : seq<declaration, must<semicolon>> {};
struct linked : seq<linkages, sor<entry, device_function, module_declaration>> {};
struct section : seq<directive<WORD("section")>, until<one<'{'>>, until<one<'}'>>, blank> {};
struct header : seq<one<'.'>, sor<WORD("version"), WORD("target"), WORD("address_size")>, word_end,
                    to_line_end> {};
struct module_statement : seq<not_at<eof>, must<sor<header, location, pragma, section, linked>>> {};
struct module : seq<blank, star<module_statement>, must<eof>> {};

// Returns what was expected where a rule must match and does not, with advice.
template <class Rule>
inline constexpr Expectation expected{nullptr, nullptr};
// clang-format off
template <> inline constexpr Expectation expected<semicolon> = {"';'", "put ',' between operands and ';' behind the last", true};
template <> inline constexpr Expectation expected<closing_brace> = {"'}'", "close what '{' opens"};
template <> inline constexpr Expectation expected<closing_parenthesis> = {"')'", "close what '(' opens, with ',' between entries"};
template <> inline constexpr Expectation expected<closing_bracket> = {"']'", "close what '[' opens: an address is [register + constant]"};
template <> inline constexpr Expectation expected<symbol<'>'>> = {"'>'", "a range of registers is %name<count>"};
template <> inline constexpr Expectation expected<operand> = {"an operand", "write a register, a constant, {a, b} or [address]", true};
template <> inline constexpr Expectation expected<operands> = {"operands", "list them with ',' between"};
template <> inline constexpr Expectation expected<name> = {"a name", "names begin with a letter, '_', '$' or '%'"};
template <> inline constexpr Expectation expected<sor<negated_name, name>> = {"a predicate", "a pair is written first|second", true};
template <> inline constexpr Expectation expected<guard_name> = {"a predicate", "a guard is @p or @!p"};
template <> inline constexpr Expectation expected<opcode> = {"an instruction", "write an instruction such as mov.u32 d, a; or a label, a directive or '}'"};
template <> inline constexpr Expectation expected<integer> = {"an integer", "write it in decimal, or as 0x..."};
template <> inline constexpr Expectation expected<counts> = {"an integer", "write one to three, with ',' between"};
template <> inline constexpr Expectation expected<type_name> = {"a type", "write .b8 to .b64, .u, .s, .f16 to .f64 or .pred"};
template <> inline constexpr Expectation expected<one<'.'>> = {"a type", "write .b8 to .b64, .u, .s, .f16 to .f64 or .pred"};
template <> inline constexpr Expectation expected<list<declarator, symbol<','>>> = {"the name of a variable", "as .reg .b32 %r<4>; or .shared .f32 tile[32];"};
template <> inline constexpr Expectation expected<function_name> = {"the name of a function", "write it behind .entry, or behind .func and its result"};
template <> inline constexpr Expectation expected<body> = {"the body of a function", "open it with '{', or end a declaration with ';'"};
template <> inline constexpr Expectation expected<sor<location, loop_pragma, branch_targets, prototype, body_declaration>> = {"a directive of a function", "there are .reg, .local, .shared, .param, .loc, .pragma, .branchtargets, .calltargets and .callprototype"};
template <> inline constexpr Expectation expected<sor<header, location, pragma, section, linked>> = {"a directive of a module", "there are .version, .target, .address_size, .visible .entry, .func, .global, .const and .shared"};
template <> inline constexpr Expectation expected<eof> = {"the end of the file", "remove what follows"};
// clang-format on

template <class Rule>
using selector = parse_tree::selector<
    Rule,
    parse_tree::store_content::on<
        name, percent_name, minus, single_float, double_float, hexadecimal, binary, decimal_float,
        decimal, number, addend, vector_operand, group_operand, address_operand, negated_name,
        generic_operand, mask_operand, pair_operand, minus_operand, part_selector, name_operand,
        linkage, state_space, alignment, type_name, vector_width, declared_name, register_range,
        dimension, initialiser, declarator, declaration, parameter, parameters, results, opcode,
        guard_name, guard_negation, guard, instruction, label, label_statement, branch_targets,
        loop_pragma, prototype, scope, body, maximum_threads, required_threads, minimum_blocks,
        maximum_registers, required_cluster, maximum_cluster, explicit_cluster, function_name,
        entry, device_function>>;

/// Throws where a rule that must match does not, with what was expected.
template <class Rule>
struct control : normal<Rule> {
  template <class Input, class... States>
  [[noreturn]] static void raise(const Input& in, States&&...) {
    static_assert(expected<Rule>.what != nullptr, "a rule that must match says what it expects");
    const position at = in.position();
    throw Unexpected{
        {static_cast<std::uint32_t>(at.line), static_cast<std::uint32_t>(column_of(at))},
        at.byte,
        expected<Rule>};
  }
};

// NOLINTEND(readability-identifier-naming)
}  // namespace grammar

namespace {

using Tree = tao::pegtl::parse_tree::node;

/// Converts nodes of PEGTL into those of Lockstep, so that only this file includes the library.
Node convert(const Tree& tree) {
  Node node;
  if (!tree.is_root()) {
    using namespace grammar;  // NOLINT
    const position begin = tree.begin();
    node.at = {static_cast<std::uint32_t>(begin.line),
               static_cast<std::uint32_t>(column_of(begin))};
    if (tree.has_content()) node.text = tree.string();
    const auto type = type_of(tree);
    node.rule = type.substr(type.rfind(':') + 1);
  }
  node.children.reserve(tree.children.size());
  for (const auto& child : tree.children) node.children.push_back(convert(*child));
  return node;
}

}  // namespace

Node parse_tree(const std::string& text, const std::string& file) {
  check_nesting(text, file);
  tao::pegtl::memory_input input(text, file);
  try {
    const auto root = tao::pegtl::parse_tree::parse<grammar::module, grammar::selector,
                                                    tao::pegtl::nothing, grammar::control>(input);
    return convert(*root);
  } catch (const Unexpected& error) {
    explain(error, text, file);
  }
}

}  // namespace lockstep::isa::syntax
