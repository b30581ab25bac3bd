#include "ilux/tests/support/checks.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace ilux::test {
namespace {

bool all_finite(std::span<const double> x)
{
    return std::ranges::all_of(x, [](double value) { return std::isfinite(value); });
}

double max_abs(std::span<const double> x)
{
    double largest = 0;
    for (double value : x) largest = std::max(largest, std::abs(value));
    return largest;
}

}  // namespace

std::vector<double> random_vector(Index n, std::uint64_t seed)
{
    Random              random(seed);
    std::vector<double> x(n);
    for (double& value : x) value = random.uniform();
    return x;
}

std::vector<Index> random_permutation(Index n, std::uint64_t seed)
{
    Random             random(seed);
    std::vector<Index> perm(n);
    std::iota(perm.begin(), perm.end(), Index{0});
    for (Index i = n - 1; i > 0; --i) std::swap(perm[i], perm[random.below(i + 1)]);
    return perm;
}

CsrMatrix<double> random_matrix(Index rows, Index cols, Index per_row, std::uint64_t seed)
{
    Random              random(seed);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < rows && cols > 0; ++i)
        for (Index k = 0; k < per_row; ++k) {
            row.push_back(i);
            col.push_back(random.below(cols));
            val.push_back(random.uniform());
        }
    return CsrMatrix<double>::from_triplets(rows, cols, row, col, val);
}

CsrMatrix<double> random_dominant(Index n, Index per_row, std::uint64_t seed)
{
    const auto          A = random_matrix(n, n, per_row, seed);
    std::vector<Index>  row, col(A.col().begin(), A.col().end());
    std::vector<double> val(A.val().begin(), A.val().end());
    for (Index i = 0; i < n; ++i) row.insert(row.end(), A.row_ptr()[i + 1] - A.row_ptr()[i], i);
    for (Index i = 0; i < n; ++i) {
        double sum = 1;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) sum += std::abs(A.val()[p]);
        row.push_back(i);
        col.push_back(i);
        val.push_back(sum);
    }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

CsrMatrix<double> random_spd(Index n, Index per_row, std::uint64_t seed)
{
    const auto          A = random_matrix(n, n, per_row, seed);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i) {
        row.push_back(i), col.push_back(i), val.push_back(1);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)  // row i adds aᵢᵀ aᵢ, in one order for both halves
            for (Offset q = A.row_ptr()[i]; q < A.row_ptr()[i + 1]; ++q)
                row.push_back(A.col()[p]), col.push_back(A.col()[q]), val.push_back(A.val()[p] * A.val()[q]);
    }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

Dense to_dense(const CsrView<double>& A)
{
    Dense D{A.rows(), A.cols(), std::vector<double>(static_cast<std::size_t>(A.rows()) * A.cols(), 0)};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) D(i, A.col()[p]) = A.val()[p];
    return D;
}

CsrMatrix<double> to_csr(const Dense& A)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < A.rows; ++i)
        for (Index j = 0; j < A.cols; ++j)
            if (A(i, j) != 0) row.push_back(i), col.push_back(j), val.push_back(A(i, j));
    return CsrMatrix<double>::from_triplets(A.rows, A.cols, row, col, val);
}

Dense transposed(const Dense& A)
{
    Dense B{A.cols, A.rows, std::vector<double>(A.a.size())};
    for (Index i = 0; i < A.rows; ++i)
        for (Index j = 0; j < A.cols; ++j) B(j, i) = A(i, j);
    return B;
}

Dense multiply(const Dense& A, const Dense& B)
{
    if (A.cols != B.rows) throw std::domain_error("the inner dimensions differ");
    Dense C{A.rows, B.cols, std::vector<double>(static_cast<std::size_t>(A.rows) * B.cols, 0)};
    for (Index i = 0; i < A.rows; ++i)
        for (Index k = 0; k < A.cols; ++k)
            for (Index j = 0; j < B.cols; ++j) C(i, j) += A(i, k) * B(k, j);
    return C;
}

std::vector<double> multiply(const Dense& A, std::span<const double> x)
{
    return multiply(A, Dense{static_cast<Index>(x.size()), 1, {x.begin(), x.end()}}).a;
}

std::vector<double> dense_solve(Dense A, std::vector<double> b)
{
    const Index n = A.rows;
    if (A.cols != n || b.size() != static_cast<std::size_t>(n)) throw std::domain_error("not a square system");
    for (Index k = 0; k < n; ++k) {
        Index pivot = k;
        for (Index i = k + 1; i < n; ++i)
            if (std::abs(A(i, k)) > std::abs(A(pivot, k))) pivot = i;
        if (A(pivot, k) == 0) throw std::domain_error(fmt::format("zero pivot at step {}", k));
        for (Index j = 0; j < n; ++j) std::swap(A(k, j), A(pivot, j));
        std::swap(b[k], b[pivot]);
        for (Index i = k + 1; i < n; ++i) {
            const double l = A(i, k) / A(k, k);
            for (Index j = k; j < n; ++j) A(i, j) -= l * A(k, j);
            b[i] -= l * b[k];
        }
    }
    for (Index i = n - 1; i >= 0; --i) {
        for (Index j = i + 1; j < n; ++j) b[i] -= A(i, j) * b[j];
        b[i] /= A(i, i);
    }
    return b;
}

std::vector<double> dense_solve(const CsrView<double>& A, std::vector<double> b)
{
    return dense_solve(to_dense(A), std::move(b));
}

