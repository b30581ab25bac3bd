// The triangular systems of multilevel factors of real matrices, solved by every engine and checked row by row.
//
// The matrices are those of the folder $ILUX_MATRICES (.mtx, .mtx.gz) of at most 200,000 rows whose factors are there
// within 5 seconds. What was left out and how much was checked is printed.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"
#include "ilux/sptrsv/sptrsv.hpp"
#include "ilux/tests/precond/gpu/apply_checks.hpp"
#include "ilux/tests/sptrsv/systems.hpp"

namespace ilux {
namespace {

using namespace test::precond;
using test::identical;
using test::worst_row;

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr Index  most_rows = 200'000;
constexpr double setup_seconds = 5;

struct TooLong {};

fs::path folder()
{
    const char* given = std::getenv("ILUX_MATRICES");
    return given ? given : "";
}

std::set<fs::path> matrix_files()
{
    std::set<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder())) {
        const std::string name = entry.path().filename().string();
        const std::string plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
        if (plain.ends_with(".mtx") && !plain.ends_with("_b.mtx")) all.insert(entry.path());
    }
    return all;
}

/// With the depth bound of the parameter; 0: none.
class RealFactors : public testing::TestWithParam<Index> {
protected:
    void SetUp() override
    {
        if (folder().empty()) GTEST_SKIP()
        << "needs real matrices: set ILUX_MATRICES to a folder of .mtx files";
        ASSERT_TRUE(fs::is_directory(folder())) << "ILUX_MATRICES=" << folder();
    }
    void TearDown() override
    {
        if (!IsSkipped() && !folder().empty())
            std::cout << matrices_ << " matrices, " << systems_ << " systems, " << solves_ << " solves checked; "
                      << left_out_ << " matrices left out\n";
    }

    /// each(system, b) for every triangular system of M⁻¹ and M⁻ᵀ of every matrix, values as double and as float.
    template <class Each>
    void for_every_system(Each each)
    {
        for (const auto& path : matrix_files()) {
            SCOPED_TRACE(path.filename().string());
            try {
                const MlIlu factors = factor(path);
                ++matrices_;
                for (bool transposed : {false, true}) {
                    SCOPED_TRACE(transposed ? "transposed" : "as it is");
                    steps(systems_of<double>(factors, transposed), each);
                    if (const auto single = in_single(factors, transposed)) steps(*single, each);
                }
            } catch (const Error& why) {  // the reader's, of a matrix that is complex, say
                leave_out(path, why.what());
            } catch (const TooLong&) {
                leave_out(path, "its setup takes over 5 s");
            }
        }
    }

    /// Whether `solve`, which returns the solution for b, is backward stable, and the same each time.
    template <class T, class Solve>
    void expect_solves(const ForwardSystem<T>& system, const Vector& b, bool repeatable, Solve solve)
    {
        const Vector x = solve();
        EXPECT_LE(worst_row(system, b, x), 1);
        if (repeatable) {
            EXPECT_TRUE(identical(solve(), x));
        }
        ++solves_;
    }

private:
    static MlIlu<> factor(const fs::path& path)
    {
        const auto A = read_matrix(path.string());
        require(A.rows() <= most_rows, [&] { return std::to_string(A.rows()) + " rows"; });
        MlIluOptions options = for_gpu({.depth_bound = {GetParam()}});
        const auto   began = Clock::now();
        Cpu          cpu;
        return MlIlu<>::build(cpu, A, options, [&](const Progress&) {
            if (std::chrono::duration<double>(Clock::now() - began).count() > setup_seconds) throw TooLong{};
        });
    }

    static std::optional<ApplySystems<float>> in_single(const MlIlu<>& factors, bool transposed)
    {
        try {
            return systems_of<float>(factors, transposed);
        } catch (const InvalidInput&) {  // a value that float cannot hold
            return std::nullopt;
        }
    }

