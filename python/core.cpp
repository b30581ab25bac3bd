// ilux._core: the C interface as a Python class. Arrays come as NumPy's or through DLPack. The package's Python code,
// the only caller, converts them and says in a user's terms what is wrong; here it is only made sure that nothing is
// read or written beyond them.

#include <ilux.h>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <chrono>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ilux/python/caller_arrays.hpp"

namespace {

using namespace ilux::python;

/// A solver that is used by one thread at a time.
class Solver {
public:
    explicit Solver(bool is_complex) : type_(is_complex ? nb::dtype<std::complex<double>>() : nb::dtype<double>())
    {
        ilux_solver* made = nullptr;
        if (const int status = ilux_create(is_complex ? ILUX_COMPLEX : ILUX_REAL, &made); status != ILUX_OK)
            throw Failed{status, ilux_last_error()};
        solver_.reset(made);
    }

    void set(const std::string& name, const std::string& value) { done(ilux_set(get(), for_c(name), for_c(value))); }
    void set_json(const std::string& text) { done(ilux_set_json(get(), for_c(text))); }
    std::string options() { return text(ilux_options(get())); }
    void        set_stream(int device, std::uintptr_t stream)
    {
        done(ilux_set_stream(get(), device, reinterpret_cast<void*>(stream)));
    }

    /// @param near  of near_null, else of null_space
    void set_vectors(bool near, std::int64_t n, std::int64_t count, ReadOnly columns)
    {
        require_array(columns, n * count, near ? nb::dtype<double>() : type_, near ? "near_null" : "null_space");
        done(near ? ilux_set_near_null(get(), n, count, static_cast<const double*>(columns.data()))
                  : ilux_set_null_space(get(), n, count, columns.data()));
    }

    /// The arrays are kept as long as they are borrowed.
    void analyse(ReadOnly row_ptr, ReadOnly col, ReadOnly values, double systems, double columns)
    {
        const BorrowedCsr matrix = csr_of(row_ptr, col, values);
        entries_ = matrix.entries;
        n_ = matrix.A.n;
        done(run([&] { return ilux_analyse(get(), &matrix.A, systems, columns); }));
        borrowed_ = {row_ptr, col, values};
    }

    /// The JSON of ilux_info, and of ilux_compare.
    std::string info(ReadOnly row_ptr, ReadOnly col, ReadOnly values, bool levels)
    {
        const ilux_csr A = csr_of(row_ptr, col, values).A;
        const char*    json = nullptr;
        done(run([&] { return ilux_info(get(), &A, levels, &json); }));
        return text(json);
    }
    std::string compare(ReadOnly row_ptr, ReadOnly col, ReadOnly values, ReadOnly b, const std::string& strategies,
                        std::int64_t repeats)
    {
        const ilux_csr A = csr_of(row_ptr, col, values).A;
        require_array(b, A.n, type_, "b");
        if (on_device(b) != on_device(values))
            throw Failed{ILUX_BAD_INPUT, "b and the matrix are on different devices"};
        const char* json = nullptr;
        done(run([&] { return ilux_compare(get(), &A, b.data(), for_c(strategies), repeats, &json); }));
        return text(json);
    }

    int factor(std::optional<ReadOnly> values)
    {
        if (values) require_array(*values, entries_, type_, "values");
        return told(run([&] { return ilux_factor(get(), values ? values->data() : nullptr); }));
    }
    int refactor(ReadOnly values)
    {
        require_array(values, entries_, type_, "values");
        return told(run([&] { return ilux_refactor(get(), values.data()); }));
    }
    int solve(int op, std::int64_t columns, ReadOnly b, std::int64_t ldb, Array x, std::int64_t ldx)
    {
        require_array(b, columns * n_, type_, "b");
        require_array(ReadOnly(x), columns * n_, type_, "x");
        return told(run([&] { return ilux_solve(get(), op, columns, b.data(), ldb, x.data(), ldx); }));
    }
    void precondition(int op, std::int64_t columns, ReadOnly r, std::int64_t ldr, Array z, std::int64_t ldz)
    {
        require_array(r, columns * n_, type_, "r");
        require_array(ReadOnly(z), columns * n_, type_, "z");
        done(run([&] { return ilux_precondition(get(), op, columns, r.data(), ldr, z.data(), ldz); }));
    }
    int solve_batch(std::int64_t members, ReadOnly values, ReadOnly b, Array x)
    {
        require_array(values, members * entries_, type_, "values");
        require_array(b, members * n_, type_, "B");
        require_array(ReadOnly(x), members * n_, type_, "X");
        return told(run([&] { return ilux_solve_batch(get(), members, values.data(), b.data(), x.data()); }));
    }

