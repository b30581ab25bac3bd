#include "ilux/direct/factor/lu_triangles.hpp"

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// Scale of row or column k of the factors.
double scale_of(const std::vector<double>& scale, const std::vector<Index>& perm, Index k)
{
    return scale.empty() ? 1 : scale[perm[k]];
}

}  // namespace

template <class S>
LuTriangles<S> triangles_of(const LuFactors<S>& factors)
{
    const LuPattern& P = *factors.pattern;
    require(!factors.fronts, [] { return "L and U are stored by fronts: lu.supernodes=off stores them by entries"; });
    require(P.blocks() <= 1, [] { return "A was factored by diagonal blocks: lu.blocks=off factors the whole of it"; });
    LuTriangles<S> T;
    for (Index k = 0; k < P.n; ++k) {
        const double c = scale_of(P.col_scale, P.col_perm, k), r_k = scale_of(P.row_scale, P.row_perm, k);
        for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) {
            T.u_row.push_back(P.row[p]);
            T.u_val.push_back(factors.val[p] / (scale_of(P.row_scale, P.row_perm, P.row[p]) * c));
        }
        T.l_row.push_back(k);
        T.l_val.push_back(1);
        for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) {
            T.l_row.push_back(P.row[p]);
            T.l_val.push_back(factors.val[p] * (r_k / scale_of(P.row_scale, P.row_perm, P.row[p])));
        }
        T.l_ptr.push_back(static_cast<Offset>(T.l_row.size()));
        T.u_ptr.push_back(static_cast<Offset>(T.u_row.size()));
    }
    return T;
}

#define ILUX_INSTANTIATE(S) template LuTriangles<S> triangles_of<S>(const LuFactors<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
