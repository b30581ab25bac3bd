// ilux's options in PETSc's database.

#include <cstring>

#include "ilux/clients/petsc/factors.hpp"

namespace ilux_petsc {
namespace {

constexpr PetscErrorCode fine = static_cast<PetscErrorCode>(0);
constexpr std::size_t    longest = 256;

/// Walks through the options of ilux_options, a tree of two floors at most: {"device":"auto","lu":{"pivot_tol":0.1}}.
struct OptionWalk {
    const char* at;
    char        group[longest] = "";
    char        name[longest] = "";   // with its group: lu.pivot_tol
    char        value[longest] = "";  // as text, without quotes

    void copy_string(char* to)
    {
        std::size_t k = 0;
        for (++at; *at && *at != '"'; ++at) {
            if (*at == '\\' && at[1]) ++at;
            if (k + 1 < longest) to[k++] = *at;
        }
        to[k] = '\0';
        if (*at) ++at;
    }
    void copy_bare(char* to)
    {
        std::size_t k = 0;
        for (; *at && !std::strchr(",}", *at); ++at)
            if (k + 1 < longest) to[k++] = *at;
        to[k] = '\0';
    }
    /// @return whether there is another option
    bool next()
    {
        for (; *at;) {
            if (*at == '}') group[0] = '\0';
            if (*at != '"') {
                ++at;
                continue;
            }
            char key[longest];
            copy_string(key);
            if (*at == ':') ++at;
            if (*at == '{') {
                std::strcpy(group, key);
                continue;
            }
            std::size_t k = 0;
            for (const char* part :
                 {static_cast<const char*>(group), group[0] ? "." : "", static_cast<const char*>(key)})
                for (; *part && k + 1 < longest; ++part) name[k++] = *part;
            name[k] = '\0';
            if (*at == '"') copy_string(value);
            else copy_bare(value);
            return true;
        }
        return false;
    }
};

/// Whether this option has a say where the iteration is PETSc's.
bool matters(Kind kind, const char* name)
{
    const auto begins = [&](const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; };
    if (begins("lu.")) return kind == Kind::lu;
    if (begins("precond.") || begins("sptrsv.")) return kind == Kind::preconditioner;
    return std::strchr(name, '.') == nullptr && std::strcmp(name, "mode") != 0 && std::strcmp(name, "method") != 0;
}

/// name=value,name=value
PetscErrorCode set_list(Factors* factors, char* list)
{
    PetscFunctionBegin;
    for (char* item = list; item && *item;) {
        char* next = std::strchr(item, ',');
        if (next) *next++ = '\0';
        char* value = std::strchr(item, '=');
        PetscCheck(value, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s is not name=value", item);
        *value++ = '\0';
        PetscCall(set(factors, item, value));
        item = next;
    }
    PetscFunctionReturn(fine);
}

}  // namespace

PetscErrorCode set(Factors* factors, const char* name, const char* value)
{
    PetscFunctionBegin;
    PetscCheck(ilux_set(factors->solver, name, value) == ILUX_OK, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "ilux: %s",
               ilux_message(factors->solver));
    factors->source = 0;  // options take effect with an analysis
    for (const char* part : {factors->options[0] ? " " : "", name, "=", value})
        PetscCall(PetscStrlcat(factors->options, part, sizeof factors->options));
    PetscFunctionReturn(fine);
}

PetscErrorCode set_from_options(OptionItems PetscOptionsObject, const char* prefix, Factors* factors)
{
    char       key[longest + 32], value[longest], list[4 * longest] = "", *text = nullptr;
    PetscBool  given = PETSC_FALSE;
    OptionWalk option{ilux_options(factors->solver)};

    PetscFunctionBegin;
    PetscCheck(option.at, PETSC_COMM_SELF, PETSC_ERR_MEM, "ilux: %s", ilux_message(factors->solver));
    PetscCall(PetscStrallocpy(option.at, &text));  // ilux_set may change it
    option.at = text;
    PetscCall(PetscSNPrintf(key, sizeof key, "-%s_options", prefix));
    PetscCall(PetscOptionsString(key, "several: name=value,name=value", "ilux_set", list, list, sizeof list, &given));
    if (given) PetscCall(set_list(factors, list));
    while (option.next()) {
        if (!matters(factors->kind, option.name)) continue;
        PetscCall(PetscSNPrintf(key, sizeof key, "-%s_%s", prefix, option.name));
        PetscCall(PetscOptionsString(key, "as `ilux solve --help` explains it", "ilux_set", option.value, value,
                                     sizeof value, &given));
        if (!given) continue;
        const bool alone = !value[0];  // a switch, which PETSc's users may leave without a value
        PetscCall(set(factors, option.name, alone ? "true" : value));
    }
    PetscCall(PetscFree(text));
    PetscFunctionReturn(fine);
}

}  // namespace ilux_petsc
