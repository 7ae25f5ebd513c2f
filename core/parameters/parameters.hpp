#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/memory/enum_table.hpp"
#include "core/parameters/limits.hpp"
#include "core/parameters/node.hpp"
#include "core/parameters/policy.hpp"
#include "core/parameters/schema.hpp"
#include "core/time/bytes.hpp"
#include "core/time/time.hpp"

namespace lockstep {

/// How a member type appears in YAML.
template <class M>
struct ParameterTraits {
  static constexpr bool is_list = false;
  static constexpr ParameterType type = [] {
    if constexpr (std::is_same_v<M, bool>)
      return ParameterType::boolean;
    else if constexpr (std::is_same_v<M, std::uint32_t>)
      return ParameterType::uint32;
    else if constexpr (std::is_same_v<M, std::uint64_t>)
      return ParameterType::uint64;
    else if constexpr (std::is_same_v<M, std::int32_t>)
      return ParameterType::int32;
    else if constexpr (std::is_same_v<M, std::int64_t>)
      return ParameterType::int64;
    else if constexpr (std::is_same_v<M, double>)
      return ParameterType::real;
    else if constexpr (std::is_same_v<M, std::string>)
      return ParameterType::text;
    else if constexpr (std::is_same_v<M, Bytes>)
      return ParameterType::bytes;
    else if constexpr (std::is_same_v<M, Time>)
      return ParameterType::time;
    else if constexpr (std::is_same_v<M, Cycles>)
      return ParameterType::cycles;
    else if constexpr (std::is_same_v<M, Frequency>)
      return ParameterType::frequency;
    else if constexpr (std::is_same_v<M, Bandwidth>)
      return ParameterType::bandwidth;
    else {
      static_assert(std::is_enum_v<M>, "not a parameter type");
      return ParameterType::enumeration;
    }
  }();

  static ParameterScalar scalar(const M& value) {
    if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, std::string>)
      return value;
    else if constexpr (std::is_same_v<M, Bytes> || std::is_same_v<M, Cycles>)
      return value.count();
    else if constexpr (std::is_same_v<M, Time>)
      return value.femtoseconds();
    else if constexpr (std::is_same_v<M, Frequency>)
      return value.hertz();
    else if constexpr (std::is_same_v<M, Bandwidth>)
      return value.bytes_per_second();
    else if constexpr (std::is_floating_point_v<M>)
      return double(value);
    else if constexpr (std::is_enum_v<M> || std::is_unsigned_v<M>)
      return std::uint64_t(value);
    else
      return std::int64_t(value);
  }
  static std::vector<ParameterScalar> scalars(const M& value) { return {scalar(value)}; }
};

template <class M>
struct ParameterTraits<std::vector<M>> : ParameterTraits<M> {
  static_assert(!std::is_enum_v<M>, "take a list of texts with a choice() instead");
  static constexpr bool is_list = true;
  static std::vector<ParameterScalar> scalars(const std::vector<M>& values) {
    std::vector<ParameterScalar> result;
    result.reserve(values.size());
    for (const M& value : values) result.push_back(ParameterTraits<M>::scalar(value));
    return result;
  }
};

/// Declaration of a parameter struct: each field once, beside its member.
///
///     struct L2Parameters {
///       Bytes size;
///       Cycles latency;
///       static auto schema() {
///         using P = L2Parameters;
///         return parameters<P>()
///             .field("size", &P::size, 96_KiB, range(4_KiB, 64_MiB), "of one slice")
///             .field("latency", &P::latency, 30_cycles, at_least(1_cycles), "tag to data");
///       }
///     };
///
/// Members: bool, std::uint32_t, std::uint64_t, std::int32_t, std::int64_t, double, std::string,
/// Bytes, Time, Cycles, Frequency, Bandwidth, enumerations (with choice()), and std::vectors of
/// these.  `unit` names what a plain number counts; it defaults to "count" and, for double, to
/// "ratio".
template <class T>
class ParametersOf {
 public:
  ParametersOf() {
    schema_.set_create([]() -> std::shared_ptr<void> {
      auto values = std::make_shared<T>();
      schema_of<T>().set_defaults(values.get());
      return values;
    });
  }

  template <class M, class C, class L>
  ParametersOf& field(const char* key, M C::*member, std::type_identity_t<M> initial,
                      const Limits<L>& limits, const char* doc, const char* unit = "") {
    ParameterField field = describe_member(key, member, doc, unit);
    field.initial = ParameterTraits<M>::scalars(initial);
    set_limits<M>(field, limits);
    schema_.add(field);
    return *this;
  }

  /// A row of a table: the value of one enumerator.
  template <class Enumeration, class M, class C, class L>
  ParametersOf& row(const char* key, EnumTable<Enumeration, M> C::*table, Enumeration which,
                    std::type_identity_t<M> initial, const Limits<L>& limits, const char* doc,
                    const char* unit = "") {
    const std::size_t offset = offset_of(table) + static_cast<std::size_t>(which) * sizeof(M);
    ParameterField field(key, doc, unit, ParameterTraits<M>::type, offset);
    field.size = sizeof(M);
    field.initial = ParameterTraits<M>::scalars(initial);
    set_limits<M>(field, limits);
    schema_.add(field);
    return *this;
  }

  /// A text or an enumeration that takes one of some words.
  template <class M, class C>
  ParametersOf& field(const char* key, M C::*member, std::type_identity_t<M> initial,
                      const Choice& choice, const char* doc) {
    static_assert(ParameterTraits<M>::type == ParameterType::enumeration ||
                  ParameterTraits<M>::type == ParameterType::text);
    ParameterField field = describe_member(key, member, doc, "");
    field.initial = ParameterTraits<M>::scalars(initial);
    field.choices = choice.words;
    schema_.add(field);
    return *this;
  }

