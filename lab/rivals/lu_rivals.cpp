#include <algorithm>
#include <array>

#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"

namespace ilux::app {
namespace {

using Complex = std::complex<double>;

// PARDISO last: MKL shows its BLAS to all libraries opened after it, and UMFPACK and SuperLU would take that for the
// one they were built with. They are bound as they are opened.
constexpr std::array<LuRivalKind, 5> kinds{{
    {"supernodes", why_no_supernodes, make_supernodes<double>, make_supernodes<Complex>},
    {"klu", why_no_klu, make_klu<double>, make_klu<Complex>},
    {"umfpack", why_no_umfpack, make_umfpack<double>, make_umfpack<Complex>},
    {"superlu", why_no_superlu, make_superlu<double>, make_superlu<Complex>},
    {"pardiso", why_no_pardiso, make_pardiso<double>, make_pardiso<Complex>},
}};

}  // namespace

std::span<const LuRivalKind> lu_rivals() { return kinds; }

const LuRivalKind* find_lu_rival(std::string_view name)
{
    const auto* const found = std::ranges::find(kinds, name, &LuRivalKind::name);
    return found == kinds.end() ? nullptr : &*found;
}

template <Scalar S>
LuRivalPointer<S> make_lu_rival(const LuRivalKind& kind, const CsrView<S>& A, int threads)
{
    if constexpr (is_complex<S>) return kind.make_complex(A, threads);
    else return kind.make(A, threads);
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_lu_rival(const LuRivalKind&, const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
