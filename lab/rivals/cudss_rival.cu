#include <cudss.h>

#include <array>
#include <filesystem>
#include <limits>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/cudss_rival.hpp"
#include "ilux/lab/rivals/rival_library.hpp"

namespace ilux::app {
namespace {

/// ILUX_CUDSS_LIBRARY is the path of the library whose header was found. It needs cuBLAS and NVRTC, which are of the
/// toolkit.
struct CudssLibrary : RivalLibrary {
    decltype(&::cudssGetProperty)       property = nullptr;
    decltype(&::cudssCreate)            create = nullptr;
    decltype(&::cudssDestroy)           destroy = nullptr;
    decltype(&::cudssSetStream)         set_stream = nullptr;
    decltype(&::cudssSetThreadingLayer) set_threading_layer = nullptr;
    decltype(&::cudssConfigCreate)      create_config = nullptr;
    decltype(&::cudssConfigDestroy)     destroy_config = nullptr;
    decltype(&::cudssConfigSet)         set_config = nullptr;
    decltype(&::cudssConfigGet)         get_config = nullptr;
    decltype(&::cudssDataCreate)        create_data = nullptr;
    decltype(&::cudssDataDestroy)       destroy_data = nullptr;
    decltype(&::cudssDataGet)           get_data = nullptr;
    decltype(&::cudssMatrixCreateCsr)   create_csr = nullptr;
    decltype(&::cudssMatrixCreateDn)    create_dense = nullptr;
    decltype(&::cudssMatrixDestroy)     destroy_matrix = nullptr;
    decltype(&::cudssMatrixSetValues)   set_values = nullptr;
    decltype(&::cudssExecute)           execute = nullptr;

    CudssLibrary() : RivalLibrary({ILUX_CUDSS_NAME, ILUX_CUDSS_LIBRARY})
    {
        find("cudssGetProperty", property);
        find("cudssCreate", create);
        find("cudssDestroy", destroy);
        find("cudssSetStream", set_stream);
        find("cudssSetThreadingLayer", set_threading_layer);
        find("cudssConfigCreate", create_config);
        find("cudssConfigDestroy", destroy_config);
        find("cudssConfigSet", set_config);
        find("cudssConfigGet", get_config);
        find("cudssDataCreate", create_data);
        find("cudssDataDestroy", destroy_data);
        find("cudssDataGet", get_data);
        find("cudssMatrixCreateCsr", create_csr);
        find("cudssMatrixCreateDn", create_dense);
        find("cudssMatrixDestroy", destroy_matrix);
        find("cudssMatrixSetValues", set_values);
        find("cudssExecute", execute);
    }
};

const CudssLibrary& cudss()
{
    // Opened before it, so that the loader has what cuDSS asks for by these names, wherever it lies.
    static const RivalLibrary cublas_lt({ILUX_CUBLAS_LT_NAME, ILUX_CUDA_LIBRARIES "/" ILUX_CUBLAS_LT_NAME});
    static const RivalLibrary cublas({ILUX_CUBLAS_NAME, ILUX_CUDA_LIBRARIES "/" ILUX_CUBLAS_NAME});
    static const RivalLibrary nvrtc({ILUX_NVRTC_NAME, ILUX_CUDA_LIBRARIES "/" ILUX_NVRTC_NAME});
    static const CudssLibrary library;
    return library;
}

void check_cudss(cudssStatus_t status, const char* call)
{
    if (status != CUDSS_STATUS_SUCCESS)
        throw DeviceError(std::string("cuDSS: status ") + std::to_string(int(status)) + " of " + call);
}

/// The one beside the library, or "".
std::string threading_layer()
{
    const std::filesystem::path library = cudss().file_of("cudssCreate");
    std::error_code             unknown;
    for (const auto& entry : std::filesystem::directory_iterator(library.parent_path(), unknown))
        if (entry.path().filename().string().rfind("libcudss_mtlayer_gomp.so", 0) == 0) return entry.path().string();
    return "";
}

std::vector<int> narrow(std::span<const Offset> offsets) { return {offsets.begin(), offsets.end()}; }

}  // namespace

std::string why_no_cudss() { return cudss().missing(); }

template <Scalar S>
struct CudssRival<S>::State {
    Gpu&              gpu;
    Index             n;
    Offset            nnz;
    int               host_threads = 1;
    DeviceBuffer<int> row_ptr, col;
    cudssHandle_t     handle = nullptr;
    cudssConfig_t     config = nullptr;
    cudssData_t       data = nullptr;
    cudssMatrix_t     A = nullptr, x = nullptr, b = nullptr;

    State(Gpu& where, const CsrView<S>& matrix)
        : gpu(where), n(matrix.rows()), nnz(matrix.nnz()), row_ptr(matrix.rows() + std::size_t{1}), col(matrix.nnz())
    {
        const std::vector<int> offsets = narrow(matrix.row_ptr());
        upload<int>(gpu, offsets, row_ptr);
        upload<int>(gpu, matrix.col(), col);
    }
    ~State()
    {
        for (const cudssMatrix_t matrix : {A, x, b})
            if (matrix != nullptr) cudss().destroy_matrix(matrix);
        if (data != nullptr) cudss().destroy_data(handle, data);
        if (config != nullptr) cudss().destroy_config(config);
        if (handle != nullptr) cudss().destroy(handle);
    }

