// AmgX: all of it on the GPU.

#include <amgx_c.h>
#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "ilux/base/wall_clock.hpp"
#include "ilux/lab/rivals/rival_device.hpp"
#include "ilux/lab/rivals/rival_library.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {
namespace {

/// ILUX_AMGX_LIBRARY is the path of the library whose header was found.
struct AmgxLibrary : RivalLibrary {
    decltype(&::AMGX_initialize)                        initialize = nullptr;
    decltype(&::AMGX_register_print_callback)           register_print_callback = nullptr;
    decltype(&::AMGX_get_build_info_strings)            get_build_info = nullptr;
    decltype(&::AMGX_get_error_string)                  get_error_string = nullptr;
    decltype(&::AMGX_config_create)                     create_config = nullptr;
    decltype(&::AMGX_config_destroy)                    destroy_config = nullptr;
    decltype(&::AMGX_resources_create_simple)           create_resources = nullptr;
    decltype(&::AMGX_resources_destroy)                 destroy_resources = nullptr;
    decltype(&::AMGX_matrix_create)                     create_matrix = nullptr;
    decltype(&::AMGX_matrix_destroy)                    destroy_matrix = nullptr;
    decltype(&::AMGX_matrix_upload_all)                 upload_matrix = nullptr;
    decltype(&::AMGX_vector_create)                     create_vector = nullptr;
    decltype(&::AMGX_vector_destroy)                    destroy_vector = nullptr;
    decltype(&::AMGX_vector_bind)                       bind_vector = nullptr;
    decltype(&::AMGX_vector_upload)                     upload_vector = nullptr;
    decltype(&::AMGX_vector_download)                   download_vector = nullptr;
    decltype(&::AMGX_solver_create)                     create_solver = nullptr;
    decltype(&::AMGX_solver_destroy)                    destroy_solver = nullptr;
    decltype(&::AMGX_solver_setup)                      set_up = nullptr;
    decltype(&::AMGX_solver_solve_with_0_initial_guess) solve_from_zero = nullptr;
    decltype(&::AMGX_solver_get_iterations_number)      get_steps = nullptr;

    AmgxLibrary() : RivalLibrary({"libamgxsh.so", ILUX_AMGX_LIBRARY})
    {
        find("AMGX_initialize", initialize);
        find("AMGX_register_print_callback", register_print_callback);
        find("AMGX_get_build_info_strings", get_build_info);
        find("AMGX_get_error_string", get_error_string);
        find("AMGX_config_create", create_config);
        find("AMGX_config_destroy", destroy_config);
        find("AMGX_resources_create_simple", create_resources);
        find("AMGX_resources_destroy", destroy_resources);
        find("AMGX_matrix_create", create_matrix);
        find("AMGX_matrix_destroy", destroy_matrix);
        find("AMGX_matrix_upload_all", upload_matrix);
        find("AMGX_vector_create", create_vector);
        find("AMGX_vector_destroy", destroy_vector);
        find("AMGX_vector_bind", bind_vector);
        find("AMGX_vector_upload", upload_vector);
        find("AMGX_vector_download", download_vector);
        find("AMGX_solver_create", create_solver);
        find("AMGX_solver_destroy", destroy_solver);
        find("AMGX_solver_setup", set_up);
        find("AMGX_solver_solve_with_0_initial_guess", solve_from_zero);
        find("AMGX_solver_get_iterations_number", get_steps);
    }
};

const AmgxLibrary& amgx()
{
    static const AmgxLibrary library;
    return library;
}

void check_amgx(AMGX_RC code, const char* call)
{
    if (code == AMGX_RC_OK) return;
    std::array<char, 1024> words{};
    amgx().get_error_string(code, words.data(), static_cast<int>(words.size()));
    throw InvalidInput(std::string("AmgX: ") + call + ": " + words.data());
}

/// It stays for the whole process, and says nothing.
void start_amgx()
{
    static const bool started = [] {
        if (const std::string why = why_no_amgx(); !why.empty()) throw InvalidInput(why);
        require_gpu("AmgX");
        check_amgx(amgx().initialize(), "AMGX_initialize");
        amgx().register_print_callback([](const char*, int) {});
        return true;
    }();
    static_cast<void>(started);
}

/// Classical AMG: PMIS, D2 with 4 entries a row, one sweep of ℓ₁-Jacobi before and after, a V cycle.
std::string configuration(const char* krylov, const RivalTask& task)
{
    return fmt::format(
        "config_version=2, solver(main)={}, main:gmres_n_restart={}, main:max_iters={}, main:tolerance={:.17g}, "
        "main:convergence=RELATIVE_INI_CORE, main:norm=L2, main:monitor_residual=1, main:preconditioner(amg)=AMG, "
        "amg:algorithm=CLASSICAL, amg:selector=PMIS, amg:interpolator=D2, amg:interp_max_elements=4, "
        "amg:max_row_sum=0.9, amg:strength_threshold=0.25, amg:smoother(jacobi)=JACOBI_L1, "
        "jacobi:relaxation_factor=1, jacobi:monitor_residual=0, amg:presweeps=1, amg:postsweeps=1, amg:cycle=V, "
        "amg:max_iters=1, amg:max_levels=50, amg:coarse_solver(coarse)=DENSE_LU_SOLVER, amg:monitor_residual=0",
        krylov, task.restart, task.max_steps, task.rtol);
}

/// One system there, and what solves it.
class AmgxSystem {
public:
    explicit AmgxSystem(const std::string& options)
    {
        check_amgx(amgx().create_config(&config_, options.c_str()), "AMGX_config_create");
        check_amgx(amgx().create_resources(&resources_, config_), "AMGX_resources_create_simple");
        check_amgx(amgx().create_matrix(&A_, resources_, AMGX_mode_dDDI), "AMGX_matrix_create");
        check_amgx(amgx().create_vector(&b_, resources_, AMGX_mode_dDDI), "AMGX_vector_create");
        check_amgx(amgx().create_vector(&x_, resources_, AMGX_mode_dDDI), "AMGX_vector_create");
        check_amgx(amgx().create_solver(&solver_, resources_, AMGX_mode_dDDI, config_), "AMGX_solver_create");
    }
    AmgxSystem(const AmgxSystem&) = delete;
    AmgxSystem& operator=(const AmgxSystem&) = delete;
    ~AmgxSystem()
    {
        if (solver_ != nullptr) amgx().destroy_solver(solver_);
        if (x_ != nullptr) amgx().destroy_vector(x_);
        if (b_ != nullptr) amgx().destroy_vector(b_);
        if (A_ != nullptr) amgx().destroy_matrix(A_);
        if (resources_ != nullptr) amgx().destroy_resources(resources_);
        if (config_ != nullptr) amgx().destroy_config(config_);
    }

