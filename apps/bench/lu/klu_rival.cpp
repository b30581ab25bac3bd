#include "ilux/apps/bench/lu/klu_rival.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <klu.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux::app {
namespace {

/// The functions of the shared library, which stays open; complex values have their own where they matter.
struct Library {
    std::string             missing;
    decltype(&klu_defaults) defaults = nullptr;
    decltype(&klu_analyze)  analyze = nullptr;

    decltype(&klu_free_symbolic) free_symbolic = nullptr;
    struct OfValues {
        decltype(&klu_factor)       factor = nullptr;
        decltype(&klu_refactor)     refactor = nullptr;
        decltype(&klu_solve)        solve = nullptr;
        decltype(&klu_free_numeric) free_numeric = nullptr;
    } real, complex;

    Library()
    {
        const std::string file = fmt::format("libklu.so.{}", KLU_MAIN_VERSION);
        void*             handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            missing = fmt::format("{} cannot be opened", file);
            return;
        }
        const auto find = [&](const std::string& name, auto& function) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name.c_str()));
            if (function == nullptr) missing = fmt::format("{} has no {}", file, name);
        };
        find("klu_defaults", defaults);
        find("klu_analyze", analyze);
        find("klu_free_symbolic", free_symbolic);
        const auto find_all = [&](const std::string& prefix, OfValues& functions) {
            find(prefix + "factor", functions.factor);
            find(prefix + "refactor", functions.refactor);
            find(prefix + "solve", functions.solve);
            find(prefix + "free_numeric", functions.free_numeric);
        };
        find_all("klu_", real);
        find_all("klu_z_", complex);
    }
};

// Both kinds of values are arrays of double to KLU, so their functions are of one type.
static_assert(std::is_same_v<decltype(&klu_factor), decltype(&klu_z_factor)>);
static_assert(std::is_same_v<decltype(&klu_refactor), decltype(&klu_z_refactor)>);
static_assert(std::is_same_v<decltype(&klu_solve), decltype(&klu_z_solve)>);

const Library& library()
{
    static const Library klu;
    return klu;
}

template <Scalar S>
const Library::OfValues& calls()
{
    return is_complex<S> ? library().complex : library().real;
}

template <Scalar S>
double* doubles(S* values)
{
    return reinterpret_cast<double*>(values);
}

}  // namespace

std::string why_no_klu() { return library().missing; }

template <Scalar S>
struct KluRival<S>::State {
    klu_common          common{};
    klu_symbolic*       symbolic = nullptr;
    klu_numeric*        numeric = nullptr;
    std::vector<int>    ptr, row;
    std::vector<Offset> source;  ///< of an entry by columns, its place by rows
    std::vector<S>      val;

    /// By columns, which is what KLU takes.
    explicit State(const CsrView<S>& A)
    {
        require(A.nnz() <= std::numeric_limits<int>::max(),
                [&] { return fmt::format("KLU: {} entries are more than 32 bits count", A.nnz()); });
        std::vector<double> place(A.nnz());  // exact up to 2⁵³
        std::iota(place.begin(), place.end(), 0.0);
        const auto columns =
            transpose(CsrMatrix<double>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                                     {A.col().begin(), A.col().end()}, std::move(place)));
        ptr.assign(columns.row_ptr().begin(), columns.row_ptr().end());
        row.assign(columns.col().begin(), columns.col().end());
        source.assign(columns.val().begin(), columns.val().end());
        val.resize(source.size());
    }
    ~State()
    {
        if (numeric != nullptr) calls<S>().free_numeric(&numeric, &common);
        if (symbolic != nullptr) library().free_symbolic(&symbolic, &common);
    }
    int n() const { return static_cast<int>(ptr.size()) - 1; }
};

template <Scalar S>
KluRival<S>::KluRival(const CsrView<S>& A)
{
    const Library& klu = library();
    require(klu.missing.empty(), [&] { return "KLU: " + klu.missing; });
    state_ = std::make_unique<State>(A);
    set_values(A.val());
    State& s = *state_;
    klu.defaults(&s.common);
    s.symbolic = klu.analyze(s.n(), s.ptr.data(), s.row.data(), &s.common);
    if (s.symbolic != nullptr)
        s.numeric = calls<S>().factor(s.ptr.data(), s.row.data(), doubles(s.val.data()), s.symbolic, &s.common);
    require(s.numeric != nullptr && s.common.status == KLU_OK,
            [&] { return fmt::format("KLU: status {} of the first factorization", s.common.status); });
}

template <Scalar S>
KluRival<S>::~KluRival() = default;

template <Scalar S>
void KluRival<S>::set_values(std::span<const S> values)
{
    for (std::size_t p = 0; p < state_->val.size(); ++p) state_->val[p] = values[state_->source[p]];
}

template <Scalar S>
bool KluRival<S>::refactor()
{
    State& s = *state_;
    return calls<S>().refactor(s.ptr.data(), s.row.data(), doubles(s.val.data()), s.symbolic, s.numeric, &s.common) !=
               0 &&
           s.common.status == KLU_OK;
}

template <Scalar S>
void KluRival<S>::solve(std::span<S> x)
{
    calls<S>().solve(state_->symbolic, state_->numeric, state_->n(), 1, doubles(x.data()), &state_->common);
}

template <Scalar S>
double KluRival<S>::nnz() const
{
    const klu_numeric& numeric = *state_->numeric;
    return double(numeric.lnz) + numeric.unz - numeric.n + numeric.nzoff;
}

#define ILUX_INSTANTIATE(S) template class KluRival<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
