#include "ilux/fuzz/solver_script.hpp"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "ilux/apps/input/options_json.hpp"
#include "ilux/fuzz/expect.hpp"

namespace ilux::fuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double ordinary[] = {1, -1, 2, 0.5, 3, -7, 0.1, 10, 1e-3, 1e3, 4, -0.3, 1.0000000000000002, 100, -20, 1.5};
constexpr double extreme[] = {0,     -0.0,   1e-8,   1e8,     1e-16,   1e16,     1e-12,  -1e12,   1e150,  -1e-150,
                              1e300, -1e300, 1e-300, -1e-300, 1.7e308, 2.3e-308, 5e-324, -1e-310, 1e-160, 1e160};
constexpr double not_finite[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};

// What an options text may be, besides any text from the input.
constexpr const char* assignments[] = {"method=gmres",
                                       "method=fgmres",
                                       "method=bicg",
                                       "method=bicgstab",
                                       "method=cg",
                                       "method=minres",
                                       "method=sqmr",
                                       "method=cocg",
                                       "method=lu",
                                       "mode=auto",
                                       "mode=direct",
                                       "mode=iterative",
                                       "device=cpu",
                                       "device=gpu",
                                       "device_memory=1M",

                                       "retry=off",
                                       "time_limit=0",
                                       "time_limit=1e-9",
                                       "time_limit=1e-3",
                                       "time_limit=0.5",
                                       "memory_limit=1",
                                       "memory_limit=1K",
                                       "memory_limit=16K",
                                       "memory_limit=1M",
                                       "krylov.rtol=0",
                                       "krylov.rtol=1e-15",
                                       "krylov.rtol=1e-12",
                                       "krylov.rtol=1e-3",
                                       "krylov.rtol=0.5",
                                       "krylov.rtol=1",
                                       "krylov.etol=0",
                                       "krylov.etol=1e-10",
                                       "krylov.etol=1",
                                       "krylov.max_steps=0",
                                       "krylov.max_steps=1",
                                       "krylov.max_steps=2",
                                       "krylov.max_steps=20",
                                       "krylov.restart=1",
                                       "krylov.restart=2",
                                       "krylov.restart=5",
                                       "krylov.restart=2147483647",
                                       "krylov.side=left",
                                       "krylov.stop=backward_error",
                                       "krylov.stop=rowwise",
                                       "krylov.stop=error",
                                       "krylov.ortho=cgs2",
                                       "krylov.ortho=mgso_hybrid",
                                       "krylov.reorthogonalize=0",
                                       "krylov.reorthogonalize=1",
                                       "precond.kind=ilu0",
                                       "precond.kind=jacobi",
                                       "precond.kind=none",
                                       "precond.precision=single",
                                       "precond.drop_tol=0",
                                       "precond.drop_tol=1",
                                       "precond.drop_tol=0.3",
                                       "precond.schur_drop_tol=0",
                                       "precond.schur_drop_tol=1",
                                       "precond.inverse_bound=1",
                                       "precond.inverse_bound=inf",
                                       "precond.growth_bound=0",
                                       "precond.growth_bound=1e-3",
                                       "precond.matching=on",
                                       "precond.matching=off",
                                       "precond.ordering=rcm",
                                       "precond.ordering=metis",
                                       "precond.ordering=none",
                                       "precond.off_diagonal=save",
                                       "precond.off_diagonal=keep",
                                       "precond.estimator=look_ahead",
                                       "precond.scaling=off",
                                       "precond.definite=on",
                                       "precond.depth_bound=1",
                                       "precond.depth_bound=none",
                                       "precond.dense_order=0",
                                       "precond.dense_order=1000",
                                       "memory_limit=2K",
                                       "lu.ordering=amd",
                                       "lu.ordering=colamd",
                                       "lu.ordering=metis",
                                       "lu.ordering=none",
                                       "lu.matching=on",
                                       "lu.matching=off",
                                       "lu.scaling=matching",
                                       "lu.scaling=none",
                                       "lu.blocks=off",
                                       "lu.pivot_tol=0",
                                       "lu.pivot_tol=1",
                                       "lu.growth_limit=1",
                                       "lu.growth_limit=inf",
                                       "lu.refine_steps=0",
                                       "lu.refine_steps=1",
                                       "lu.refine_target=1",
                                       "lu.refactor=cpu",
                                       "lu.refactor=islu",
                                       "lu.index=lookup",
                                       "lu.deterministic=on",
                                       "memory_limit=4K",
                                       "sptrsv.engine=level_set",
                                       "sequence.refresh_factor=1",
                                       "sequence.refresh_factor=inf",
                                       "sequence.reuse_x=on",
                                       "precond.kind=mlilu",
                                       "krylov.stop=residual",
                                       "sequence.reuse_x=on"};

