#pragma once
// The Gram-Schmidt processes on both backends behind one call on host vectors, for their tests.

#include <memory>
#include <ostream>
#include <span>
#include <vector>

#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test::ortho {

using Vector = std::vector<double>;

enum class Kind { mgso, mgso_hybrid, cgs2 };

struct Process {
    const char* name;
    Kind        kind;
    double      threshold = 0.98;
    bool        on_gpu = false;

    friend std::ostream& operator<<(std::ostream& out, const Process& one) { return out << one.name; }
};

inline const Process on_cpu[] = {{"Mgso", Kind::mgso},
                                 {"MgsoAlwaysTwice", Kind::mgso, 0},
                                 {"MgsoHybrid", Kind::mgso_hybrid},
                                 {"Cgs2", Kind::cgs2}};
inline const Process on_gpu[] = {{"Mgso", Kind::mgso, 0.98, true},
                                 {"MgsoAlwaysTwice", Kind::mgso, 0, true},
                                 {"MgsoHybrid", Kind::mgso_hybrid, 0.98, true},
                                 {"Cgs2", Kind::cgs2, 0.98, true}};

template <Backend B>
Extension extend_on(B& be, const Process& process, ConstSpan<B> V, Span<B> w, std::span<double> h)
{
    Vector scratch(h.size());
    switch (process.kind) {
        case Kind::mgso:
            return mgso(be, V, w, h, process.threshold);
        case Kind::mgso_hybrid:
            return mgso_hybrid<B>(be, V, w, h, process.threshold);
        case Kind::cgs2:
            break;
    }
    return cgs2(be, V, w, h, scratch);
}

/// One for all tests of the program: making one costs more than most of them.
inline Gpu& shared_gpu()
{
    static const auto only = std::make_unique<Gpu>();
    return *only;
}

inline Extension extend_on_gpu(Gpu& gpu, const Process& process, std::span<const double> V, std::span<double> w,
                               std::span<double> h)
{
    DeviceBuffer<double> dV(V.size()), dw(w.size());
    upload<double>(gpu, V, dV);
    upload<double>(gpu, std::span<const double>(w), dw);
    const Extension result = extend_on<Gpu>(gpu, process, dV, dw, h);
    download<double>(gpu, dw, w);
    return result;
}

inline Extension extend(const Process& process, std::span<const double> V, std::span<double> w, std::span<double> h,
                        int threads = 1)
{
    if (process.on_gpu) return extend_on_gpu(shared_gpu(), process, V, w, h);
    Cpu be(threads);
    return extend_on<Cpu>(be, process, V, w, h);
}

/// A = Q R: the k vectors of A orthonormalized one after another, and their coefficients.
struct Qr {
    Vector                 Q, R;  ///< n·k; k×k by columns
    std::vector<Extension> outcome;
};
inline Qr orthonormalize(const Process& process, const Vector& A, std::size_t n, std::size_t k, int threads = 1)
{
    Qr qr{A, Vector(k * k), {}};
    for (std::size_t j = 0; j < k; ++j) {
        Vector     h(j + 1);
        const auto Q = std::span(qr.Q);
        qr.outcome.push_back(extend(process, Q.first(j * n), Q.subspan(j * n, n), h, threads));
        std::copy(h.begin(), h.end(), qr.R.begin() + static_cast<std::ptrdiff_t>(j * k));
    }
    return qr;
}

}  // namespace ilux::test::ortho
