#pragma once

#include <array>
#include <string>
#include <utility>

#include "core/statistics/counters.hpp"
#include "core/statistics/schema.hpp"
#include "core/statistics/view.hpp"

namespace lockstep {

/// Axes, words and kind of a member type.
template <class M>
struct StatisticsTraits;

template <>
struct StatisticsTraits<Counter> {
  static constexpr auto kind = StatisticsField::Kind::counter;
  static void add_axes(StatisticsField&) {}
};
template <>
struct StatisticsTraits<Gauge> {
  static constexpr auto kind = StatisticsField::Kind::gauge;
  static void add_axes(StatisticsField&) {}
};
template <>
struct StatisticsTraits<RealGauge> {
  static constexpr auto kind = StatisticsField::Kind::real_gauge;
  static void add_axes(StatisticsField&) {}
};
template <class H, std::size_t Bins>
struct HistogramTraits {
  static constexpr auto kind = StatisticsField::Kind::counter;
  static void add_axes(StatisticsField& field) {
    StatisticsAxis axis{StatisticsAxis::Kind::bins, Bins, {}, {}};
    for (std::size_t i = 0; i < Bins; ++i) axis.bin_starts.push_back(H::bin_start(i));
    field.axes.push_back(std::move(axis));
  }
};
template <std::size_t Bins>
struct StatisticsTraits<Histogram<Bins>> : HistogramTraits<Histogram<Bins>, Bins> {};
template <std::size_t Bins, std::uint64_t Width>
struct StatisticsTraits<LinearHistogram<Bins, Width>>
    : HistogramTraits<LinearHistogram<Bins, Width>, Bins> {};

/// Declaration of a statistics struct: each counter once, beside its member.  Rows of the output,
/// sizes and checkpoints all follow from it: `archive(values)` saves and restores a statistics
/// struct.  Members that the schema does not name are scratch and are not saved.
///
///     struct L2Statistics {
///       struct OfTenant { Counter row_hits; };
///       Counter hits;
///       PerTenant<OfTenant> tenant;
///       static auto schema() {
///         using S = L2Statistics;
///         return statistics<S>()
///             .counter("hits", &S::hits, "sectors", "served without DRAM")
///             .per_tenant("row_hits", &S::tenant, &OfTenant::row_hits, "accesses", "...");
///       }
///     };
///
/// `PerTenant<Counter> row_hits` is declared in the same way; members of a struct share this
/// computer's cache lines.  A component returns `statistics_view(statistics_)`.
template <class T>
class StatisticsOf {
 public:
  StatisticsOf& counter(const char* name, Counter T::*member, const char* unit, const char* doc) {
    return add<Counter>(make(name, member, unit, doc));
  }
  /// A fixed set of counters with names, such as the causes of a stall.
  template <std::size_t N>
  StatisticsOf& counters(const char* name, std::array<Counter, N> T::*member,
                         const std::array<const char*, N>& names, const char* unit,
                         const char* doc) {
    return add_named(make(name, member, unit, doc), names);
  }
  template <std::size_t N>
  StatisticsOf& counters(const char* name, std::array<Counter, N> T::*member,
                         const char* const (&names)[N], const char* unit, const char* doc) {
    return counters(name, member, std::to_array(names), unit, doc);
  }
  template <class G>
  StatisticsOf& gauge(const char* name, BasicGauge<G> T::*member, const char* unit,
                      const char* doc) {
    return add<BasicGauge<G>>(make(name, member, unit, doc));
  }
  template <class H>
  StatisticsOf& histogram(const char* name, H T::*member, const char* unit, const char* doc) {
    return add<H>(make(name, member, unit, doc));
  }
  template <class M>
  StatisticsOf& per_tenant(const char* name, PerTenant<M> T::*member, const char* unit,
                           const char* doc) {
    return add<M>(make_per_tenant(name, member, unit, doc));
  }
  /// A named set of counters per tenant: [tenants, N].
  template <std::size_t N>
  StatisticsOf& per_tenant(const char* name, PerTenant<std::array<Counter, N>> T::*member,
                           const char* const (&names)[N], const char* unit, const char* doc) {
    return add_named(make_per_tenant(name, member, unit, doc), std::to_array(names));
  }
  /// Declares a member of each tenant's part: PerTenant<P> for a struct P of such members.
  template <class P, class M>
  StatisticsOf& per_tenant(const char* name, PerTenant<P> T::*group, M P::*member, const char* unit,
                           const char* doc) {
    return add<M>(make_within(name, group, member, unit, doc));
  }
  template <class P, std::size_t N>
  StatisticsOf& per_tenant(const char* name, PerTenant<P> T::*group,
                           std::array<Counter, N> P::*member, const char* const (&names)[N],
                           const char* unit, const char* doc) {
    return add_named(make_within(name, group, member, unit, doc), std::to_array(names));
  }
  /// Declares a statistic of shape [tenants, tenants]: victim, culprit.
  StatisticsOf& per_tenant_pair(const char* name, PerTenantPair T::*member, const char* unit,
                                const char* doc) {
    StatisticsField field = make(name, member, unit, doc);
    field.axes.assign(2, {StatisticsAxis::Kind::tenants, 0, {}, {}});
    field.words = [](void* p) {
      return reinterpret_cast<std::uint64_t*>(static_cast<PerTenantPair*>(p)->data());
    };
    field.tenants = [](const void* p) { return static_cast<const PerTenantPair*>(p)->size(); };
    field.resize = [](void* p, std::size_t n) { static_cast<PerTenantPair*>(p)->resize(n); };
    schema_.add(field);
    return *this;
  }

