// hypre's BoomerAMG: all of it on the GPU.

#include <HYPRE.h>
#include <HYPRE_parcsr_ls.h>

#include <array>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <sstream>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/lab/rivals/rival_device.hpp"
#include "ilux/lab/rivals/rival_library.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"

namespace ilux::app {
namespace {

/// A Krylov method of hypre's, by its own name.
struct HypreMethod {
    decltype(&::HYPRE_ParCSRPCGCreate)           create = nullptr;
    decltype(&::HYPRE_ParCSRPCGDestroy)          destroy = nullptr;
    decltype(&::HYPRE_ParCSRPCGSetPrecond)       set_precond = nullptr;
    decltype(&::HYPRE_ParCSRPCGSetTol)           set_tol = nullptr;
    decltype(&::HYPRE_ParCSRPCGSetMaxIter)       set_max_steps = nullptr;
    decltype(&::HYPRE_ParCSRPCGSetTwoNorm)       set_two_norm = nullptr;  ///< of CG alone
    decltype(&::HYPRE_ParCSRFlexGMRESSetKDim)    set_restart = nullptr;   ///< of FlexGMRES alone
    decltype(&::HYPRE_ParCSRPCGSetup)            set_up = nullptr;
    decltype(&::HYPRE_ParCSRPCGSolve)            solve = nullptr;
    decltype(&::HYPRE_ParCSRPCGGetNumIterations) get_steps = nullptr;
};

/// ILUX_HYPRE_LIBRARY is the path of the library whose headers were found.
struct HypreLibrary : RivalLibrary {
    decltype(&::HYPRE_Initialize)                       initialize = nullptr;
    decltype(&::HYPRE_DeviceInitialize)                 initialize_device = nullptr;
    decltype(&::HYPRE_SetMemoryLocation)                set_memory = nullptr;
    decltype(&::HYPRE_SetExecutionPolicy)               set_policy = nullptr;
    decltype(&::HYPRE_VersionNumber)                    get_version = nullptr;
    decltype(&::HYPRE_DescribeError)                    describe_error = nullptr;
    decltype(&::HYPRE_ClearAllErrors)                   clear_errors = nullptr;
    decltype(&::HYPRE_IJMatrixCreate)                   create_matrix = nullptr;
    decltype(&::HYPRE_IJMatrixDestroy)                  destroy_matrix = nullptr;
    decltype(&::HYPRE_IJMatrixSetObjectType)            set_matrix_type = nullptr;
    decltype(&::HYPRE_IJMatrixInitialize_v2)            begin_matrix = nullptr;
    decltype(&::HYPRE_IJMatrixSetValues)                set_entries = nullptr;
    decltype(&::HYPRE_IJMatrixAssemble)                 assemble_matrix = nullptr;
    decltype(&::HYPRE_IJMatrixGetObject)                get_matrix = nullptr;
    decltype(&::HYPRE_IJVectorCreate)                   create_vector = nullptr;
    decltype(&::HYPRE_IJVectorDestroy)                  destroy_vector = nullptr;
    decltype(&::HYPRE_IJVectorSetObjectType)            set_vector_type = nullptr;
    decltype(&::HYPRE_IJVectorInitialize_v2)            begin_vector = nullptr;
    decltype(&::HYPRE_IJVectorSetValues)                set_values = nullptr;
    decltype(&::HYPRE_IJVectorGetValues)                get_values = nullptr;
    decltype(&::HYPRE_IJVectorAssemble)                 assemble_vector = nullptr;
    decltype(&::HYPRE_IJVectorGetObject)                get_vector = nullptr;
    decltype(&::HYPRE_BoomerAMGCreate)                  create_amg = nullptr;
    decltype(&::HYPRE_BoomerAMGDestroy)                 destroy_amg = nullptr;
    decltype(&::HYPRE_BoomerAMGSetup)                   set_up_amg = nullptr;
    decltype(&::HYPRE_BoomerAMGSolve)                   solve_by_amg = nullptr;
    decltype(&::HYPRE_BoomerAMGSetTol)                  set_amg_tol = nullptr;
    std::array<std::pair<const char*, int>, 7>          amg_settings{{{"HYPRE_BoomerAMGSetMaxIter", 1},
                                                                      {"HYPRE_BoomerAMGSetCoarsenType", 8},  // PMIS
                                                                      {"HYPRE_BoomerAMGSetInterpType", 6},   // ext+i
                                                                      {"HYPRE_BoomerAMGSetPMaxElmts", 4},
                                                                      {"HYPRE_BoomerAMGSetRelaxType", 18},  // ℓ₁-Jacobi
                                                                      {"HYPRE_BoomerAMGSetKeepTranspose", 1},
                                                                      {"HYPRE_BoomerAMGSetNumSweeps", 1}}};
    std::vector<decltype(&::HYPRE_BoomerAMGSetMaxIter)> set_amg;  ///< one for each of them
    HypreMethod                                         cg, gmres;

