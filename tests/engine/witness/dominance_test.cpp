// Proofs that A is regular by its diagonal, on the host and again on a GPU. The oracle: rows looked at one by one.

#include "ilux/engine/witness/dominance.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numeric>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/entry_list.hpp"
#include "ilux/tests/support/gpu_test.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

/// Row by row by the definition; chains of rows end at one that leads to itself.
template <class S>
bool is_proof(const CsrMatrix<S>& A, const std::vector<Index>& leads_to)
{
    const DominanceLimits limits;
    for (Index i = 0; i < A.rows(); ++i) {
        double diagonal = 0, beside = 0, link = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const double size = std::abs(A.val()[p]);
            (A.col()[p] == i ? diagonal : beside) += size;
            if (A.col()[p] == leads_to[i]) link = size;
        }
        if (!(diagonal > 0) || diagonal < beside * (1 - limits.cancels)) return false;
        if (leads_to[i] == i ? diagonal - beside <= limits.grounds * diagonal
                             : link == 0 || link < limits.tied * beside)
            return false;
        Index end = i;
        for (Index steps = 0; steps <= A.rows() && leads_to[end] != end; ++steps) end = leads_to[end];
        if (leads_to[end] != end) return false;
    }
    return true;
}

/// Each row leads to the next, the last is grounded: a pass in ascending order learns of one row.
CsrMatrix<double> led_upwards(Index n)
{
    EntryList entries;
    for (Index i = 0; i < n; ++i) {
        entries.add(i, i, 1);
        if (i + 1 < n) entries.add(i, i + 1, -1);
    }
    return entries.matrix(n, n);
}

std::vector<CsrMatrix<double>> regular_matrices()
{
    std::vector<CsrMatrix<double>> all;
    for (const char* spec : {"poisson2d:n=40", "convdiff3d:n=12", "recirculating2d:n=33", "poisson2d:n=200"})
        all.push_back(gallery::build(spec));
    const auto order = random_permutation(all[1].rows(), 5);
    all.push_back(permute<double>(all[1], order, order));
    for (const Index n : {1, 31, 32, 33, 5000}) all.push_back(led_upwards(n));
    all.push_back(random_dominant(700, 300, 1));  // long rows
    return all;
}

TEST(Dominance, LeadsEachRowToOneWhoseDiagonalIsLarger)
{
    for (const auto& A : regular_matrices())
        for (const int threads : {1, 2}) {
            Cpu                cpu(threads);
            std::vector<Index> leads_to(static_cast<std::size_t>(A.rows()), 77);
            Dominance<double>  dominance(cpu, A, leads_to);
            EXPECT_TRUE(dominance.proves_regular()) << A.rows();
            EXPECT_TRUE(is_proof(A, leads_to)) << A.rows();
        }
}

TEST(Dominance, ProvesNothingWhereARowIsShortOfItsDiagonalOrLeadsNowhere)
{
    Cpu  serial(1);
    auto A = gallery::build("poisson2d:n=20");
    for (Offset p = A.row_ptr()[57]; p < A.row_ptr()[58]; ++p)
        if (A.col()[p] == 57) A.val()[p] *= 0.999;
    EXPECT_FALSE(Dominance<double>(serial, A).proves_regular());
    EntryList ring;  // whose rows sum to 0
    for (Index i = 0; i < 40; ++i) {
        ring.add(i, i, 1);
        ring.add(i, (i + 1) % 40, -1);
    }
    EXPECT_FALSE(Dominance<double>(serial, ring.matrix(40, 40)).proves_regular());
    ring.add(7, 7, 1e-3);
    EXPECT_TRUE(Dominance<double>(serial, ring.matrix(40, 40)).proves_regular());
}

class GpuDominanceTest : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

template <class S>
void check_on_gpu(const CsrMatrix<S>& A)
{
    Gpu                gpu;
    Cpu                serial(1);
    std::vector<Index> leads_to(static_cast<std::size_t>(A.rows()));
    Dominance<S>       dominance(serial, A, leads_to);
    ASSERT_TRUE(dominance.proves_regular());
    DeviceCsr<S>    there(gpu, A);
    GpuDominance<S> proof(gpu, leads_to);
    const auto      sums = proof.prove_regular(gpu, there);
    ASSERT_TRUE(sums.has_value()) << A.rows();
    EXPECT_NEAR(sums->sum, dominance.sums().sum, 1e-12 * dominance.sums().size);
    EXPECT_NEAR(sums->size, dominance.sums().size, 1e-12 * dominance.sums().size);
    for (int k = 0; k < 100; ++k) {
        const auto again = proof.prove_regular(gpu, there);
        ASSERT_TRUE(again && again->sum == sums->sum && again->size == sums->size);
    }
    // Other numbers: as the rows are, one by one.
    Random random(1);
    for (int k = 0; k < 20; ++k) {
        CsrMatrix<S> other = A;
        const auto   p = static_cast<std::size_t>(random.below(static_cast<Index>(A.nnz())));
        other.val()[p] *= k % 4 == 0 ? 0 : k % 4 == 1 ? 1e-8 : k % 4 == 2 ? 1.5 : -1;
        there.upload_values(gpu, other.val());
        EXPECT_EQ(proof.prove_regular(gpu, there).has_value(), is_proof(other, leads_to)) << k;
    }
}

TEST_F(GpuDominanceTest, HoldsForOtherNumbersWhereEachRowSaysSo)
{
    for (const auto& A : regular_matrices()) {
        check_on_gpu(A);
        if (A.rows() < 2000) check_on_gpu(turned(A, 2));
    }
}

}  // namespace
}  // namespace ilux