/// A number from two others that looks like any; the same for the same.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t z = (a + 1) * 0x9e3779b97f4a7c15 + (b + 1) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

class Decoder {
public:
    Decoder(const std::uint8_t* data, std::size_t size) : input_(data, size) {}

    SolverScript run()
    {
        SolverScript script{.options = options(), .twice = up_to(3) == 3, .calls = {}};
        automatic_ = script.options.strategy() == SolverMode::automatic;
        constexpr std::size_t most = 12;
        while (script.calls.size() < most && (script.calls.empty() || input_.remaining_bytes() > 0))
            script.calls.push_back(call(script.calls.empty()));
        return script;
    }

private:
    int up_to(int most) { return input_.ConsumeIntegralInRange<int>(0, most); }

    static app::SolveOptions by_config(const app::SolveOptions& options)
    {
        app::SolveOptions read;
        app::read_config(read, app::to_json(options).dump(), "config");
        expect(app::changed_options(read, options).empty(), "options are read as they were written");
        return read;
    }

    /// By the text of -p, and sometimes of a config file, as the program has them.
    SolverOptions options()
    {
        app::SolveOptions options;
        const auto        assign = [&](const std::string& text) {
            try {
                app::assign(options, text);
            } catch (const InvalidOption&) {  // text of the input's own
            }
        };
        for (int count = up_to(8); count > 0; --count) assign(input_.PickValueInArray(assignments));
        if (up_to(15) == 15) assign(input_.ConsumeRandomLengthString(40));
        options.rhs.clear();  // which may be no UTF-8, and is not the solver's
        options.threads = 1;  // more wait for one another, on a busy machine for seconds
        options.krylov.max_steps = std::min(options.krylov.max_steps, 300);
        if (options.time_limit > 0.5 && options.time_limit != SolverOptions().time_limit) options.time_limit = 0.5;
        return up_to(15) == 15 ? by_config(options) : options;
    }

    /// The numbers of one matrix or vector are taken from few, so that an input of some bytes fills many.
    Vector palette()
    {
        const int wildness = up_to(15);
        Vector    numbers(static_cast<std::size_t>(1 + up_to(7)));
        for (double& number : numbers) {
            number = input_.PickValueInArray(ordinary);
            if (wildness > 7) number = up_to(1) == 0 ? number : input_.PickValueInArray(extreme);
            if (wildness == 15 && up_to(3) == 0) number = input_.PickValueInArray(not_finite);
        }
        return numbers;
    }

    Vector filled(std::size_t size)
    {
        const Vector numbers = palette();
        const auto   seed = input_.ConsumeIntegral<std::uint8_t>();
        Vector       values(size);
        for (std::size_t p = 0; p < size; ++p) values[p] = numbers[mixed(seed, p) % numbers.size()];
        return values;
    }

    Index order()
    {
        const int n = up_to(63);
        return n <= 40 ? n : n == 63 && automatic_ ? 75 : n - 41;
    }

    CsrMatrix<double> matrix(Index n)
    {
        const int   kind = n > 40 ? 2 : up_to(7);
        const auto  seed = input_.ConsumeIntegral<std::uint16_t>();
        const auto  density = static_cast<std::uint64_t>(1 + up_to(15));
        const Index cols = up_to(63) == 63 ? n + 1 : n;
        const auto  present = [&](Index i, Index j) {
            const Index apart = std::abs(i - j);
            const bool  random = mixed(seed, static_cast<std::uint64_t>(i) * 1000 + j) % 64 < density;
            switch (kind) {
                case 0:
                    return apart == 0;
                case 1:
                    return apart <= 1;
                case 2:
                    return true;
                case 3:
                    return apart == 0 || i == 0 || j == 0;
                case 4:
                    return apart == 0 || random;
                case 5:
                    return random;  // with empty rows and columns
                case 6:
                    return i <= j && (apart == 0 || random);
                default:
                    return apart <= 1 || apart == 6;
            }
        };
        std::vector<Offset> row_ptr(1, 0);
        std::vector<Index>  col;
        for (Index i = 0; i < n; ++i) {
            for (Index j = 0; j < cols; ++j)
                if (present(i, j)) col.push_back(j);
            row_ptr.push_back(std::ssize(col));
        }
        const std::size_t nnz = col.size();
        auto A = CsrMatrix<double>::from_sorted(n, cols, std::move(row_ptr), std::move(col), Vector(nnz, 1));
        set_values(A);
        return A;
    }