    HypreLibrary() : RivalLibrary({"libHYPRE.so", ILUX_HYPRE_LIBRARY})
    {
        find("HYPRE_Initialize", initialize);
        find("HYPRE_DeviceInitialize", initialize_device);
        find("HYPRE_SetMemoryLocation", set_memory);
        find("HYPRE_SetExecutionPolicy", set_policy);
        find("HYPRE_VersionNumber", get_version);
        find("HYPRE_DescribeError", describe_error);
        find("HYPRE_ClearAllErrors", clear_errors);
        find("HYPRE_IJMatrixCreate", create_matrix);
        find("HYPRE_IJMatrixDestroy", destroy_matrix);
        find("HYPRE_IJMatrixSetObjectType", set_matrix_type);
        find("HYPRE_IJMatrixInitialize_v2", begin_matrix);
        find("HYPRE_IJMatrixSetValues", set_entries);
        find("HYPRE_IJMatrixAssemble", assemble_matrix);
        find("HYPRE_IJMatrixGetObject", get_matrix);
        find("HYPRE_IJVectorCreate", create_vector);
        find("HYPRE_IJVectorDestroy", destroy_vector);
        find("HYPRE_IJVectorSetObjectType", set_vector_type);
        find("HYPRE_IJVectorInitialize_v2", begin_vector);
        find("HYPRE_IJVectorSetValues", set_values);
        find("HYPRE_IJVectorGetValues", get_values);
        find("HYPRE_IJVectorAssemble", assemble_vector);
        find("HYPRE_IJVectorGetObject", get_vector);
        find("HYPRE_BoomerAMGCreate", create_amg);
        find("HYPRE_BoomerAMGDestroy", destroy_amg);
        find("HYPRE_BoomerAMGSetup", set_up_amg);
        find("HYPRE_BoomerAMGSolve", solve_by_amg);
        find("HYPRE_BoomerAMGSetTol", set_amg_tol);
        for (const auto& [name, value] : amg_settings) find(name, set_amg.emplace_back());
        find_method("PCG", cg);
        find("HYPRE_ParCSRPCGSetTwoNorm", cg.set_two_norm);
        find_method("FlexGMRES", gmres);
        find("HYPRE_ParCSRFlexGMRESSetKDim", gmres.set_restart);
    }

private:
    void find_method(const std::string& name, HypreMethod& method)
    {
        find("HYPRE_ParCSR" + name + "Create", method.create);
        find("HYPRE_ParCSR" + name + "Destroy", method.destroy);
        find("HYPRE_ParCSR" + name + "SetPrecond", method.set_precond);
        find("HYPRE_ParCSR" + name + "SetTol", method.set_tol);
        find("HYPRE_ParCSR" + name + "SetMaxIter", method.set_max_steps);
        find("HYPRE_ParCSR" + name + "Setup", method.set_up);
        find("HYPRE_ParCSR" + name + "Solve", method.solve);
        find("HYPRE_ParCSR" + name + "GetNumIterations", method.get_steps);
    }
};

const HypreLibrary& hypre()
{
    static const HypreLibrary library;
    return library;
}

/// @param codes  of calls, one after another; that steps ran out is no error
void check_hypre(std::initializer_list<HYPRE_Int> codes, const char* what)
{
    HYPRE_Int errors = 0;
    for (const HYPRE_Int code : codes) errors |= code & ~HYPRE_ERROR_CONV;
    hypre().clear_errors();
    if (errors == 0) return;
    std::array<char, 1024> words{};
    hypre().describe_error(errors, words.data());
    throw InvalidInput(std::string("hypre: ") + what + ": " + words.data());
}

/// It stays for the whole process.
void start_hypre()
{
    static const bool started = [] {
        if (const std::string why = why_no_hypre(); !why.empty()) throw InvalidInput(why);
        require_gpu("hypre");
        check_hypre({hypre().initialize(), hypre().initialize_device(), hypre().set_memory(HYPRE_MEMORY_DEVICE),
                     hypre().set_policy(HYPRE_EXEC_DEVICE)},
                    "HYPRE_Initialize");
        return true;
    }();
    static_cast<void>(started);
}

/// A vector there.
class HypreVector {
public:
    explicit HypreVector(int n) : n_(n)
    {
        check_hypre({hypre().create_vector(0, 0, n - 1, &vector_), hypre().set_vector_type(vector_, HYPRE_PARCSR),
                     hypre().begin_vector(vector_, HYPRE_MEMORY_DEVICE)},
                    "HYPRE_IJVectorCreate");
    }
    HypreVector(const HypreVector&) = delete;
    HypreVector& operator=(const HypreVector&) = delete;
    ~HypreVector() { hypre().destroy_vector(vector_); }