    /// @param apply_A, apply_M  (op, x, y): fill y; x and y are one-dimensional arrays that live as long as the call
    int solve_operator(std::int64_t n, nb::callable apply_A, std::optional<nb::callable> apply_M, ReadOnly b, Array x)
    {
        require_array(b, n, type_, "b");
        require_array(ReadOnly(x), n, type_, "x");
        n_ = n;
        Caller of_A{this, apply_A, n, b.dtype()};
        Caller of_M{this, apply_M ? *apply_M : apply_A, n, b.dtype()};
        return told(run([&] {
            return ilux_solve_operator(get(), n, Caller::apply, &of_A, apply_M ? Caller::apply : nullptr, &of_M,
                                       b.data(), x.data());
        }));
    }

    /// @param listener  (phase, done, total, residual), or None
    void listen(std::optional<nb::callable> listener) { listener_ = std::move(listener); }
    void cancel() { ilux_cancel(get()); }
    /// From the listener: x as it stands. @return whether there is one
    bool iterate(Array x)
    {
        require_array(ReadOnly(x), n_, type_, "x");
        return ilux_iterate(get(), x.data()) == ILUX_OK;
    }

    // A listener may refer to whoever holds the solver: Python's collector of cycles asks for it.
    static int traverse(PyObject* object, visitproc visit, void* arg)
    {
        Py_VISIT(Py_TYPE(object));
        if (!nb::inst_ready(object)) return 0;
        if (const auto& heard = nb::inst_ptr<Solver>(object)->listener_) Py_VISIT(heard->ptr());
        return 0;
    }
    static int clear(PyObject* object)
    {
        nb::inst_ptr<Solver>(object)->listener_.reset();
        return 0;
    }

    double fill() const
    {
        ilux_factors factors{};
        factors.size = sizeof factors;
        done(ilux_factors_of(get(), &factors));
        return factors.fill;
    }
    /// (row_perm, col_perm, (col_ptr, row, values) of L, that of U), copies
    nb::tuple lu()
    {
        ilux_lu lu{};
        done(ilux_lu_of(get(), &lu));
        const auto triangle = [&](const std::int64_t* col_ptr, const std::int32_t* row, const void* values) {
            return nb::make_tuple(copied(col_ptr, lu.n + 1, nb::dtype<std::int64_t>()),
                                  copied(row, col_ptr[lu.n], nb::dtype<std::int32_t>()),
                                  copied(values, col_ptr[lu.n], type_));
        };
        return nb::make_tuple(copied(lu.row_perm, lu.n, nb::dtype<std::int32_t>()),
                              copied(lu.col_perm, lu.n, nb::dtype<std::int32_t>()),
                              triangle(lu.l_col_ptr, lu.l_row, lu.l_values),
                              triangle(lu.u_col_ptr, lu.u_row, lu.u_values));
    }

    nb::object near_null()
    {
        std::int64_t count = 0;
        const void*  columns = nullptr;
        done(ilux_near_null_of(get(), &count, &columns));
        return copied(columns, count * n_, type_);
    }

    std::string  message() const { return ilux_message(get()); }
    std::int64_t columns() const { return ilux_columns(get()); }
    std::string  report(std::int64_t column) { return text(ilux_report(get(), column)); }
    nb::dict     result(std::int64_t column) const
    {
        ilux_result result{};
        result.size = sizeof result;
        if (ilux_result_of(get(), column, &result) != ILUX_OK)
            throw Failed{ILUX_BAD_INPUT, "there is no report of such a column"};
        nb::dict dict;
        dict["outcome"] = ilux_outcome_name(result.outcome);
        dict["direct"] = result.direct != 0;
        dict["steps"] = result.steps;
        dict["relative_residual"] = result.relative_residual;
        dict["backward_error"] = result.backward_error;
        dict["worst_error"] = result.worst_error;
        dict["seconds"] = result.seconds;
        return dict;
    }

private:
    struct Destroy {
        void operator()(ilux_solver* solver) const { ilux_destroy(solver); }
    };
    /// What the library calls for a product: Python, with its lock.
    struct Caller {
        Solver*           solver;
        nb::callable      call;
        std::int64_t      n;
        nb::dlpack::dtype type;

        static int apply(void* user, int op, const void* x, void* y)
        {
            auto&                        self = *static_cast<Caller*>(user);
            const nb::gil_scoped_acquire lock;
            try {
                const std::size_t      shape[1] = {static_cast<std::size_t>(self.n)};
                nb::ndarray<nb::numpy> from(const_cast<void*>(x), 1, shape, nb::handle(), nullptr, self.type);
                nb::ndarray<nb::numpy> to(y, 1, shape, nb::handle(), nullptr, self.type);
                self.call(op, from.cast(nb::rv_policy::reference), to.cast(nb::rv_policy::reference));
                return 0;
            } catch (nb::python_error& error) {
                self.solver->keep(error);
                return 1;
            }
        }
    };