bool mentions(const std::vector<std::string>& lines, std::string_view text)
{
    return std::ranges::any_of(lines, [text](const std::string& line) { return line.find(text) != std::string::npos; });
}

double backward_error(const CsrView<double>& A, std::span<const double> x, std::span<const double> b)
{
    if (std::ssize(x) != A.cols() || std::ssize(b) != A.rows() || !all_finite(x) || !all_finite(b)) return infinity;
    long double largest = 0, norm = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        long double r = b[i], row_sum = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            r -= static_cast<long double>(A.val()[p]) * x[A.col()[p]];
            row_sum += std::abs(A.val()[p]);
        }
        largest = std::max(largest, std::abs(r));
        norm = std::max(norm, row_sum);
    }
    if (largest == 0) return 0;
    return static_cast<double>(largest / (norm * max_abs(x) + max_abs(b)));
}

double relative_difference(std::span<const double> x, std::span<const double> y)
{
    if (x.size() != y.size() || !all_finite(x) || !all_finite(y)) return infinity;
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    const double norm = max_abs(y);
    return norm == 0 ? largest : largest / norm;
}

bool identical(std::span<const double> x, std::span<const double> y)
{
    const auto same_bits = [](double a, double b) {
        return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    };
    return std::ranges::equal(x, y, same_bits);
}

bool identical(const CsrView<double>& A, const CsrMatrix<double>& B)
{
    return A.rows() == B.rows() && A.cols() == B.cols() && std::ranges::equal(A.row_ptr(), B.row_ptr()) &&
           std::ranges::equal(A.col(), B.col()) && identical(A.val(), B.val());
}

std::string broken_invariant(const CsrView<double>& A)
{
    const auto row_ptr = A.row_ptr();
    if (std::ssize(row_ptr) != Offset{A.rows()} + 1) return "row_ptr has the wrong length";
    if (row_ptr.front() != 0 || row_ptr.back() != std::ssize(A.col()) || A.col().size() != A.val().size())
        return "row_ptr does not span the entries";
    for (Index i = 0; i < A.rows(); ++i) {
        if (row_ptr[i] > row_ptr[i + 1]) return fmt::format("row_ptr decreases at row {}", i);
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            if (A.col()[p] < 0 || A.col()[p] >= A.cols()) return fmt::format("row {} holds column {}", i, A.col()[p]);
            if (p > row_ptr[i] && A.col()[p - 1] >= A.col()[p])
                return fmt::format("row {} does not ascend at column {}", i, A.col()[p]);
            if (!std::isfinite(A.val()[p])) return fmt::format("row {} holds {}", i, A.val()[p]);
        }
    }
    return "";
}

TempFolder::TempFolder()
{
    std::string name = (std::filesystem::temp_directory_path() / "ilux_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw InvalidInput("cannot make a temporary folder " + name);
    path_ = name;
}

TempFolder::~TempFolder()
{
    std::error_code ignored;  // a destructor has nobody to tell
    std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::write(const std::string& name, const std::string& bytes) const
{
    std::ofstream out(file(name), std::ios::binary);
    out << bytes;
    out.close();
    if (!out) throw InvalidInput("cannot write " + file(name));
    return file(name);
}

std::size_t TempFolder::entries() const
{
    using Walk = std::filesystem::recursive_directory_iterator;
    return static_cast<std::size_t>(std::distance(Walk(path_), Walk()));
}

std::string read_bytes(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    if (!in) throw InvalidInput("cannot read " + path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string why_no_gpu()
{
#ifdef ILUX_WITH_CUDA
    void* driver =
        dlopen("libcuda.so.1", RTLD_NOW);  // asked directly: a broken Gpu class must fail its tests, not skip them
    if (driver == nullptr) return "needs a GPU: no CUDA driver on this machine";
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto device_count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    int        count = 0;
    if (init == nullptr || device_count == nullptr || init(0) != 0 || device_count(&count) != 0 || count == 0)
        return "needs a GPU: the CUDA driver finds no device";
    return "";
#else
    return "needs a GPU: built without CUDA";
#endif
}

std::filesystem::path matrix_folder()
{
    if (const char* folder = std::getenv("ILUX_DATA"); folder != nullptr && *folder != '\0') return folder;
    const auto source_tree = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    const auto beside = source_tree.parent_path() / "shared" / "matrices";
    return std::filesystem::is_directory(beside) ? beside : std::filesystem::path();
}

std::string why_no_matrices()
{
    static const bool have_zstd = std::system("zstd --version > /dev/null 2>&1") == 0;
    const auto        folder = matrix_folder();
    if (folder.empty()) return "needs real matrices: set ILUX_DATA to a folder of .mtx files";
    if (!std::filesystem::is_directory(folder))
        return "needs real matrices: ILUX_DATA=" + folder.string() + " is not a folder";
    if (!have_zstd) return "needs real matrices: the zstd program is not installed";
    return "";
}

std::string real_matrix(const std::string& name, const TempFolder& folder)
{
    const auto plain = matrix_folder() / (name + ".mtx");
    for (const std::string suffix : {"", ".gz"})
        if (std::filesystem::exists(plain.string() + suffix)) return plain.string() + suffix;
    const auto packed = plain.string() + ".zst", unpacked = folder.file(name + ".mtx");
    require(std::filesystem::exists(packed), [&] { return "no matrix " + packed; });
    const auto command = fmt::format("zstd -dqf '{}' -o '{}'", packed, unpacked);
    require(std::system(command.c_str()) == 0, [&] { return "failed: " + command; });
    return unpacked;
}

}  // namespace ilux::test
