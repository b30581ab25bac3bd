// x ← L⁻¹ b by cusparseSpSV, between a kernel that gathers b and one that scatters x where the system has a frame.

#include "ilux/sptrsv/gpu/cusparse.hpp"

#include <bit>
#include <limits>

#include "ilux/base/instances.hpp"
#include "ilux/sptrsv/gpu/cusparse_library.hpp"
#include "ilux/sptrsv/gpu/device_row.hpp"

namespace ilux {
namespace {

using std::to_string;

constexpr int block_size = 256;

template <class S>
constexpr S one = 1;
template <class S>
constexpr cudaDataType vendors_type = is_complex<S> ? CUDA_C_64F : CUDA_R_64F;

void check(cusparseStatus_t status, const char* call)
{
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    throw DeviceError(std::string(call) + ": " + cusparse_library().cusparseGetErrorString(status));
}

/// The vendor's objects of one stream of solves.
struct Spsv {
    const CusparseLibrary&  vendor = cusparse_library();
    cusparseHandle_t        handle = nullptr;
    cusparseSpMatDescr_t    L = nullptr;
    cusparseDnVecDescr_t    b = nullptr, x = nullptr;
    cusparseSpSVDescr_t     solver = nullptr;
    DeviceBuffer<std::byte> buffer;

    ~Spsv()
    {
        if (solver) vendor.cusparseSpSV_destroyDescr(solver);
        if (x) vendor.cusparseDestroyDnVec(x);
        if (b) vendor.cusparseDestroyDnVec(b);
        if (L) vendor.cusparseDestroySpMat(L);
        if (handle) vendor.cusparseDestroy(handle);
    }
};

template <class S>
__global__ void gather(Index n, FrameView<S> frame, const S* b, S* r)
{
    const Index i = static_cast<Index>(blockIdx.x * block_size + threadIdx.x);
    if (i < n) r[i] = framed_rhs(frame, i, b);
}

template <class S>
__global__ void scatter(Index n, FrameView<S> frame, const S* x, S* out)
{
    const Index i = static_cast<Index>(blockIdx.x * block_size + threadIdx.x);
    if (i < n) store_framed(frame, i, x[i], out);
}

/// L with its diagonal, in the vendor's types.
template <class S>
struct WithDiagonal {
    std::vector<Index> row_ptr, col;
    std::vector<S>     val;

    template <class T>
    explicit WithDiagonal(const ForwardSystem<T>& system) : row_ptr{0}
    {
        const auto&  L = system.L;
        const bool   unit = system.inv_diag.empty();
        const Offset nnz = L.nnz() + (unit ? 0 : L.rows());
        require(nnz <= std::numeric_limits<Index>::max(),
                [&] { return "cuSPARSE: " + to_string(nnz) + " entries; this engine takes up to 2147483647"; });
        for (Index i = 0; i < L.rows(); ++i) {
            for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p) {
                col.push_back(L.col()[p]);
                val.push_back(L.val()[p]);
            }
            if (!unit) {
                col.push_back(i);
                val.push_back(1. / system.inv_diag[i]);
            }
            row_ptr.push_back(static_cast<Index>(col.size()));
        }
    }
};

}  // namespace

template <class T>
CuSparseEngine<T>::CuSparseEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index>)
    : n_(system.size()), unit_(system.inv_diag.empty())
{
    const WithDiagonal<S> L(system);
    const SolveFrame<S>&  frame = system.frame;
    nnz_ = L.row_ptr.back();
    framed_ = !(frame.in_index.empty() && frame.in_scale.empty() && frame.out_index.empty() && frame.out_scale.empty());
    arrays_.add(L.row_ptr, row_ptr_);
    arrays_.add(L.col, col_);
    arrays_.add(L.val, val_);
    add(arrays_, frame, std::vector<S>(), frame_);
    arrays_.upload(gpu);
}

template <class T>
std::size_t CuSparseEngine<T>::workspace_bytes() const
{
    return 2 * sizeof(S) * n_;
}

