// Rivals of `ilux-lab lu` on host threads, each that is built in; judged by the componentwise backward error of x.

#include "ilux/lab/rivals/lu_rival.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ilux/base/error.hpp"
#include "ilux/engine/report/accuracy.hpp"
#include "ilux/tests/lab/rivals/rival_systems.hpp"

namespace ilux {
namespace {

template <Scalar S>
void expect_solutions(const app::LuRivalKind& kind, Index n)
{
    const test::RivalSystems<S> system(n);
    const auto                  rival = app::make_lu_rival<S>(kind, system.first, 2);
    const auto                  expect_solution = [&](const CsrMatrix<S>& A) {
        std::vector<S> b = system.b;
        EXPECT_LE(measure<S>(A, rival->solve(b), system.b).rowwise, 1e-10) << kind.name << ", n = " << n;
    };
    rival->analyse();
    rival->factor();
    expect_solution(system.first);
    for (int round = 0; round < 2; ++round)
        for (const CsrMatrix<S>* const A : {&system.second, &system.first}) {
            rival->set_values(A->val());
            rival->refactor();
            expect_solution(*A);
            expect_solution(*A);
        }
    const nlohmann::ordered_json facts = rival->facts();
    EXPECT_NE(facts.at("version"), "");
    EXPECT_GE(facts.at("nnz_LU").get<double>(), n);
    EXPECT_GT(facts.at("bytes").get<double>(), 0);
}

TEST(LuRival, SolvesAndFollowsNewValuesOrSaysWhyItIsNotThere)
{
    for (const app::LuRivalKind& kind : app::lu_rivals()) {
        EXPECT_EQ(app::find_lu_rival(kind.name), &kind);
        if (const std::string why = kind.why_not(); !why.empty()) {
            const auto A = CsrMatrix<double>::identity(1);
            try {
                app::make_lu_rival<double>(kind, A, 1);
                ADD_FAILURE() << kind.name << " was made";
            } catch (const InvalidInput& error) {
                EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
            }
            continue;
        }
        for (const Index n : {1, 31, 32, 33, 500}) {
            expect_solutions<double>(kind, n);
            expect_solutions<std::complex<double>>(kind, n);
        }
    }
    EXPECT_EQ(app::find_lu_rival("mumps"), nullptr);
    EXPECT_EQ(app::lu_rivals().back().name, "pardiso") << "MKL's BLAS would be that of rivals opened after it";
}

}  // namespace
}  // namespace ilux