    struct BorrowedCsr {
        ilux_csr     A;
        std::int64_t entries;
    };
    /// The matrix of these arrays, which are of the right types and lengths.
    BorrowedCsr csr_of(const ReadOnly& row_ptr, const ReadOnly& col, const ReadOnly& values) const
    {
        const bool wide = row_ptr.dtype() == nb::dtype<std::int64_t>();
        require_array(row_ptr, 1, wide ? nb::dtype<std::int64_t>() : nb::dtype<std::int32_t>(), "row_ptr");
        const auto last = row_ptr.size() - 1;
        auto       entries = static_cast<std::int64_t>(col.size());
        if (!on_device(row_ptr))
            entries = wide ? static_cast<const std::int64_t*>(row_ptr.data())[last]
                           : static_cast<const std::int32_t*>(row_ptr.data())[last];
        require_array(col, entries, nb::dtype<std::int32_t>(), "col");
        require_array(values, entries, type_, "values");
        if (on_device(row_ptr) != on_device(col) || on_device(row_ptr) != on_device(values))
            throw Failed{ILUX_BAD_INPUT, "the arrays of the matrix are on different devices"};
        return {{.n = static_cast<std::int64_t>(last),
                 .row_ptr = row_ptr.data(),
                 .row_ptr_bits = static_cast<std::int32_t>(row_ptr.itemsize() * 8),
                 .memory = on_device(row_ptr) ? ILUX_DEVICE : ILUX_HOST,
                 .col = static_cast<const std::int32_t*>(col.data()),
                 .values = values.data()},
                entries};
    }

    ilux_solver* get() const { return solver_.get(); }

    static std::string text(const char* given)
    {
        if (!given) throw Failed{ILUX_BAD_INPUT, "there is no such text"};
        return given;
    }
    void done(int status) const
    {
        if (status != ILUX_OK) throw Failed{status, ilux_message(get())};
    }
    /// Outcomes of a solve are no exceptions; what was refused is.
    int told(int status) const
    {
        if (status == ILUX_BAD_OPTION || status == ILUX_BAD_INPUT || status == ILUX_NO_DEVICE ||
            status == ILUX_INTERNAL)
            done(status);
        return status;
    }

    /// A long call: without Python's lock, but for a look at signals and for the listener.
    template <class Call>
    int run(Call&& call)
    {
        if (busy_)
            throw Failed{ILUX_BAD_INPUT,
                         "another call of this solver is under way: each thread needs a solver of its own"};
        raised_.reset();
        last_look_ = std::chrono::steady_clock::now();
        ilux_listen(get(), heard, this);
        int status = 0;
        {
            busy_ = true;
            const nb::gil_scoped_release unlocked;
            status = call();
        }
        busy_ = false;
        if (raised_) throw std::exchange(raised_, std::nullopt).value();
        return status;
    }

    static int heard(void* user, int phase, std::int64_t done, std::int64_t total, double residual)
    {
        auto&      self = *static_cast<Solver*>(user);
        const auto now = std::chrono::steady_clock::now();
        const bool look = now - self.last_look_ > std::chrono::milliseconds(50);
        if (!look && !self.listener_) return 0;
        const nb::gil_scoped_acquire lock;
        try {
            if (look) {
                self.last_look_ = now;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            }
            if (self.listener_ && phase != 2) (*self.listener_)(phase, done, total, residual);
            return 0;
        } catch (nb::python_error& error) {
            self.keep(error);
            return 1;
        }
    }

    /// The first exception of the caller's that a call met.
    void keep(nb::python_error& error)
    {
        if (!raised_) raised_.emplace(std::move(error));
    }

