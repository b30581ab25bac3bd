// ilux_compare_cusp SYSTEM X PRECOND RTOL MAX_STEPS RESTART REPEATS: one system through CUSP's GMRES on a GPU, for
// `ilux compare`.
//
// Reads SYSTEM (system_file.hpp), writes X, and prints JSON objects, a line each, of which later ones add to earlier
// ones:
// {"begin": ...} once all is read and warmed up, {"seconds": {"transfer", "setup"}}, then the outcome, then medians.
//
// CUSP stops at ‖M(b − A x)‖₂, preconditioned from the left; the question here is ‖b − A x‖₂ ≤ rtol·‖b‖₂. So the first
// target is rtol·‖M b‖₂, and while the true residual does not hold, GMRES goes on from its x towards a smaller one.

#include <cusp/array1d.h>
#include <cusp/blas/blas.h>
#include <cusp/csr_matrix.h>
#include <cusp/gallery/poisson.h>
#include <cusp/krylov/gmres.h>
#include <cusp/linear_operator.h>
#include <cusp/multiply.h>
#include <cusp/precond/aggregation/smoothed_aggregation.h>
#include <cusp/precond/ainv.h>
#include <cusp/precond/diagonal.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "ilux/apps/input/system_file.hpp"

namespace {

using Space = cusp::device_memory;
using Matrix = cusp::csr_matrix<int, double, Space>;
using HostMatrix = cusp::csr_matrix<int, double, cusp::host_memory>;
using Vector = cusp::array1d<double, Space>;

constexpr double long_run = 1;         // seconds; a solve that takes longer is not repeated
constexpr int    idle_rounds = 3;      // without the true residual being halved: GMRES has stagnated
constexpr double least_factor = 1e-3;  // by which one round tightens the target at most

struct Asked {
    std::string system, x, precond;
    double      rtol = 1e-8;
    long        max_steps = 1000, restart = 30, repeats = 3;
};

struct Solved {
    const char* outcome = "max_steps";
    const char* detail = "";
    long        steps = 0, rounds = 0;  // rounds: calls of CUSP's GMRES
    double      relative_residual = 1, tested_residual = 1, target = 0, seconds = 0;
};

/// Seconds since it was made, all work of the device included.
class DeviceClock {
public:
    DeviceClock() { wait(); }
    double seconds() const
    {
        wait();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    static void wait()
    {
        if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess)
            throw std::runtime_error(cudaGetErrorString(error));
    }
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What CUSP asks whether it may stop: at a target that can be made smaller, at NaN and at the limit of steps in all.
class Target {
public:
    Target(double target, long limit) : target_(target), limit_(static_cast<size_t>(limit)) {}

