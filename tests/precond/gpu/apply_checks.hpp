#pragma once
// M⁻¹ applied on the host, and how far rounding may take two results apart.

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux::test::precond {

template <class T>
ApplySystems<T> systems_of(const MlIlu<>& mlilu, bool transposed, int threads = 1)
{
    Cpu be(threads);
    return apply_systems<T>(be, mlilu.factors(), transposed);
}

/// z ← M⁻¹ r by the systems and, where they have a dense step, by `dense`.
template <class T>
Vector applied_systems(const ApplySystems<T>& systems, const Vector& r,
                       const std::function<void(std::span<double>)>& dense)
{
    Vector     z(systems.n, std::nan("")), work(systems.work, std::nan(""));
    const auto part = [&](const ApplyPart& where) {
        return std::span(where.of == ApplyPart::Of::z ? z : work).subspan(where.begin, where.n);
    };
    for (const auto& step : systems.steps) {
        if (step.dense) {
            dense(part(step.in));
            continue;
        }
        const Vector in = step.in.of == ApplyPart::Of::r ? r : Vector(part(step.in).begin(), part(step.in).end());
        solve_serial(step.system, in, part(step.out));
    }
    return z;
}

/// By the library's own serial form.
template <class T>
Vector applied_systems(const ApplySystems<T>& systems, const Vector& r)
{
    Vector z(systems.n, std::nan("")), work(systems.work, std::nan(""));
    solve_serial(systems, r, z, work);
    return z;
}

/// The same with all values and signs such that nothing cancels: rounding errors are small against it, component by
/// component.
template <class T>
Vector majorant(ApplySystems<T> systems, Vector r)
{
    for (auto& step : systems.steps) {
        for (auto& value : step.system.L.val()) value = -std::abs(value);
        for (auto* values : {&step.system.inv_diag, &step.system.frame.in_scale, &step.system.frame.out_scale})
            for (double& value : *values) value = std::abs(value);
    }
    for (T& value : systems.W) value = std::abs(value);
    for (double& value : r) value = std::abs(value);
    return applied_systems(systems, r);
}

/// |x_i − y_i| ≤ factor · n · bound_i for all i, n the length; false where anything is not finite.
inline testing::AssertionResult within(const Vector& x, const Vector& y, double factor, const Vector& bound)
{
    if (x.size() != y.size() || x.size() != bound.size()) return testing::AssertionFailure() << "lengths differ";
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!(std::abs(x[i] - y[i]) <= factor * static_cast<double>(x.size()) * bound[i]))
            return testing::AssertionFailure() << "component " << i << " of " << x.size() << ": " << x[i] << " is not "
                                               << y[i] << ", bound " << bound[i];
    return testing::AssertionSuccess();
}

}  // namespace ilux::test::precond