template <class T>
HostState CuSparseEngine<T>::prepare(Gpu& gpu, DeviceSpan<std::byte> work) const
{
    if (n_ == 0) return nullptr;
    const auto  stream = cuda::stream(gpu);
    auto        spsv = std::make_shared<Spsv>();
    auto* const r = reinterpret_cast<S*>(work.data());
    const auto& vendor = spsv->vendor;
    check(vendor.cusparseCreate(&spsv->handle), "cusparseCreate");
    check(vendor.cusparseSetStream(spsv->handle, stream), "cusparseSetStream");
    check(vendor.cusparseCreateCsr(&spsv->L, n_, n_, nnz_, const_cast<Index*>(row_ptr_), const_cast<Index*>(col_),
                                   const_cast<S*>(val_), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, vendors_type<S>),
          "cusparseCreateCsr");
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = unit_ ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(vendor.cusparseSpMatSetAttribute(spsv->L, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill),
          "cusparseSpMatSetAttribute");
    check(vendor.cusparseSpMatSetAttribute(spsv->L, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal),
          "cusparseSpMatSetAttribute");
    check(vendor.cusparseCreateDnVec(&spsv->b, n_, r, vendors_type<S>), "cusparseCreateDnVec");
    check(vendor.cusparseCreateDnVec(&spsv->x, n_, r + n_, vendors_type<S>), "cusparseCreateDnVec");
    check(vendor.cusparseSpSV_createDescr(&spsv->solver), "cusparseSpSV_createDescr");
    std::size_t bytes = 0;
    check(vendor.cusparseSpSV_bufferSize(spsv->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one<S>, spsv->L, spsv->b,
                                         spsv->x, vendors_type<S>, CUSPARSE_SPSV_ALG_DEFAULT, spsv->solver, &bytes),
          "cusparseSpSV_bufferSize");
    spsv->buffer = DeviceBuffer<std::byte>(bytes);
    check(vendor.cusparseSpSV_analysis(spsv->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one<S>, spsv->L, spsv->b,
                                       spsv->x, vendors_type<S>, CUSPARSE_SPSV_ALG_DEFAULT, spsv->solver,
                                       spsv->buffer.data()),
          "cusparseSpSV_analysis");
    return spsv;
}

template <class T>
void CuSparseEngine<T>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work,
                              const HostState& state) const
{
    if (n_ == 0) return;
    const cuda::Range range("cusparse");
    const auto        stream = cuda::stream(gpu);
    const int         blocks = (n_ + block_size - 1) / block_size;
    Spsv&             spsv = *static_cast<Spsv*>(state.get());
    S* const          r = reinterpret_cast<S*>(work.data());
    S* const          x = r + n_;
    const auto&       vendor = spsv.vendor;
    const auto        frame = std::bit_cast<FrameView<cuda::Value<S>>>(frame_);
    if (framed_) {
        gather<<<blocks, block_size, 0, stream>>>(n_, frame, cuda::as_values(b.data()), cuda::as_values(r));
        cuda::check_launch("gather");
    }
    check(vendor.cusparseSetStream(spsv.handle, stream), "cusparseSetStream");
    check(vendor.cusparseDnVecSetValues(spsv.b, framed_ ? r : const_cast<S*>(b.data())), "cusparseDnVecSetValues");
    check(vendor.cusparseDnVecSetValues(spsv.x, framed_ ? x : out.data()), "cusparseDnVecSetValues");
    check(vendor.cusparseSpSV_solve(spsv.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one<S>, spsv.L, spsv.b, spsv.x,
                                    vendors_type<S>, CUSPARSE_SPSV_ALG_DEFAULT, spsv.solver),
          "cusparseSpSV_solve");
    if (!framed_) return;
    scatter<<<blocks, block_size, 0, stream>>>(n_, frame, cuda::as_values(x), cuda::as_values(out.data()));
    cuda::check_launch("scatter");
}

#define ILUX_INSTANTIATE(T) template class CuSparseEngine<T>;
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