    /// @param values  on the device
    void set(const double* values)
    {
        check_hypre({hypre().set_values(vector_, n_, nullptr, values), hypre().assemble_vector(vector_)},
                    "HYPRE_IJVectorSetValues");
    }
    /// @param values  on the device
    void get(double* values)
    {
        check_hypre({hypre().get_values(vector_, n_, nullptr, values)}, "HYPRE_IJVectorGetValues");
    }
    HYPRE_ParVector parallel() const
    {
        void* object = nullptr;
        check_hypre({hypre().get_vector(vector_, &object)}, "HYPRE_IJVectorGetObject");
        return static_cast<HYPRE_ParVector>(object);
    }

private:
    int            n_;
    HYPRE_IJVector vector_ = nullptr;
};

/// One matrix there, and what solves with it.
class HypreSystem {
public:
    HypreSystem(const HypreMethod& method, const RivalTask& task) : method_(method)
    {
        check_hypre({hypre().create_amg(&amg_), hypre().set_amg_tol(amg_, 0)}, "HYPRE_BoomerAMGCreate");
        for (std::size_t k = 0; k < hypre().set_amg.size(); ++k)
            check_hypre({hypre().set_amg[k](amg_, hypre().amg_settings[k].second)}, hypre().amg_settings[k].first);
        check_hypre({method.create(0, &krylov_), method.set_tol(krylov_, task.rtol),
                     method.set_max_steps(krylov_, task.max_steps),
                     method.set_precond(krylov_, hypre().solve_by_amg, hypre().set_up_amg, amg_)},
                    "a Krylov method");
        if (method.set_two_norm != nullptr) check_hypre({method.set_two_norm(krylov_, 1)}, "HYPRE_ParCSRPCGSetTwoNorm");
        if (method.set_restart != nullptr)
            check_hypre({method.set_restart(krylov_, task.restart)}, "HYPRE_ParCSRFlexGMRESSetKDim");
    }
    HypreSystem(const HypreSystem&) = delete;
    HypreSystem& operator=(const HypreSystem&) = delete;
    ~HypreSystem()
    {
        if (krylov_ != nullptr) method_.destroy(krylov_);
        if (amg_ != nullptr) hypre().destroy_amg(amg_);
        if (A_ != nullptr) hypre().destroy_matrix(A_);
    }

