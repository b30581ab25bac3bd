// For a build that found no klu.h.

#include "ilux/apps/bench/lu/klu_rival.hpp"
#include "ilux/base/error.hpp"

namespace ilux::app {

struct KluRival::State {};

std::string why_no_klu() { return "klu.h was not found when this was built"; }

KluRival::KluRival(const CsrView<double>&) { throw InvalidInput("KLU: " + why_no_klu()); }
KluRival::~KluRival() = default;
void   KluRival::set_values(std::span<const double>) {}
bool   KluRival::refactor() { return false; }
void   KluRival::solve(std::span<double>) {}
double KluRival::nnz() const { return 0; }

}  // namespace ilux::app
