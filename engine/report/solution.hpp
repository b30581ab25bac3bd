#pragma once
// A vector that is real or complex, as the system is.

#include <complex>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "ilux/base/scalar.hpp"

namespace ilux {

/// x of a try. Empty and real to begin with.
class Solution {
public:
    Solution() = default;
    template <Scalar S>
    Solution(std::vector<S> x) : x_(Values<S>{std::move(x)})
    {}

    std::size_t size() const;
    bool        is_complex() const { return x_.index() == 1; }
    bool        is_finite() const;
    void        set_to_zero();  ///< the size stays

    /// @throws std::bad_variant_access where it is of the other type
    template <Scalar S>
    std::vector<S>& of()
    {
        return std::get<Values<S>>(x_).values;
    }
    template <Scalar S>
    const std::vector<S>& of() const
    {
        return std::get<Values<S>>(x_).values;
    }

private:
    /// A variant of bare vectors is destroyed wrongly by libstdc++ 12 where its copy finds no memory.
    template <Scalar S>
    struct Values {
        std::vector<S> values;
    };

    std::variant<Values<double>, Values<std::complex<double>>> x_;
};

}  // namespace ilux