    /// @param threads  that its analysis may use
    void open(int threads)
    {
        constexpr cudaDataType_t kind = is_complex<S> ? CUDA_C_64F : CUDA_R_64F;
        check_cudss(cudss().create(&handle), "cudssCreate");
        check_cudss(cudss().set_stream(handle, cuda::stream(gpu)), "cudssSetStream");
        check_cudss(cudss().create_config(&config), "cudssConfigCreate");
        if (const std::string layer = threading_layer(); threads > 1 && !layer.empty()) {
            check_cudss(cudss().set_threading_layer(handle, layer.c_str()), "cudssSetThreadingLayer");
            check_cudss(cudss().set_config(config, CUDSS_CONFIG_HOST_NTHREADS, &threads, sizeof threads),
                        "cudssConfigSet");
            host_threads = threads;
        }
        check_cudss(cudss().create_data(handle, &data), "cudssDataCreate");
        check_cudss(cudss().create_csr(&A, n, n, nnz, row_ptr.data(), nullptr, col.data(), nullptr, CUDA_R_32I,
                                       CUDA_R_32I, kind, CUDSS_MTYPE_GENERAL, CUDSS_MVIEW_FULL, CUDSS_BASE_ZERO),
                    "cudssMatrixCreateCsr");
        for (cudssMatrix_t* const vector : {&x, &b})
            check_cudss(cudss().create_dense(vector, n, 1, n, nullptr, kind, CUDSS_LAYOUT_COL_MAJOR),
                        "cudssMatrixCreateDn");
    }
    void run(int phase, const S* values, const char* what)
    {
        if (values != nullptr) check_cudss(cudss().set_values(A, values), "cudssMatrixSetValues");
        check_cudss(cudss().execute(handle, phase, config, data, A, x, b), what);
    }
    /// A number of 4 or 8 bytes.
    std::optional<std::int64_t> number(cudssDataParam_t which) const
    {
        for (const std::size_t bytes : {sizeof(std::int64_t), sizeof(int)}) {
            std::int64_t value = 0;
            std::size_t  written = 0;
            if (cudss().get_data(handle, data, which, &value, bytes, &written) == CUDSS_STATUS_SUCCESS) return value;
        }
        return {};
    }
};

template <Scalar S>
CudssRival<S>::CudssRival(Gpu& gpu, const CsrView<S>& A, int host_threads)
{
    if (!cudss().missing().empty()) throw InvalidInput("cuDSS: " + cudss().missing());
    if (A.nnz() > std::numeric_limits<int>::max())
        throw InvalidInput("cuDSS: " + std::to_string(A.nnz()) + " entries are more than 32 bits count");
    state_ = std::make_unique<State>(gpu, A);
    state_->open(host_threads);
}

template <Scalar S>
CudssRival<S>::~CudssRival() = default;

template <Scalar S>
void CudssRival<S>::analyse(const S* values)
{
    state_->run(CUDSS_PHASE_ANALYSIS, values, "the analysis");
}

template <Scalar S>
void CudssRival<S>::factor(const S* values)
{
    state_->run(CUDSS_PHASE_FACTORIZATION, values, "the factorization");
}

template <Scalar S>
void CudssRival<S>::refactor(const S* values)
{
    state_->run(CUDSS_PHASE_REFACTORIZATION, values, "the refactorization");
}

template <Scalar S>
void CudssRival<S>::solve(const S* b, S* x)
{
    check_cudss(cudss().set_values(state_->b, b), "cudssMatrixSetValues");
    check_cudss(cudss().set_values(state_->x, x), "cudssMatrixSetValues");
    state_->run(CUDSS_PHASE_SOLVE, nullptr, "the solve");
}

template <Scalar S>
CudssFacts CudssRival<S>::facts() const
{
    const State& s = *state_;
    CudssFacts   facts;
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
        int number = 0;
        check_cudss(cudss().property(part, &number), "cudssGetProperty");
        if (!facts.version.empty()) facts.version += '.';
        facts.version += std::to_string(number);
    }
    facts.host_threads = s.host_threads;
    facts.nnz_LU = s.number(CUDSS_DATA_LU_NNZ);
    facts.perturbed_pivots = s.number(CUDSS_DATA_NPIVOTS);
    facts.refine_steps = s.number(CUDSS_DATA_IR_N_STEPS);
    std::array<std::int64_t, 16> memory{};  // of the device and of the host: kept, at most
    std::size_t                  written = 0;
    if (cudss().get_data(s.handle, s.data, CUDSS_DATA_MEMORY_ESTIMATES, memory.data(), sizeof memory, &written) ==
        CUDSS_STATUS_SUCCESS) {
        facts.bytes = memory[0];
        facts.host_bytes = memory[2];
    }
    int limit = 0;
    if (cudss().get_config(s.config, CUDSS_CONFIG_IR_N_STEPS, &limit, sizeof limit, &written) == CUDSS_STATUS_SUCCESS)
        facts.refine_limit = limit;
    return facts;
}

#define ILUX_INSTANTIATE(S) template class CudssRival<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app