    /// Symmetric or not, rows and columns of sizes far apart or not, row sums 0 or a heavy diagonal or neither.
    void set_values(CsrMatrix<double>& A)
    {
        const Vector  numbers = palette();
        const auto    seed = input_.ConsumeIntegral<std::uint8_t>(), form = input_.ConsumeIntegral<std::uint8_t>();
        const bool    symmetric = (form & 1) != 0;
        constexpr int spreads[] = {0, 0, 0, 8, 30, 60, 250, 500};
        const int     spread = spreads[(form >> 1) & 7], diagonal = (form >> 4) & 3;
        const auto    scale = [&](Index i, unsigned side) {
            return std::ldexp(1.0, spread == 0 ? 0 : static_cast<int>(mixed(seed + side, i) % (2 * spread)) - spread);
        };
        for (Index i = 0; i < A.rows(); ++i) {
            double sum = 0;
            Offset at = -1;
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                const Index j = A.col()[p], low = symmetric ? std::min(i, j) : i, high = symmetric ? std::max(i, j) : j;
                const auto  place = static_cast<std::uint64_t>(low) * 1000 + high;
                A.val()[p] =
                    numbers[mixed(seed, place) % numbers.size()] * scale(i, 100) * scale(j, symmetric ? 100 : 200);
                if (i == j) at = p;
                else sum += diagonal == 1 ? A.val()[p] : std::abs(A.val()[p]);
            }
            if (at >= 0 && diagonal == 1) A.val()[at] = -sum;  // singular
            if (at >= 0 && diagonal == 2) A.val()[at] = sum + scale(i, 100);
        }
    }

    std::size_t count(Offset right)
    {
        const int wrong = up_to(31);
        return static_cast<std::size_t>(std::max<Offset>(wrong == 31 ? right - 1 : wrong == 30 ? right + 1 : right, 0));
    }

    Vector right_hand_side()
    {
        const std::size_t n = count(last_.rows());
        Vector            b(n, 1.0);
        switch (up_to(3)) {
            case 0:
                break;
            case 1:
                for (Index i = 0; i < last_.rows() && i < std::ssize(b); ++i) {
                    b[i] = 0;
                    for (Offset p = last_.row_ptr()[i]; p < last_.row_ptr()[i + 1]; ++p) b[i] += last_.val()[p];
                }
                break;
            case 2:
                b.assign(n, up_to(1) == 0 ? 0 : 5e-324);
                break;
            default:
                b = filled(n);
        }
        return b;
    }

    Vector guess() { return up_to(7) == 7 ? filled(count(last_.rows())) : Vector(count(last_.rows()), 0.0); }

    /// In the pattern analysed last.
    Vector values()
    {
        CsrMatrix<double> A = last_;
        set_values(A);
        last_ = A;
        Vector all(A.val().begin(), A.val().end());
        all.resize(count(A.nnz()), 1.0);
        return all;
    }

    ScriptCall call(bool first)
    {
        using Kind = ScriptCall::Kind;
        ScriptCall call{.kind = first ? Kind::analyse : input_.ConsumeEnum<Kind>()};
        switch (call.kind) {
            case Kind::analyse: {
                constexpr double counts[] = {1, 3, 0, -1, 1e9, infinity, std::numeric_limits<double>::quiet_NaN(), 2};
                call.systems = input_.PickValueInArray(counts);
                call.A = matrix(order());
                last_ = call.A;
                break;
            }
            case Kind::factor_values:
            case Kind::refactor_values:
                call.values = values();
                break;
            case Kind::refactor_matrix:
                if (up_to(7) == 7) call.A = matrix(last_.rows());  // another pattern as a rule
                else {
                    set_values(last_);
                    call.A = last_;
                }
                break;
            case Kind::refactor_and_solve:
                call.values = values();
                [[fallthrough]];
            case Kind::solve:
                call.b = right_hand_side();
                call.x = guess();
                break;
            case Kind::listen:
                call.questions = up_to(64) - 1;
                call.fault_after = up_to(4) - 1;
                break;
            default:
                break;
        }
        return call;
    }

    FuzzedDataProvider input_;
    CsrMatrix<double>  last_;  // as the caller has it
    bool               automatic_ = false;
};

}  // namespace

SolverScript solver_script(const std::uint8_t* data, std::size_t size) { return Decoder(data, size).run(); }

}  // namespace ilux::fuzz
