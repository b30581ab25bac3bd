#include "ilux/direct/supernodal/front_assembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ilux {
namespace {

/// A front of m rows and k pivots, in one square for comparison.
struct Square {
    Index               m, k;
    std::vector<double> L, U, left;

    Square(Index rows, Index pivots)
        : m(rows),
          k(pivots),
          L(std::size_t(m) * k, 7.0),
          U(std::size_t(k) * (m - k), 7.0),
          left(std::size_t(m - k) * (m - k), 7.0)
    {}
    FrontNumbers<double> numbers() { return {m, k, L.data(), U.data(), left.data()}; }
    double               at(Index i, Index j) const
    {
        if (j < k) return L[i + std::size_t(j) * m];
        return i < k ? U[i + std::size_t(j - k) * k] : left[i - k + std::size_t(j - k) * (m - k)];
    }
};

std::vector<Index> some_rows(Index m, double share, unsigned seed)
{
    std::mt19937       random(seed);
    std::vector<Index> rows;
    for (Index i = 0; i < m; ++i)
        if (random() < share * double(std::mt19937::max())) rows.push_back(i);
    return rows;
}

TEST(FrontAssembly, AddsEveryNumberOfAChildAtItsPlace)
{
    for (const Index m : {1, 2, 31, 32, 33, 60})
        for (const Index k : {Index{1}, m / 2, m - 1, m})
            for (const double share : {0.0, 0.3, 0.9, 1.1}) {
                if (k < 1) continue;
                const std::vector<Index> place = some_rows(m, share, 100 * m + k);
                const auto               count = static_cast<Index>(place.size());
                std::vector<double>      child(place.size() * place.size());
                for (std::size_t e = 0; e < child.size(); ++e) child[e] = 1 + double(e);
                Square    front(m, k);
                FrontRuns runs;
                runs.find(place.data(), count, k);
                for (Index first = 0; first < m; first += 7) {  // some columns at a time
                    const Index last = std::min(m, first + 7);
                    clear_columns(front.numbers(), first, last);
                    const auto at = [&](Index column) {
                        return static_cast<Index>(std::lower_bound(place.begin(), place.end(), column) - place.begin());
                    };
                    add_columns(front.numbers(), runs, place.data(), count, child.data(), at(first), at(last));
                }
                std::vector<double> expected(std::size_t(m) * m);
                for (Index j = 0; j < count; ++j)
                    for (Index i = 0; i < count; ++i)
                        expected[place[i] + std::size_t(place[j]) * m] = child[i + std::size_t(j) * count];
                for (Index j = 0; j < m; ++j)
                    for (Index i = 0; i < m; ++i)
                        ASSERT_EQ(front.at(i, j), expected[i + std::size_t(j) * m]) << i << " " << j;
            }
}

TEST(FrontAssembly, RunsEndWhereThePivotsEnd)
{
    FrontRuns                runs;
    const std::vector<Index> place{0, 1, 2, 3, 5, 6};
    runs.find(place.data(), 6, 2);
    EXPECT_EQ(runs.runs(), 3);
    EXPECT_EQ(runs.among_pivots(), 1);
    EXPECT_EQ((std::vector<Index>(runs.begin(), runs.begin() + 4)), (std::vector<Index>{0, 2, 4, 6}));
}

}  // namespace
}  // namespace ilux