    template <class T, class Each>
    void steps(const ApplySystems<T>& systems, Each each)
    {
        for (std::size_t s = 0; s < systems.steps.size(); ++s) {
            if (systems.steps[s].dense) continue;
            SCOPED_TRACE("step " + std::to_string(s) + (sizeof(T) == sizeof(float) ? ", single" : ""));
            const auto&  system = systems.steps[s].system;
            const Vector b = test::random_vector(system.size(), s);
            Vector       x(b.size());
            solve_serial<T>(system, b, x);
            ASSERT_LE(worst_row(system, b, x), 1) << "the serial twin itself";
            each(system, b);
            ++systems_;
        }
    }

    void leave_out(const fs::path& path, const std::string& why)
    {
        std::cout << path.filename().string() << " is left out: " << why << '\n';
        ++left_out_;
    }

    long matrices_ = 0, systems_ = 0, solves_ = 0, left_out_ = 0;
};

std::string bound_name(const testing::TestParamInfo<Index>& info)
{
    return info.param == DepthBound::none ? "Unbounded" : "DepthBound" + std::to_string(info.param);
}
const auto bounds = testing::Values(8, 32, 128, DepthBound::none);

INSTANTIATE_TEST_SUITE_P(Host, RealFactors, bounds, bound_name);

TEST_P(RealFactors, AreSolvedInLevelOrderOnTheHost)
{
    Cpu two(2);
    for_every_system([&](const auto& system, const Vector& b) {
        const auto&      frame = system.frame;
        const SpTrsvPlan plan(system.L, Triangle::lower, Diagonal::unit, {.wide_level = 32});
        expect_solves(system, b, true, [&] {
            Vector x(b.size()), out(b.size());
            for (std::size_t i = 0; i < b.size(); ++i)
                x[i] = (frame.in_scale.empty() ? 1 : frame.in_scale[i]) *
                       b[frame.in_index.empty() ? i : frame.in_index[i]];
            plan.solve(two, x, x);
            for (std::size_t i = 0; i < b.size(); ++i)
                out[frame.out_index.empty() ? i : frame.out_index[i]] =
                    (frame.out_scale.empty() ? 1 : frame.out_scale[i]) * x[i];
            return out;
        });
    });
}

class GpuRealFactors : public RealFactors {
protected:
    void SetUp() override
    {
        ILUX_SKIP_WITHOUT_GPU();
        RealFactors::SetUp();
        gpu_ = std::make_unique<Gpu>();
    }

    template <class T>
    void expect_solves_with(GpuSpTrsvEngine engine, const ForwardSystem<T>& system, const Vector& b)
    {
        SCOPED_TRACE(field_text(engine));
        const GpuSpTrsvPlan<T> plan(*gpu_, system, engine);
        auto                   ws = plan.workspace(*gpu_);
        DeviceBuffer<double>   db(b.size()), dx(b.size());
        upload<double>(*gpu_, b, db);
        expect_solves(system, b, engine != GpuSpTrsvEngine::cusparse, [&] {
            Vector x(b.size(), std::nan(""));
            upload<double>(*gpu_, x, dx);
            plan.solve(*gpu_, db, dx, ws);
            download<double>(*gpu_, dx, x);
            return x;
        });
    }

private:
    std::unique_ptr<Gpu> gpu_;
};

INSTANTIATE_TEST_SUITE_P(Gpu, GpuRealFactors, bounds, bound_name);

TEST_P(GpuRealFactors, AreSolvedByEveryEngine)
{
    for_every_system([&]<class T>(const ForwardSystem<T>& system, const Vector& b) {
        for (auto engine : {GpuSpTrsvEngine::chunked, GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::level_graph,
                            GpuSpTrsvEngine::level_set, GpuSpTrsvEngine::cusparse}) {
            const bool both = engine == GpuSpTrsvEngine::chunked || engine == GpuSpTrsvEngine::syncfree;
            if (both || sizeof(T) == sizeof(double)) expect_solves_with(engine, system, b);
        }
    });
}

}  // namespace
}  // namespace ilux
