#include "ilux/gallery/fem.hpp"

namespace ilux::gallery {
namespace {

/// grad of the shape function of corner `a` at the point ξ of [0,1]^d, in a cell of edges h.
template <int d>
std::array<double, d> shape_gradient(int a, const std::array<double, d>& xi, const std::array<double, d>& h)
{
    std::array<double, d> g{};
    for (int axis = 0; axis < d; ++axis) {
        g[axis] = (a >> axis & 1 ? 1 : -1) / h[axis];
        for (int other = 0; other < d; ++other)
            if (other != axis) g[axis] *= a >> other & 1 ? xi[other] : 1 - xi[other];
    }
    return g;
}

}  // namespace

template <int d>
CellMatrix<d, d> q1_elasticity(const std::array<double, d>& h, double poisson_ratio)
{
    const double lambda = poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
    const double mu = 1 / (2 * (1 + poisson_ratio));
    const double gauss = std::sqrt(1. / 3);
    double       weight = 1;
    for (double edge : h) weight *= edge / 2;

    CellMatrix<d, d> K;
    for (int point = 0; point < (1 << d); ++point) {
        std::array<double, d> xi{};
        for (int axis = 0; axis < d; ++axis) xi[axis] = (1 + (point >> axis & 1 ? gauss : -gauss)) / 2;
        for (int a = 0; a < (1 << d); ++a)
            for (int b = 0; b < (1 << d); ++b) {
                const auto p = shape_gradient<d>(a, xi, h), q = shape_gradient<d>(b, xi, h);
                double     pq = 0;
                for (int axis = 0; axis < d; ++axis) pq += p[axis] * q[axis];
                for (int s = 0; s < d; ++s)
                    for (int t = 0; t < d; ++t)  // λ ∂_s N_a ∂_t N_b + μ (∂_t N_a ∂_s N_b + δ_st ∇N_a·∇N_b)
                        K(d * a + s, d * b + t) +=
                            weight * (lambda * (p[s] * q[t]) + mu * (p[t] * q[s] + (s == t ? pq : 0)));
            }
    }
    return K;
}
template CellMatrix<2, 2> q1_elasticity<2>(const std::array<double, 2>&, double);
template CellMatrix<3, 3> q1_elasticity<3>(const std::array<double, 3>&, double);

std::array<P1Triangle, 2> p1_triangles(double hx, double hy)
{
    return {P1Triangle{{0, 1, 3}, {{{-1 / hx, 0}, {1 / hx, -1 / hy}, {0, 1 / hy}}}},
            P1Triangle{{0, 3, 2}, {{{0, -1 / hy}, {1 / hx, 0}, {-1 / hx, 1 / hy}}}}};
}

}  // namespace ilux::gallery
