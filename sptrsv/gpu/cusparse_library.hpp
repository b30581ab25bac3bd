#pragma once
// cuSPARSE, loaded when the engine of its name is first asked for: nothing else of ilux needs it, so programs link and
// start without it.

#include <cusparse.h>

namespace ilux {

/// The functions in use, under their own names.
struct CusparseLibrary {
    decltype(&::cusparseGetErrorString)    cusparseGetErrorString;
    decltype(&::cusparseCreate)            cusparseCreate;
    decltype(&::cusparseDestroy)           cusparseDestroy;
    decltype(&::cusparseSetStream)         cusparseSetStream;
    decltype(&::cusparseCreateCsr)         cusparseCreateCsr;
    decltype(&::cusparseDestroySpMat)      cusparseDestroySpMat;
    decltype(&::cusparseSpMatSetAttribute) cusparseSpMatSetAttribute;
    decltype(&::cusparseCreateDnVec)       cusparseCreateDnVec;
    decltype(&::cusparseDestroyDnVec)      cusparseDestroyDnVec;
    decltype(&::cusparseDnVecSetValues)    cusparseDnVecSetValues;
    decltype(&::cusparseSpSV_createDescr)  cusparseSpSV_createDescr;
    decltype(&::cusparseSpSV_destroyDescr) cusparseSpSV_destroyDescr;
    decltype(&::cusparseSpSV_bufferSize)   cusparseSpSV_bufferSize;
    decltype(&::cusparseSpSV_analysis)     cusparseSpSV_analysis;
    decltype(&::cusparseSpSV_solve)        cusparseSpSV_solve;
};

/// Stays loaded once it is. Any thread may ask. @throws DeviceError, naming the file, where it is not to be had
const CusparseLibrary& cusparse_library();

}  // namespace ilux