    void set_up(const CsrView<double>& A, const std::vector<int>& row_ptr)
    {
        check_amgx(amgx().upload_matrix(A_, A.rows(), static_cast<int>(A.nnz()), 1, 1, row_ptr.data(), A.col().data(),
                                        A.val().data(), nullptr),
                   "AMGX_matrix_upload_all");
        check_amgx(amgx().set_up(solver_, A_), "AMGX_solver_setup");
        await_device("AmgX");
    }
    void take(std::span<const double> b)
    {
        const std::vector<double> zeros(b.size());
        for (const auto& [vector, values] : {std::pair{b_, b.data()}, std::pair{x_, zeros.data()}}) {
            check_amgx(amgx().bind_vector(vector, A_), "AMGX_vector_bind");
            check_amgx(amgx().upload_vector(vector, static_cast<int>(b.size()), 1, values), "AMGX_vector_upload");
        }
        await_device("AmgX");
    }
    Index solve()
    {
        int steps = 0;
        check_amgx(amgx().solve_from_zero(solver_, b_, x_), "AMGX_solver_solve_with_0_initial_guess");
        await_device("AmgX");
        check_amgx(amgx().get_steps(solver_, &steps), "AMGX_solver_get_iterations_number");
        return steps;
    }
    void hand_out(std::vector<double>& x) { check_amgx(amgx().download_vector(x_, x.data()), "AMGX_vector_download"); }

private:
    AMGX_config_handle    config_ = nullptr;
    AMGX_resources_handle resources_ = nullptr;
    AMGX_matrix_handle    A_ = nullptr;
    AMGX_vector_handle    b_ = nullptr, x_ = nullptr;
    AMGX_solver_handle    solver_ = nullptr;
};

RivalAnswer solved(const RivalTask& task, const char* krylov)
{
    if (task.A.nnz() > std::numeric_limits<int>::max())
        throw InvalidInput("AmgX: more entries than its 32-bit positions can count");
    start_amgx();
    const std::vector<int> row_ptr(task.A.row_ptr().begin(), task.A.row_ptr().end());
    AmgxSystem             system(configuration(krylov, task));
    RivalAnswer            answer;
    WallClock              clock;
    system.set_up(task.A, row_ptr);
    answer.factor = clock.lap();
    system.take(task.b);
    clock.lap();
    answer.steps = system.solve();
    answer.solve = clock.lap();
    answer.x.resize(task.b.size());
    system.hand_out(answer.x);
    return answer;
}

std::string about(const char* krylov)
{
    char *version = nullptr, *date = nullptr, *time = nullptr;
    if (why_no_amgx().empty()) amgx().get_build_info(&version, &date, &time);
    const std::string number = version != nullptr ? std::string(" ") + version : "";
    return "AmgX" + number + ": classical AMG (PMIS, D2, 4 entries a row, ℓ₁-Jacobi, V cycle), " + krylov +
           "; all on a GPU";
}

}  // namespace

std::string about_amgx_fgmres() { return about("FGMRES"); }
std::string about_amgx_pcg() { return about("CG"); }
std::string why_no_amgx()
{
    const std::string& missing = amgx().missing();
    return missing.empty() ? ""
                           : missing + "; put its folder in LD_LIBRARY_PATH, or configure with -D AMGX_ROOT=FOLDER";
}
RivalAnswer solve_by_amgx_fgmres(const RivalTask& task) { return solved(task, "FGMRES"); }
RivalAnswer solve_by_amgx_pcg(const RivalTask& task) { return solved(task, "PCG"); }

}  // namespace ilux::app
