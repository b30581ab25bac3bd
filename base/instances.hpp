#pragma once
// The value types that base/ is compiled for, a type an entry. A test that compiles the sources for another type puts
// its own list here first (docs/design/base.md).

#ifndef ILUX_BASE_SCALARS
#define ILUX_BASE_SCALARS(instantiate) instantiate(double)                    ///< of A, b, x
#define ILUX_BASE_STORED(instantiate) instantiate(double) instantiate(float)  ///< of matrices
#endif