    void   operator++() { ++steps_; }
    size_t iteration_count() const { return steps_; }
    size_t iteration_limit() const { return limit_; }
    template <class Residual>
    bool finished(const Residual& r)
    {
        tested_ = cusp::blas::nrm2(r);
        return !(tested_ > target_) || !std::isfinite(tested_) || steps_ >= limit_;
    }
    double tested() const { return tested_; }
    double target() const { return target_; }
    void   tighten(double target) { target_ = target; }

private:
    double target_, tested_ = INFINITY;
    size_t steps_ = 0, limit_;
};

/// z ← M r by CUSP's multigrid cycle. GMRES calls it with r and z in one array, and the cycle clears z before it reads
/// r.
class Cycle : public cusp::linear_operator<double, Space> {
public:
    explicit Cycle(const Matrix& A)
        : cusp::linear_operator<double, Space>(A.num_rows, A.num_cols, A.num_rows),
          M_(A),
          r_(A.num_rows),
          z_(A.num_rows)
    {}
    template <class R, class Z>
    void operator()(const R& r, Z&& z) const
    {
        cusp::blas::copy(r, r_);
        M_(r_, z_);
        cusp::blas::copy(z_, z);
    }

private:
    mutable cusp::precond::aggregation::smoothed_aggregation<int, double, Space> M_;
    mutable Vector                                                               r_, z_;
};

double true_residual(const Matrix& A, const Vector& x, const Vector& b)
{
    Vector r(b.size());
    cusp::multiply(A, x, r);
    cusp::blas::axpby(b, r, r, 1.0, -1.0);
    return cusp::blas::nrm2(r);
}

/// From x = 0 until the true residual holds, the steps are used up, or nothing is gained any more.
template <class Precond>
Solved solve(const Matrix& A, Precond& M, const Vector& b, Vector& x, const Asked& asked)
{
    const DeviceClock clock;
    Solved            solved;
    cusp::blas::fill(x, 0.0);
    Vector z(b.size());
    cusp::multiply(M, b, z);
    const double norm_b = cusp::blas::nrm2(b), norm_Mb = cusp::blas::nrm2(z);
    Target       target(asked.rtol * norm_Mb, asked.max_steps);
    int          idle = 0;
    const auto   end = [&](const char* outcome, const char* detail) {
        solved.outcome = outcome;
        solved.detail = detail;
    };
    for (bool going = true; going;) {
        const double before = solved.relative_residual;
        const auto   steps_before = target.iteration_count();
        cusp::krylov::gmres(A, x, b, static_cast<size_t>(asked.restart), target, M);
        ++solved.rounds;
        const double residual = true_residual(A, x, b);
        solved.relative_residual = norm_b > 0 ? residual / norm_b : residual;
        solved.tested_residual = norm_Mb > 0 ? target.tested() / norm_Mb : target.tested();
        const bool moved = target.iteration_count() > steps_before;
        idle = moved && !(solved.relative_residual <= 0.5 * before) ? idle + 1 : 0;
        going = false;
        if (!std::isfinite(solved.relative_residual) || !std::isfinite(target.tested()))
            end("not_finite", "NaN or Inf in x or in its preconditioned residual");
        else if (solved.relative_residual <= asked.rtol) end("converged", "");
        else if (target.iteration_count() >= target.iteration_limit()) end("max_steps", "");
        else if (target.tested() == 0) end("breakdown", "M (b - A x) = 0, though b - A x is not");
        else if (idle == idle_rounds) end("stagnated", "smaller targets no longer make the true residual smaller");
        else going = true;
        if (!going) break;
        target.tighten(target.tested() * std::clamp(asked.rtol / solved.relative_residual / 2, least_factor, 0.5));
    }
    solved.steps = static_cast<long>(target.iteration_count());
    solved.target = norm_Mb > 0 ? target.target() / norm_Mb : target.target();
    solved.seconds = clock.seconds();
    return solved;
}

/// JSON knows no NaN and no Inf.
std::string number(double value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::isfinite(value) ? text : "null";
}

void print(const std::string& line)
{
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

void print(const Solved& solved)
{
    print(std::string("{\"outcome\": \"") + solved.outcome + "\", \"detail\": \"" + solved.detail +
          "\", \"steps\": " + std::to_string(solved.steps) + ", \"rounds\": " + std::to_string(solved.rounds) +
          ", \"claimed_residual\": " + number(solved.relative_residual) +
          ", \"tested_residual\": " + number(solved.tested_residual) + ", \"tested_target\": " + number(solved.target) +
          ", \"seconds\": {\"solve\": " + number(solved.seconds) + "}}");
}

/// A copy of the host's arrays in CUSP's own.
HostMatrix host_matrix(const ilux::app::RawSystem& system)
{
    const size_t n = system.b.size();
    if (system.val.size() > INT_MAX) throw std::length_error("more entries than CUSP's 32-bit positions can count");
    HostMatrix A(n, n, system.val.size());
    std::copy(system.row_ptr.begin(), system.row_ptr.end(), A.row_offsets.begin());
    std::copy(system.col.begin(), system.col.end(), A.column_indices.begin());
    std::copy(system.val.begin(), system.val.end(), A.values.begin());
    return A;
}

std::vector<double> on_host(const Vector& x)
{
    const cusp::array1d<double, cusp::host_memory> copy(x);
    return {copy.begin(), copy.end()};
}

/// The first calls load kernels and make contexts: a small grid pays for them.
template <class MakePrecond>
void warm_up(const MakePrecond& make, const Asked& asked)
{
    Matrix A;
    cusp::gallery::poisson5pt(A, 60, 60);
    Vector     x(A.num_rows), b(A.num_rows, 1.0);
    const auto M = make(A);
    solve(A, *M, b, x, asked);
}

/// Whatever comes first is timed once; solves that are short, again and again.
template <class MakePrecond>
void measure(const MakePrecond& make, const Asked& asked)
{
    const ilux::app::RawSystem system = ilux::app::read_system(asked.system);
    const HostMatrix           host = host_matrix(system);
    warm_up(make, asked);
    print("{\"begin\": \"" + asked.precond + "\"}");

    const DeviceClock transferring;
    const Matrix      A(host);
    const Vector      b(system.b.begin(), system.b.end());
    Vector            x(b.size());
    const double      transfer = transferring.seconds();
    const DeviceClock setting_up;
    const auto        M = make(A);
    const double      setup = setting_up.seconds();
    print("{\"seconds\": {\"transfer\": " + number(transfer) + ", \"factor\": " + number(setup) + "}}");

    Solved solved = solve(A, *M, b, x, asked);
    ilux::app::write_doubles(asked.x, on_host(x));
    print(solved);
    if (solved.seconds > long_run) return;
    std::vector<double> seconds;
    for (long k = 0; k < asked.repeats; ++k) seconds.push_back(solve(A, *M, b, x, asked).seconds);
    std::sort(seconds.begin(), seconds.end());
    print("{\"seconds\": {\"solve\": " + number(seconds[seconds.size() / 2]) + "}}");
}

/// Without a device CUSP's first call would blame the memory.
void require_device()
{
    if (const cudaError_t error = cudaFree(nullptr); error != cudaSuccess)
        throw std::runtime_error(std::string("no GPU can be used: ") + cudaGetErrorString(error));
}

void run(const Asked& asked)
{
    require_device();
    if (asked.precond == "none")
        measure([](const Matrix&
                       A) { return std::make_unique<cusp::identity_operator<double, Space>>(A.num_rows, A.num_cols); },
                asked);
    else if (asked.precond == "diagonal")
        measure([](const Matrix& A) { return std::make_unique<cusp::precond::diagonal<double, Space>>(A); }, asked);
    else if (asked.precond == "nonsym_bridson_ainv")
        measure([](const Matrix& A) { return std::make_unique<cusp::precond::nonsym_bridson_ainv<double, Space>>(A); },
                asked);
    else if (asked.precond == "smoothed_aggregation")
        measure([](const Matrix& A) { return std::make_unique<Cycle>(A); }, asked);
    else throw std::invalid_argument("no preconditioner '" + asked.precond + "'");
}

/// JSON text between quotes.
std::string quotable(std::string text)
{
    for (char& c : text)
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = ' ';
    return text;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 8) {
        std::fputs(
            "usage: ilux_compare_cusp SYSTEM X PRECOND RTOL MAX_STEPS RESTART REPEATS; `ilux compare` starts it\n",
            stderr);
        return 1;
    }
    try {
        run({argv[1], argv[2], argv[3], std::stod(argv[4]), std::stol(argv[5]), std::stol(argv[6]),
             std::stol(argv[7])});
    } catch (const std::bad_alloc& error) {
        print("{\"outcome\": \"out_of_memory\", \"detail\": \"" + quotable(error.what()) + "\"}");
    } catch (const std::exception& error) {
        print("{\"error\": \"" + quotable(error.what()) + "\"}");
    }
    return 0;
}