    void set_up(Gpu& gpu, const CsrView<double>& A, HypreVector& b, HypreVector& x)
    {
        const auto       n = A.rows();
        std::vector<int> lengths(n), rows(n);
        std::iota(rows.begin(), rows.end(), 0);
        for (Index i = 0; i < n; ++i) lengths[i] = static_cast<int>(A.row_ptr()[i + 1] - A.row_ptr()[i]);
        DeviceBuffer<int>    there_lengths(n), there_rows(n), col(A.nnz());
        DeviceBuffer<double> val(A.nnz());
        upload<int>(gpu, {lengths.data(), lengths.size()}, there_lengths);
        upload<int>(gpu, {rows.data(), rows.size()}, there_rows);
        upload<int>(gpu, A.col(), col);
        upload<double>(gpu, A.val(), val);
        await_device("hypre");
        check_hypre({hypre().create_matrix(0, 0, n - 1, 0, n - 1, &A_), hypre().set_matrix_type(A_, HYPRE_PARCSR),
                     hypre().begin_matrix(A_, HYPRE_MEMORY_DEVICE),
                     hypre().set_entries(A_, n, there_lengths.data(), there_rows.data(), col.data(), val.data()),
                     hypre().assemble_matrix(A_)},
                    "HYPRE_IJMatrixSetValues");
        check_hypre({method_.set_up(krylov_, matrix(), b.parallel(), x.parallel())}, "the setup");
        await_device("hypre");
    }
    Index solve(HypreVector& b, HypreVector& x)
    {
        HYPRE_Int steps = 0;
        check_hypre({method_.solve(krylov_, matrix(), b.parallel(), x.parallel())}, "the solve");
        await_device("hypre");
        check_hypre({method_.get_steps(krylov_, &steps)}, "the steps");
        return steps;
    }

private:
    HYPRE_ParCSRMatrix matrix() const
    {
        void* object = nullptr;
        check_hypre({hypre().get_matrix(A_, &object)}, "HYPRE_IJMatrixGetObject");
        return static_cast<HYPRE_ParCSRMatrix>(object);
    }

    const HypreMethod& method_;
    HYPRE_IJMatrix     A_ = nullptr;
    HYPRE_Solver       amg_ = nullptr, krylov_ = nullptr;
};

RivalAnswer solved(const RivalTask& task, const HypreMethod& method)
{
    if (task.A.nnz() > std::numeric_limits<int>::max())
        throw InvalidInput("hypre: more entries than its 32-bit positions can count");
    start_hypre();
    Gpu                  gpu;
    const auto           n = task.A.rows();
    DeviceBuffer<double> values(task.b.size());
    RivalAnswer          answer;
    answer.x.resize(task.b.size());
    HypreVector b(n), x(n);
    upload<double>(gpu, {answer.x.data(), answer.x.size()}, values);
    await_device("hypre");
    x.set(values.data());
    upload<double>(gpu, task.b, values);
    await_device("hypre");
    b.set(values.data());
    HypreSystem system(method, task);
    await_device("hypre");
    WallClock clock;
    system.set_up(gpu, task.A, b, x);
    answer.factor = clock.lap();
    answer.steps = system.solve(b, x);
    answer.solve = clock.lap();
    x.get(values.data());
    await_device("hypre");
    download<double>(gpu, values, {answer.x.data(), answer.x.size()});
    return answer;
}

std::string about(const char* krylov)
{
    HYPRE_Int          major = 0, minor = 0, patch = 0, single = 0;
    std::ostringstream text;
    text << "hypre";
    if (why_no_hypre().empty() && hypre().get_version(&major, &minor, &patch, &single) == 0)
        text << ' ' << major << '.' << minor << '.' << patch;
    text << ": BoomerAMG (PMIS, ext+i, 4 entries a row, ℓ₁-Jacobi, V cycle), " << krylov << "; all on a GPU";
    return text.str();
}

}  // namespace

std::string about_hypre_fgmres() { return about("FlexGMRES"); }
std::string about_hypre_pcg() { return about("CG"); }
std::string why_no_hypre()
{
    const std::string& missing = hypre().missing();
    return missing.empty() ? ""
                           : missing + "; put its folder in LD_LIBRARY_PATH, or configure with -D HYPRE_ROOT=FOLDER";
}
RivalAnswer solve_by_hypre_fgmres(const RivalTask& task) { return solved(task, hypre().gmres); }
RivalAnswer solve_by_hypre_pcg(const RivalTask& task) { return solved(task, hypre().cg); }

}  // namespace ilux::app
