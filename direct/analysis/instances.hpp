#pragma once
// The Scalars that the host's part of direct/analysis is compiled for; as base/instances.hpp.

#ifndef ILUX_DIRECT_ANALYSIS
#define ILUX_DIRECT_ANALYSIS(instantiate) instantiate(double)
#endif