  const StatisticsSchema& erased() const { return schema_; }

 private:
  template <class M>
  StatisticsOf& add(StatisticsField field) {
    field.kind = StatisticsTraits<M>::kind;
    StatisticsTraits<M>::add_axes(field);
    schema_.add(field);
    return *this;
  }
  template <std::size_t N>
  StatisticsOf& add_named(StatisticsField field, const std::array<const char*, N>& names) {
    field.axes.push_back({StatisticsAxis::Kind::names, N, {}, {names.begin(), names.end()}});
    schema_.add(field);
    return *this;
  }

  template <class S, class M>
  static std::size_t offset_of(M S::*member) {
    const S probe{};
    return std::size_t(reinterpret_cast<const char*>(&(probe.*member)) -
                       reinterpret_cast<const char*>(&probe));
  }
  template <class M>
  static StatisticsField make(const char* name, M T::*member, const char* unit, const char* doc) {
    static_assert(sizeof(M) % sizeof(std::uint64_t) == 0);
    StatisticsField field(name, unit, doc, offset_of(member));
    field.words = [](void* p) { return static_cast<std::uint64_t*>(p); };
    return field;
  }
  template <class M>
  static StatisticsField make_per_tenant(const char* name, PerTenant<M> T::*member,
                                         const char* unit, const char* doc) {
    StatisticsField field = make(name, member, unit, doc);
    field.axes.push_back({StatisticsAxis::Kind::tenants, 0, {}, {}});
    field.words = [](void* p) {
      auto& values = *static_cast<PerTenant<M>*>(p);
      return values.size() ? reinterpret_cast<std::uint64_t*>(&values[0]) : nullptr;
    };
    field.tenants = [](const void* p) { return static_cast<const PerTenant<M>*>(p)->size(); };
    field.resize = [](void* p, std::size_t n) { static_cast<PerTenant<M>*>(p)->resize(n); };
    return field;
  }
  template <class P, class M>
  static StatisticsField make_within(const char* name, PerTenant<P> T::*group, M P::*member,
                                     const char* unit, const char* doc) {
    static_assert(sizeof(M) % sizeof(std::uint64_t) == 0);
    StatisticsField field = make_per_tenant(name, group, unit, doc);
    field.first = offset_of(member) / sizeof(std::uint64_t);
    field.stride = sizeof(P) / sizeof(std::uint64_t);
    return field;
  }

  StatisticsSchema schema_;
};

template <class T>
StatisticsOf<T> statistics() {
  return {};
}

/// The one erased schema of a statistics struct.
template <class T>
const StatisticsSchema& statistics_schema_of() {
  static const StatisticsSchema schema = T::schema().erased();
  return schema;
}

/// Returns a view of a statistics struct, as Component::statistics must.
template <class T>
StatisticsView statistics_view(const T& values) {
  return {&statistics_schema_of<T>(), &values};
}

/// Sizes every per-tenant member of a statistics struct.
template <class T>
void set_tenants(T& values, std::size_t tenants) {
  statistics_schema_of<T>().set_tenants(&values, tenants);
}

/// Lets an Archive serialise a statistics struct.
template <class T>
requires requires {
  T::schema().erased();
}
void serialize(Archive& archive, T& values) {
  statistics_schema_of<T>().serialize(archive, &values);
}

/// For a component without statistics.
struct NoStatistics {
  static auto schema() { return statistics<NoStatistics>(); }
};

}  // namespace lockstep
