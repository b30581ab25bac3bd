#pragma once
// What every test may lean on: random data with a seed, slow and obvious references, error measures, temporary folders,
// and visible skips.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"
#include "ilux/tests/support/allocation_counter.hpp"

namespace ilux::test {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized =
    true;  ///< its memory, what is loaded first and what a fork leaves are not what a test can choose
#else
constexpr bool sanitized = false;
#endif
/// Of every so many points of a long sweep a sanitizer is shown one: it looks for faults on each path, not for each
/// number.
constexpr int  thinning = sanitized ? 7 : 1;
constexpr bool memory_may_be_limited = !sanitized;  ///< by ulimit -v: a sanitizer takes terabytes of addresses

/// The same numbers on every platform: the engine is fixed by the standard, the mappings are ours.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t bits() { return engine_(); }
    double        uniform(double lo = -1, double hi = 1)
    {
        return lo + (hi - lo) * static_cast<double>(bits() >> 11) * 0x1p-53;
    }
    Index below(Index n) { return static_cast<Index>(bits() % static_cast<std::uint64_t>(n)); }  ///< 0 .. n − 1

private:
    std::mt19937_64 engine_;
};

std::vector<double> random_vector(Index n, std::uint64_t seed);  ///< uniform in [−1, 1)
std::vector<Index>  random_permutation(Index n, std::uint64_t seed);
/// At most per_row entries a row, at random columns, uniform in [−1, 1). Any shape, 0 included.
CsrMatrix<double> random_matrix(Index rows, Index cols, Index per_row, std::uint64_t seed);
/// random_matrix plus a diagonal 1 + Σ_j |a_ij|: strictly dominant by rows, so far from singular.
CsrMatrix<double> random_dominant(Index n, Index per_row, std::uint64_t seed);
/// Aᵀ A + I of a random_matrix A: symmetric to the last bit and positive definite.
CsrMatrix<double> random_spd(Index n, Index per_row, std::uint64_t seed);

/// A dense matrix by rows.
struct Dense {
    Index               rows = 0, cols = 0;
    std::vector<double> a;  ///< rows·cols
    double&             operator()(Index i, Index j) { return a[static_cast<std::size_t>(i) * cols + j]; }
    double              operator()(Index i, Index j) const { return a[static_cast<std::size_t>(i) * cols + j]; }
    friend bool         operator==(const Dense&, const Dense&) = default;
};

Dense               to_dense(const CsrView<double>& A);
CsrMatrix<double>   to_csr(const Dense& A);  ///< zeros are not stored
Dense               transposed(const Dense& A);
Dense               multiply(const Dense& A, const Dense& B);
std::vector<double> multiply(const Dense& A, std::span<const double> x);

/// A⁻¹ b by Gaussian elimination with partial pivoting. @throws std::domain_error at an exactly zero pivot
std::vector<double> dense_solve(Dense A, std::vector<double> b);
std::vector<double> dense_solve(const CsrView<double>& A, std::vector<double> b);

/// Whether one of the lines (decisions, warnings) holds this text.
bool mentions(const std::vector<std::string>& lines, std::string_view text);

/// Normwise backward error ‖b − A x‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞); +Inf when x has the wrong length or holds NaN or Inf.
/// The residual is accumulated in long double.
double backward_error(const CsrView<double>& A, std::span<const double> x, std::span<const double> b);
/// ‖x − y‖∞ / ‖y‖∞ (absolute when y = 0); +Inf as above.
double relative_difference(std::span<const double> x, std::span<const double> y);

/// Same shape, pattern and values, bit for bit.
bool identical(const CsrView<double>& A, const CsrMatrix<double>& B);
bool identical(std::span<const double> x, std::span<const double> y);
/// The invariant of CsrMatrix, checked the slow way. Empty when it holds, otherwise what is broken.
std::string broken_invariant(const CsrView<double>& A);

/// Expects `call` to throw E with all the words in its message.
template <class E = InvalidInput, class Call>
void expect_refusal(Call&& call, const std::vector<std::string>& words)
{
    try {
        call();
        ADD_FAILURE() << "accepted; expected a refusal" << (words.empty() ? "" : " with '" + words.front() + "'");
    } catch (const E& why) {
        for (const auto& word : words)
            EXPECT_NE(std::string(why.what()).find(word), std::string::npos)
                << "no '" << word << "' in: " << why.what();
    }
}

/// A fresh folder, removed with everything in it at the end of the scope.
class TempFolder {
public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string                  file(const std::string& name) const { return (path_ / name).string(); }
    /// Writes the bytes and returns the file's path.
    std::string write(const std::string& name, const std::string& bytes) const;
    std::size_t entries() const;  ///< files and folders inside

private:
    std::filesystem::path path_;
};

std::string read_bytes(const std::string& path);

/// Empty when this build and this machine can run on a GPU, otherwise why not.
std::string why_no_gpu();
/// The folder of real matrices: $ILUX_DATA, else shared/matrices beside the source tree; empty when there is none.
std::filesystem::path matrix_folder();
/// Empty when real matrices (NAME.mtx, NAME.mtx.gz or, with the zstd program, NAME.mtx.zst) can be read, otherwise why
/// not.
std::string why_no_matrices();
/// The path of a real matrix, unpacked into `folder` where it is compressed by zstd.
/// @throws InvalidInput when there is no such matrix
std::string real_matrix(const std::string& name, const TempFolder& folder);

}  // namespace ilux::test

/// First line of a test that needs a GPU, or real matrices: skips it, saying why.
#define ILUX_SKIP_WITHOUT_GPU()                                                 \
    if (const auto why = ::ilux::test::why_no_gpu(); !why.empty()) GTEST_SKIP() \
    << why
#define ILUX_SKIP_WITHOUT_MATRICES()                                                 \
    if (const auto why = ::ilux::test::why_no_matrices(); !why.empty()) GTEST_SKIP() \
    << why