  /// A switch or a free text: the only types that need no range.
  template <class M, class C>
  requires std::same_as<M, bool> || std::same_as<M, std::string> ||
      std::same_as<M, std::vector<std::string>>
          ParametersOf& field(const char* key, M C::*member, std::type_identity_t<M> initial,
                              const char* doc) {
    ParameterField field = describe_member(key, member, doc, "");
    field.initial = ParameterTraits<M>::scalars(initial);
    schema_.add(field);
    return *this;
  }

  /// A field without a default: leaving it out is an error.
  template <class M, class C, class L>
  ParametersOf& required(const char* key, M C::*member, const Limits<L>& limits, const char* doc,
                         const char* unit = "") {
    ParameterField field = describe_member(key, member, doc, unit);
    field.required = true;
    set_limits<M>(field, limits);
    schema_.add(field);
    return *this;
  }
  template <class C>
  ParametersOf& required(const char* key, std::string C::*member, const char* doc) {
    ParameterField field = describe_member(key, member, doc, "");
    field.required = true;
    schema_.add(field);
    return *this;
  }

  /// Declares a field whose default is `absent`: tables call that value `word`, and to_yaml()
  /// leaves it out.
  template <class M, class C, class L>
  ParametersOf& optional(const char* key, M C::*member, std::type_identity_t<M> absent,
                         const char* word, const Limits<L>& limits, const char* doc,
                         const char* unit = "") {
    ParameterField field = describe_member(key, member, doc, unit);
    field.initial = ParameterTraits<M>::scalars(absent);
    field.absent = word;
    set_limits<M>(field, limits);
    schema_.add(field);
    return *this;
  }

  /// Declares a value of several parts that other code reads, absent without the key.  `form`: such
  /// as "file or map".
  template <class C>
  ParametersOf& part(const char* key, Node C::*member, const char* form, const char* doc) {
    schema_.add(ParameterField(key, doc, form, ParameterType::part, offset_of(member)));
    return *this;
  }

  /// A nested parameter struct, a map in YAML.
  template <class G, class C>
  ParametersOf& group(const char* key, G C::*member, const char* doc) {
    ParameterField field(key, doc, "", ParameterType::group, offset_of(member));
    field.group = &schema_of<G>();
    schema_.add(field);
    return *this;
  }

  /// A plug point: `key: name` or `key: {name: ..., parameters of that policy}`.
  template <class C>
  ParametersOf& policy(const char* key, PolicyChoice C::*member, const char* initial,
                       const PolicyList& (*policies)(), const char* doc) {
    ParameterField field(key, doc, "", ParameterType::policy, offset_of(member));
    field.initial.emplace_back(initial);
    field.policies = policies;
    schema_.add(field);
    return *this;
  }

  /// Declares an old name of the field before: the old name is accepted, and a note names the new
  /// one.
  ParametersOf& formerly(const char* key) {
    schema_.add_old_name(key);
    return *this;
  }

  /// Declares a condition between fields: it returns "what is wrong - what to do", or "".
  ParametersOf& check(std::string (*condition)(const T&)) {
    schema_.add_check(
        [condition](const void* values) { return condition(*static_cast<const T*>(values)); });
    return *this;
  }

  /// Declares keys that do nothing unless `holds` is true.  `keys`: dotted, declared before, with
  /// spaces between them; a group stands for all its keys.  `when` ends a sentence that begins with
  /// "only":
  ///
  ///     .only_if("entries ways", "with enabled: true", [](const P& p) { return p.enabled; })
  ParametersOf& only_if(const char* keys, const char* when, bool (*holds)(const T&)) {
    schema_.add_condition(
        keys, when, [holds](const void* values) { return holds(*static_cast<const T*>(values)); });
    return *this;
  }

  const ParameterSchema& erased() const { return schema_; }

 private:
  template <class M, class C>
  static std::size_t offset_of(M C::*member) {
    const T probe{};
    return std::size_t(reinterpret_cast<const char*>(&(probe.*member)) -
                       reinterpret_cast<const char*>(&probe));
  }

  template <class M, class C>
  static ParameterField describe_member(const char* key, M C::*member, const char* doc,
                                        const char* unit) {
    ParameterField field(key, doc, unit, ParameterTraits<M>::type, offset_of(member));
    field.is_list = ParameterTraits<M>::is_list;
    field.size = sizeof(M);
    return field;
  }

  template <class M, class L>
  static void set_limits(ParameterField& field, const Limits<L>& limits) {
    using Traits = ParameterTraits<M>;
    if constexpr (Traits::is_list) {
      set_limits<typename M::value_type>(field, limits);
    } else {
      if (limits.low) field.low = Traits::scalar(static_cast<M>(*limits.low));
      if (limits.high) field.high = Traits::scalar(static_cast<M>(*limits.high));
      field.only_powers_of_two = limits.only_powers_of_two;
    }
  }

  ParameterSchema schema_;
};

template <class T>
ParametersOf<T> parameters() {
  return {};
}

/// The one erased schema of a parameter struct.
template <class T>
const ParameterSchema& schema_of() {
  static const ParameterSchema schema = T::schema().erased();
  return schema;
}

template <class T>
T defaults() {
  T values{};
  schema_of<T>().set_defaults(&values);
  return values;
}

/// Sets defaults, then reads the values of `map`; see ParameterSchema::read for the errors.
template <class T>
T read_parameters(const Node& map) {
  T values{};
  schema_of<T>().read(map, &values);
  return values;
}

template <class T>
std::string to_yaml(const T& values, int indent = 0) {
  return to_yaml(schema_of<T>(), &values, indent);
}

}  // namespace lockstep
