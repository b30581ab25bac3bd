#include "ilux/apps/bench/lu/klu_rival.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <klu.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "ilux/base/error.hpp"

namespace ilux::app {
namespace {

/// The functions of the shared library, which stays open.
struct Library {
    std::string             missing;
    decltype(&klu_defaults) defaults = nullptr;
    decltype(&klu_analyze)  analyze = nullptr;
    decltype(&klu_factor)   factor = nullptr;
    decltype(&klu_refactor) refactor = nullptr;
    decltype(&klu_solve)    solve = nullptr;

    decltype(&klu_free_symbolic) free_symbolic = nullptr;
    decltype(&klu_free_numeric)  free_numeric = nullptr;

    Library()
    {
        const std::string file = fmt::format("libklu.so.{}", KLU_MAIN_VERSION);
        void*             handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            missing = fmt::format("{} cannot be opened", file);
            return;
        }
        const auto find = [&](const char* name, auto& function) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
            if (function == nullptr) missing = fmt::format("{} has no {}", file, name);
        };
        find("klu_defaults", defaults);
        find("klu_analyze", analyze);
        find("klu_factor", factor);
        find("klu_refactor", refactor);
        find("klu_solve", solve);
        find("klu_free_symbolic", free_symbolic);
        find("klu_free_numeric", free_numeric);
    }
};

const Library& library()
{
    static const Library klu;
    return klu;
}

}  // namespace

std::string why_no_klu() { return library().missing; }

struct KluRival::State {
    klu_common          common{};
    klu_symbolic*       symbolic = nullptr;
    klu_numeric*        numeric = nullptr;
    std::vector<int>    ptr, row;
    std::vector<Offset> source;  ///< of an entry by columns, its place by rows
    std::vector<double> val;

    /// By columns, which is what KLU takes.
    explicit State(const CsrView<double>& A)
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
        if (numeric != nullptr) library().free_numeric(&numeric, &common);
        if (symbolic != nullptr) library().free_symbolic(&symbolic, &common);
    }
    int n() const { return static_cast<int>(ptr.size()) - 1; }
};

KluRival::KluRival(const CsrView<double>& A)
{
    const Library& klu = library();
    require(klu.missing.empty(), [&] { return "KLU: " + klu.missing; });
    state_ = std::make_unique<State>(A);
    set_values(A.val());
    State& s = *state_;
    klu.defaults(&s.common);
    s.symbolic = klu.analyze(s.n(), s.ptr.data(), s.row.data(), &s.common);
    if (s.symbolic != nullptr) s.numeric = klu.factor(s.ptr.data(), s.row.data(), s.val.data(), s.symbolic, &s.common);
    require(s.numeric != nullptr && s.common.status == KLU_OK,
            [&] { return fmt::format("KLU: status {} of the first factorization", s.common.status); });
}

KluRival::~KluRival() = default;

void KluRival::set_values(std::span<const double> values)
{
    for (std::size_t p = 0; p < state_->val.size(); ++p) state_->val[p] = values[state_->source[p]];
}

bool KluRival::refactor()
{
    State& s = *state_;
    return library().refactor(s.ptr.data(), s.row.data(), s.val.data(), s.symbolic, s.numeric, &s.common) != 0 &&
           s.common.status == KLU_OK;
}

void KluRival::solve(std::span<double> x)
{
    library().solve(state_->symbolic, state_->numeric, state_->n(), 1, x.data(), &state_->common);
}

double KluRival::nnz() const
{
    const klu_numeric& numeric = *state_->numeric;
    return double(numeric.lnz) + numeric.unz - numeric.n + numeric.nzoff;
}

}  // namespace ilux::app
