// Any bytes at all, as a stored plan: it is refused with InvalidInput, or can be followed without harm. Bytes are tried
// as a whole file, and as one section of a file whose head and checksums are right, so that more than checksums is
// looked at. Run: plan_file_fuzz fuzz/corpus/plan_file

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/direct/plan/plan_file.hpp"
#include "ilux/direct/plan/plan_sections.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/fuzz/expect.hpp"

namespace {

using namespace ilux;
using fuzz::expect;

/// Of the 3×3 matrix with a full first column and diagonal.
std::string small_plan()
{
    const std::vector<Offset> ptr{0, 1, 3, 5};
    const std::vector<Index>  idx{0, 0, 1, 0, 2};
    const std::vector<double> val{2, 1, 3, 1, 4};
    const LuFactors<>         F = gilbert_peierls<double>(analyse<double>({3, ptr, idx, val}), val);
    return plan_bytes({.symbolic = F.symbolic, .pattern = F.pattern});
}

/// Pivots of its own, by entries and within supernodes.
void follow_analysis(const LuPlan& plan, const std::vector<double>& values)
{
    for (const LuSupernodes how : {LuSupernodes::off, LuSupernodes::on}) {
        LuOptions options;
        options.supernodes = how;
        Cpu        be(1);
        Lu<double> lu(be, plan.symbolic, options);
        (void)lu.factor(values);
    }
}

void follow(std::string_view file)
{
    try {
        const LuPlan        plan = parse_plan(file, "fuzz");
        std::vector<double> values(plan.symbolic->source.size(), 1.5);
        follow_analysis(plan, values);
        if (!plan.pattern) return;
        LuFactors<> F{plan.symbolic,
                      plan.pattern,
                      LuValues<double>(plan.pattern->row.size()),
                      std::vector<double>(plan.pattern->f_row.size()),
                      {}};
        refactor_serial<double>(values, F);
    } catch (const InvalidInput& why) {
        expect(std::string_view(why.what()).size() > 4, why.what());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string  plan = small_plan();
    static const PlanSections sections(plan, "fuzz");
    const std::string_view    bytes(reinterpret_cast<const char*>(data), size);
    follow(bytes);
    if (bytes.size() < 8) return 0;
    // The first byte chooses a section, the next two a place in it, and the rest is written there.
    constexpr std::array<const char*, 2> names{"symbolic", "pattern"};
    std::vector<PlanSection>             all;
    for (const char* name : names) all.push_back({name, std::string(sections.bytes(name))});
    std::string&      own = all[static_cast<std::size_t>(data[0]) % names.size()].bytes;
    const std::size_t at = (data[1] + 256 * std::size_t{data[2]}) % own.size();
    std::copy_n(bytes.begin() + 3, std::min(bytes.size() - 3, own.size() - at), own.begin() + at);
    follow(join_sections(sections.key(), all));
    return 0;
}
