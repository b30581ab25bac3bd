#include "ilux/direct/plan/plan_file.hpp"

#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/plan/plan_sections.hpp"

namespace ilux {
namespace {

/// Hashes as FNV-1a does, but a word at a time, with its high half mixed into the low one.
class Hash {
public:
    void add(std::uint64_t word)
    {
        h_ = (h_ ^ word) * 0x9e3779b97f4a7c15;
        h_ ^= h_ >> 32;
    }
    template <class V>
    void add_all(const V& values)
    {
        add(values.size());
        for (const auto value : values) add(static_cast<std::uint64_t>(value));
    }
    std::uint64_t value() const { return h_; }

private:
    std::uint64_t h_ = 0xcbf29ce484222325;
};

std::uint64_t hash_of_pattern(Index n, MatrixLayout layout, std::span<const Offset> ptr, std::span<const Index> idx)
{
    Hash hash;
    hash.add(static_cast<std::uint64_t>(n));
    hash.add(static_cast<std::uint64_t>(layout));
    hash.add_all(ptr);
    hash.add_all(idx);
    return hash.value();
}

/// Hash of those options that bear on the analysis, the pivots and how numbers are stored.
std::uint64_t hash_of_options(const LuOptions& o)
{
    Hash hash;
    hash.add(static_cast<std::uint64_t>(o.ordering));
    hash.add(static_cast<std::uint64_t>(o.matching));
    hash.add(static_cast<std::uint64_t>(o.scaling));
    hash.add(o.blocks);
    hash.add(std::bit_cast<std::uint64_t>(o.pivot_tol));
    hash.add(static_cast<std::uint64_t>(o.supernodes));
    return hash.value();
}

PlanKey key_of(const LuSymbolic& s)
{
    return {hash_of_pattern(s.n, s.layout, s.input_ptr, s.input_idx), hash_of_options(s.options)};
}

/// Calls number(x) for every number of a struct and array(v) for every array, in the order of the file.
template <class Symbolic, class Number, class Array>
void symbolic_fields(Symbolic& s, Number number, Array array)
{
    number(s.n), number(s.input_nnz);
    array(s.input_ptr), array(s.input_idx), array(s.row_perm), array(s.col_perm), array(s.block_ptr);
    array(s.row_scale), array(s.col_scale), array(s.col_ptr), array(s.row), array(s.source);
    number(s.options.blocks), number(s.options.pivot_tol), number(s.options.growth_limit);
    auto& report = s.report;
    number(report.matched), number(report.structural_rank), number(report.blocks), number(report.largest_block);
    number(report.nnz), number(report.flops), number(report.seconds);
}

template <class Pattern, class Number, class Array>
void pattern_fields(Pattern& p, Number number, Array array)
{
    number(p.n);
    array(p.row_perm), array(p.col_perm), array(p.row_scale), array(p.col_scale), array(p.block_ptr);
    array(p.col_ptr), array(p.row), array(p.diag), array(p.f_col_ptr), array(p.f_row);
    array(p.in_ptr), array(p.in_split), array(p.in_source), array(p.in_row), array(p.in_scale);
}

struct Put {
    SectionWriter& to;
    void           number(const auto& x) const { to.put(x); }
    void           array(const auto& v) const { to.put_array(v); }
};
struct Get {
    SectionReader& from;
    void           number(bool& x) const { x = from.get<std::uint8_t>() != 0; }
    void           number(auto& x) const { x = from.get<std::remove_reference_t<decltype(x)>>(); }
    void           array(auto& v) const { from.get_array(v); }
};

template <class Enum>
void put_choice(SectionWriter& to, Enum chosen)
{
    to.put(static_cast<std::uint32_t>(chosen));
}
template <class Enum>
void get_choice(SectionReader& from, Enum& chosen)
{
    const auto number = from.get<std::uint32_t>();
    require(number < names(Enum{}).size(), [&] { return from.where() + ": a choice that does not exist"; });
    chosen = static_cast<Enum>(number);
}

/// Choices, and the decisions in words.
template <class Symbolic, class Choice>
void symbolic_choices(Symbolic& s, Choice choice)
{
    choice(s.options.ordering), choice(s.options.order_for), choice(s.options.matching), choice(s.options.scaling),
        choice(s.options.supernodes);
    choice(s.report.ordering);
}

std::string symbolic_section(const LuPlan& plan)
{
    const LuSymbolic& s = *plan.symbolic;
    SectionWriter     to;
    const Put         put{to};
    symbolic_fields(
        s, [&](const auto& x) { put.number(x); }, [&](const auto& v) { put.array(v); });
    symbolic_choices(s, [&](auto chosen) { put_choice(to, chosen); });
    to.put<std::uint32_t>(s.layout == MatrixLayout::columns);
    to.put<std::uint64_t>(s.report.decisions.size());
    for (const std::string& decision : s.report.decisions) to.put_array(decision);
    to.put(plan.seconds);
    return to.bytes();
}

void read_symbolic(SectionReader from, LuPlan& plan)
{
    LuSymbolic s;
    const Get  get{from};
    symbolic_fields(
        s, [&](auto& x) { get.number(x); }, [&](auto& v) { get.array(v); });
    symbolic_choices(s, [&](auto& chosen) { get_choice(from, chosen); });
    s.layout = from.get<std::uint32_t>() != 0 ? MatrixLayout::columns : MatrixLayout::rows;
    for (auto left = from.get<std::uint64_t>(); left > 0; --left) from.get_array(s.report.decisions.emplace_back());
    get.number(plan.seconds);
    from.expect_end();
    require(plan.seconds >= 0, [&] { return from.where() + ": seconds out of range"; });
    detail::check_symbolic(s, from.where());
    plan.symbolic = std::make_shared<const LuSymbolic>(std::move(s));
}

std::string pattern_section(const LuPlan& plan)
{
    SectionWriter to;
    const Put     put{to};
    pattern_fields(
        *plan.pattern, [&](const auto& x) { put.number(x); }, [&](const auto& v) { put.array(v); });
    to.put(plan.growth);
    return to.bytes();
}

void read_pattern(SectionReader from, LuPlan& plan)
{
    LuPattern p;
    const Get get{from};
    pattern_fields(
        p, [&](auto& x) { get.number(x); }, [&](auto& v) { get.array(v); });
    get.number(plan.growth);
    from.expect_end();
    // Growth without any column is 0; and the rounding of complex multipliers may leave it below 1.
    require(plan.growth >= 0, [&] { return from.where() + ": growth out of range"; });
    detail::check_pattern(p, *plan.symbolic, from.where());
    plan.pattern = std::make_shared<const LuPattern>(std::move(p));
}

}  // namespace

std::string plan_bytes(const LuPlan& plan)
{
    std::vector<PlanSection> sections;
    sections.push_back({"symbolic", symbolic_section(plan)});
    if (plan.pattern) sections.push_back({"pattern", pattern_section(plan)});
    return join_sections(key_of(*plan.symbolic), sections);
}

LuPlan parse_plan(std::string_view bytes, const std::string& name)
{
    const PlanSections sections(bytes, name);
    LuPlan             plan;
    read_symbolic(sections.open("symbolic"), plan);
    require(key_of(*plan.symbolic) == sections.key(),
            [&] { return name + ": the head of the plan is another plan's"; });
    if (sections.has("pattern")) read_pattern(sections.open("pattern"), plan);
    return plan;
}

bool plan_serves(const LuOptions& made_with, const LuOptions& options)
{
    const auto whose = [](LuOrderFor order_for) {
        return order_for == LuOrderFor::automatic ? LuOrderFor::host : order_for;
    };
    const bool ordered = options.order_for == LuOrderFor::automatic || whose(made_with.order_for) == options.order_for;
    return ordered && hash_of_options(made_with) == hash_of_options(options);
}

template <class S>
void require_plan_for(LuPlan& plan, const MatrixView<S>& A, const LuOptions& options, const std::string& name)
{
    try {
        require_same_pattern<S>(*plan.symbolic, A);
    } catch (const InvalidInput& why) {
        throw InvalidInput(fmt::format("{}: a plan for another pattern: {}", name, why.what()));
    }
    require(plan_serves(plan.symbolic->options, options), [&] {
        return name +
               ": a plan made with another ordering, order_for, matching, scaling, blocks, pivot_tol or supernodes; "
               "remove the file to make it anew";
    });
    LuSymbolic       symbolic = *plan.symbolic;
    const LuOrderFor order_for = symbolic.options.order_for;
    symbolic.options = options;
    symbolic.options.order_for = order_for;
    plan.symbolic = std::make_shared<const LuSymbolic>(std::move(symbolic));
}

void write_plan(const FileTarget& target, const LuPlan& plan)
{
    AtomicFile file(target);
    file.write(plan_bytes(plan));
    file.commit();
}

std::optional<LuPlan> read_plan(const std::string& path)
{
    std::error_code error;
    const auto      status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) return {};
    require(std::filesystem::is_regular_file(status),
            [&] { return path + ": a plan is a regular file, which this is not"; });
    const auto    size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    std::string   bytes;
    if (file && !error) bytes.resize(size);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(file.good() && !error, [&] { return path + ": cannot be read"; });
    return parse_plan(bytes, path);
}

#define ILUX_INSTANTIATE(S) \
    template void require_plan_for(LuPlan&, const MatrixView<S>&, const LuOptions&, const std::string&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
