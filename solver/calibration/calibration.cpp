#include "ilux/solver/calibration/calibration.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/engine/machine/forecast.hpp"

namespace ilux {
namespace {

/// Rates of one engine, which a machine has all faster or slower.
using Engine = std::initializer_list<double*>;

class Calibration {
public:
    Calibration(const ProbeClock& seconds_of, Gpu* gpu) : seconds_of_(seconds_of), gpu_(gpu) {}

    Rates run()
    {
        lu_by_entries();
        lu_by_fronts();
        order();
        crout();
        rounds();
        if (gpu_ != nullptr) fronts_on_gpu();
        rates_.origin = "of a calibration";
        return rates_;
    }

private:
    void scale(const Engine& engine, double measured, double expected)
    {
        for (double* rate : engine) *rate *= measured / expected;
    }

    void lu_by_entries()
    {
        const auto A = gallery::build("convdiff2d:n=150");
        LuOptions  options;
        options.supernodes = LuSupernodes::off;
        const auto   symbolic = analyse(view(A), options);
        const double measured = seconds_of_("LU by entries", [&] { factor(symbolic, A, nullptr); });
        const double nnz = symbolic->report.nnz + double(A.nnz());
        scale({&rates_.entry_flop, &rates_.entry_number, &rates_.entry_check, &rates_.entry_refactor,
               &rates_.solve_number},
              measured, rates_.entry_flop * symbolic->report.flops + rates_.entry_number * nnz);
    }

    void lu_by_fronts()
    {
        const auto   A = gallery::build("convdiff3d:n=26");
        const auto   symbolic = analyse(view(A));
        const double measured = seconds_of_("LU by fronts", [&] { factor(symbolic, A, nullptr); });
        scale({&rates_.front_flop, &rates_.front_number, &rates_.front_check, &rates_.front_solve}, measured,
              rates_.front_flop * symbolic->report.flops + rates_.front_number * symbolic->report.nnz);
    }

    void order()
    {
        const auto   A = gallery::build("convdiff2d:n=400");
        const double measured = seconds_of_("order", [&] { (void)analyse(view(A)); });
        scale({&rates_.order_arc, &rates_.analysis_entry}, measured,
              (rates_.order_arc + rates_.analysis_entry) * double(A.nnz()));
    }

    void crout()
    {
        const auto   A = gallery::build("elasticity2d:n=100");
        MlIluOptions options;
        options.setup = MlIluSetup::crout;
        const double         measured = seconds_of_("Crout's sweep", [&] { made(A, options); });
        const IterationFacts facts{.entries = double(A.nnz()) + A.rows(), .fill = made(A, options).report().fill};
        scale({&rates_.crout_entry}, measured, forecast_iterative(facts, {}, rates_).factor);
    }

    void rounds()
    {
        const auto   A = gallery::build("convdiff3d:n=40");
        MlIluOptions options;
        options.setup = MlIluSetup::rounds;
        const double entries = double(A.nnz()) + A.rows();
        scale({&rates_.rounds_entry}, seconds_of_("rounds", [&] { made(A, options); }), rates_.rounds_entry * entries);

        constexpr int         steps = 20;
        const MlIlu<>         M = made(A, options);
        MlIluPreconditioner<> apply(M);
        std::vector<double>   r(A.rows(), 1), z(A.rows());
        const double          measured = seconds_of_("steps", [&] {
            for (int k = 0; k < steps; ++k) {
                spmv<double>(serial_, 1, A, r, 0, z);
                apply.apply(serial_, r, z);
            }
        });
        scale({&rates_.step_number, &rates_.iteration_entry}, measured,
              steps * rates_.step_number * (1 + M.report().fill) * double(A.nnz()));
    }

    void fronts_on_gpu()
    {
        const auto   A = gallery::build("convdiff3d:n=40");
        const auto   symbolic = analyse(view(A));
        const double measured = seconds_of_("LU by fronts on the GPU", [&] { factor(symbolic, A, gpu_); });
        scale({&rates_.gpu_front_start, &rates_.gpu_front_entry, &rates_.gpu_front_flop, &rates_.gpu_front_check},
              measured,
              rates_.gpu_front_start + rates_.gpu_front_entry * double(A.nnz()) +
                  rates_.gpu_front_flop * symbolic->report.flops);
    }

    void factor(const std::shared_ptr<const LuSymbolic>& symbolic, const CsrMatrix<double>& A, Gpu* gpu)
    {
        Lu<> lu(serial_, symbolic);
        if (gpu != nullptr) lu.use_gpu(*gpu);
        (void)lu.factor(A.val());  // its problem has an LU
    }
    MlIlu<> made(const CsrMatrix<double>& A, const MlIluOptions& options)
    {
        return MlIlu<>::build(serial_, A, options);
    }

    const ProbeClock& seconds_of_;
    Gpu*              gpu_;
    Cpu               serial_ = Cpu(1);
    Rates             rates_;
};

}  // namespace

ProbeClock wall_clock_of_three()
{
    return [](std::string_view, const std::function<void()>& work) {
        double fastest = std::numeric_limits<double>::infinity();
        for (int k = 0; k < 3; ++k) {
            const WallClock clock;
            work();
            fastest = std::min(fastest, clock.seconds());
        }
        return fastest;
    };
}

Rates calibrated(const ProbeClock& seconds_of, Gpu* gpu) { return Calibration(seconds_of, gpu).run(); }

}  // namespace ilux