    std::unique_ptr<ilux_solver, Destroy> solver_;
    nb::dlpack::dtype                     type_;
    std::int64_t                          n_ = 0, entries_ = 0;
    std::array<ReadOnly, 3>               borrowed_;
    std::optional<nb::callable>           listener_;
    std::optional<nb::python_error>       raised_;
    std::chrono::steady_clock::time_point last_look_;
    bool                                  busy_ = false;  // a call is under way; Python's lock guards it
};

/// (row_ptr, col, values) of a matrix of the library's, which the arrays keep alive.
nb::tuple arrays_of(ilux_matrix* matrix)
{
    nb::capsule owner(matrix, [](void* one) noexcept { ilux_matrix_free(static_cast<ilux_matrix*>(one)); });
    ilux_csr    A{};
    if (const int status = ilux_matrix_csr(matrix, &A); status != ILUX_OK) throw Failed{status, ilux_last_error()};
    const auto*       row_ptr = static_cast<const std::int64_t*>(A.row_ptr);
    const std::size_t rows[1] = {static_cast<std::size_t>(A.n) + 1},
                      entries[1] = {static_cast<std::size_t>(row_ptr[A.n])};
    const auto array = [&](const void* data, const std::size_t* shape, nb::dlpack::dtype type) {
        return nb::ndarray<nb::numpy>(const_cast<void*>(data), 1, shape, owner, nullptr, type).cast();
    };
    const bool is_complex = ilux_matrix_values(matrix) == ILUX_COMPLEX;
    return nb::make_tuple(array(A.row_ptr, rows, nb::dtype<std::int64_t>()),
                          array(A.col, entries, nb::dtype<std::int32_t>()),
                          array(A.values, entries,
                                is_complex ? nb::dtype<std::complex<double>>() : nb::dtype<double>()));
}

template <int (*make)(const char*, ilux_matrix**)>
nb::tuple matrix_of(const std::string& what)
{
    const char* const text = for_c(what);
    ilux_matrix*      matrix = nullptr;
    int               status = 0;
    {
        const nb::gil_scoped_release unlocked;
        status = make(text, &matrix);
    }
    if (status != ILUX_OK) throw Failed{status, ilux_last_error()};
    return arrays_of(matrix);
}

}  // namespace

NB_MODULE(_core, module)
{
    static nb::object failed = nb::steal(PyErr_NewException("ilux._core.Failed", PyExc_Exception, nullptr));
    module.attr("Failed") = failed;
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Failed& error) {
            PyErr_SetObject(failed.ptr(), nb::make_tuple(error.status, error.message).ptr());
        }
    });
    module.def("version", [] { return std::string(ilux_version()); });
    module.def("gallery", &matrix_of<ilux_gallery>, nb::arg("spec"));
    module.def("read", &matrix_of<ilux_read>, nb::arg("path"));
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Solver::traverse)},
                                  {Py_tp_clear, reinterpret_cast<void*>(Solver::clear)},
                                  {0, nullptr}};
    nb::class_<Solver>(module, "Solver", nb::type_slots(slots))
        .def(nb::init<bool>(), nb::arg("is_complex"))
        .def("set", &Solver::set, nb::arg("name"), nb::arg("value"))
        .def("set_json", &Solver::set_json, nb::arg("text"))
        .def("options", &Solver::options)
        .def("set_stream", &Solver::set_stream, nb::arg("device"), nb::arg("stream"))
        .def("set_vectors", &Solver::set_vectors, nb::arg("near"), nb::arg("n"), nb::arg("count"), nb::arg("columns"))
        .def("analyse", &Solver::analyse, nb::arg("row_ptr"), nb::arg("col"), nb::arg("values"), nb::arg("systems"),
             nb::arg("columns"))
        .def("info", &Solver::info, nb::arg("row_ptr"), nb::arg("col"), nb::arg("values"), nb::arg("levels"))
        .def("compare", &Solver::compare, nb::arg("row_ptr"), nb::arg("col"), nb::arg("values"), nb::arg("b"),
             nb::arg("strategies"), nb::arg("repeats"))
        .def("factor", &Solver::factor, nb::arg("values").none())
        .def("refactor", &Solver::refactor, nb::arg("values"))
        .def("solve", &Solver::solve, nb::arg("op"), nb::arg("columns"), nb::arg("b"), nb::arg("ldb"), nb::arg("x"),
             nb::arg("ldx"))
        .def("precondition", &Solver::precondition, nb::arg("op"), nb::arg("columns"), nb::arg("r"), nb::arg("ldr"),
             nb::arg("z"), nb::arg("ldz"))
        .def("solve_batch", &Solver::solve_batch, nb::arg("members"), nb::arg("values"), nb::arg("b"), nb::arg("x"))
        .def("solve_operator", &Solver::solve_operator, nb::arg("n"), nb::arg("apply_A"), nb::arg("apply_M").none(),
             nb::arg("b"), nb::arg("x"))
        .def("listen", &Solver::listen, nb::arg("listener").none())
        .def("cancel", &Solver::cancel)
        .def("iterate", &Solver::iterate, nb::arg("x"))
        .def("fill", &Solver::fill)
        .def("lu", &Solver::lu)
        .def("near_null", &Solver::near_null)
        .def("message", &Solver::message)
        .def("columns", &Solver::columns)
        .def("report", &Solver::report, nb::arg("column"))
        .def("result", &Solver::result, nb::arg("column"));
}
