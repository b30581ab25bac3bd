#include "ilux/precond/rounds/replay_bounds.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ilux {
namespace {

void raise(double& most, double x)
{
    if (!(x <= most) && !std::isnan(most)) most = x;
}

}  // namespace

void WorstPivot::add(const WorstPivot& other)
{
    if (!(other.smallest >= smallest) && !std::isnan(smallest)) smallest = other.smallest;
    raise(growth, other.growth);
    raise(inverse_L, other.inverse_L);
    raise(inverse_U, other.inverse_U);
}

/// Written so that NaN is never good enough.
std::string why_not(const WorstPivot& worst, const RoundBounds& bounds)
{
    if (!(worst.smallest > bounds.pivot_floor))
        return fmt::format("a pivot is {:.3g}, and more than {:.3g} is needed", worst.smallest, bounds.pivot_floor);
    if (bounds.growth > 0 && !(worst.growth <= bounds.growth))
        return fmt::format("an update reaches {:.3g}, and at most {:.3g} will do", worst.growth, bounds.growth);
    const double inverse =
        worst.inverse_L >= worst.inverse_U || std::isnan(worst.inverse_L) ? worst.inverse_L : worst.inverse_U;
    if (!(inverse <= bounds.inverse))
        return fmt::format("the estimate of an inverse factor reaches {:.3g}, and at most {:.3g} will do", inverse,
                           bounds.inverse);
    return "";
}

std::string why_not_cut(double cut, double most)
{
    if (cut <= most) return "";
    return fmt::format("{:.3g} of a pivot's diagonal is cut in the mean, and at most {:.3g} may be", cut, most);
}

}  // namespace ilux
