#include "ilux/base/io/npy.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

/// The Python text of a key's value in {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }, blanks in front
/// skipped.
std::string_view value_in(std::string_view dict, std::string_view key, std::string_view name)
{
    for (const char quote : {'\'', '"'}) {
        const std::string quoted = fmt::format("{}{}{}", quote, key, quote);
        auto              p = dict.find(quoted);
        if (p == std::string_view::npos) continue;
        p = dict.find_first_not_of(" \t\n", p + quoted.size());
        if (p == std::string_view::npos || dict[p] != ':') continue;
        p = dict.find_first_not_of(" \t\n", p + 1);
        if (p != std::string_view::npos) return dict.substr(p);
    }
    throw InvalidInput(fmt::format("{}: the header of the array does not say '{}'", name, key));
}

/// "<f8": byte order, kind, bytes of an element, which of text (U) are four a character.
void take_type(std::string_view value, std::string_view name, NpyArray& array)
{
    const char quote = value.front();
    const auto end = value.find(quote, 1);
    require((quote == '\'' || quote == '"') && end != std::string_view::npos && end >= 3, [&] {
        return fmt::format("{}: an array of structures ({}); expected one of numbers", name,
                           printable(value.substr(0, 40)));
    });
    const std::string_view type = value.substr(1, end - 1);
    require(std::string_view("<>|=").find(type[0]) != std::string_view::npos,
            [&] { return fmt::format("{}: expected a type as '<f8', found '{}'", name, printable(type)); });
    array.order = type[0] == '>' ? std::endian::big : std::endian::little;
    array.kind = type[1];
    if (array.kind == 'O')
        throw InvalidInput(
            fmt::format("{}: an array of Python objects, which only Python can load; save numbers alone", name));
    const auto [stop, error] = std::from_chars(type.data() + 2, type.data() + type.size(), array.item);
    require(error == std::errc{} && stop == type.data() + type.size() && array.item > 0 && array.item < (1 << 16),
            [&] { return fmt::format("{}: expected a type as '<f8', found '{}'", name, printable(type)); });
    if (array.kind == 'U') array.item *= 4;
}

/// (), (3,), (3, 4), or (3L, 4L) of Python 2.
std::vector<Offset> shape_of(std::string_view value, std::string_view name)
{
    const auto refuse_it = [&] {
        throw InvalidInput(
            fmt::format("{}: expected a shape as (3, 4), found {}", name,
                        printable(value.substr(0, std::min<std::size_t>(40, value.find_last_not_of(" \n") + 1)))));
    };
    std::vector<Offset> shape;
    if (value.front() != '(') refuse_it();
    const char *p = value.data() + 1, *end = value.data() + value.size();
    const auto  skip = [&](std::string_view those) {
        while (p != end && those.find(*p) != std::string_view::npos) ++p;
    };
    for (skip(" "); p != end && *p != ')'; skip(" ,")) {
        Offset length = 0;
        const auto [stop, error] = std::from_chars(p, end, length);
        if (error != std::errc{} || length < 0 || shape.size() == 8) refuse_it();
        shape.push_back(length);
        p = stop;
        skip("L ");
        if (p != end && *p != ',' && *p != ')') refuse_it();
    }
    if (p == end) refuse_it();
    return shape;
}

/// f(E{}) for the type of real numbers that the elements, or the halves of complex ones, have.
template <class F>
bool with_type(char kind, int item, F&& f)
{
    switch (kind) {
        case 'f':
            return item == 8 ? (f(double{}), true) : item == 4 && (f(float{}), true);
        case 'i':
            return item == 8   ? (f(std::int64_t{}), true)
                   : item == 4 ? (f(std::int32_t{}), true)
                   : item == 2 ? (f(std::int16_t{}), true)
                               : item == 1 && (f(std::int8_t{}), true);
        case 'u':
        case 'b':
            return item == 8   ? (f(std::uint64_t{}), true)
                   : item == 4 ? (f(std::uint32_t{}), true)
                   : item == 2 ? (f(std::uint16_t{}), true)
                               : item == 1 && (f(std::uint8_t{}), true);
        default:
            return false;
    }
}

/// The elements one after another, each as `convert` has it from its own type.
template <class Out, class Convert>
std::vector<Out> elements(const NpyArray& array, Convert&& convert)
{
    std::vector<Out> all(static_cast<std::size_t>(array.size()));
    with_type(array.kind, array.item, [&](auto type) {
        using E = decltype(type);
        const auto fill = [&](auto order) {
            const char* p = array.data.data();
            for (Out& one : all) {
                one = convert(load<order.value, E>(p));
                p += sizeof(E);
            }
        };
        if (array.order == std::endian::little) fill(std::integral_constant<std::endian, std::endian::little>{});
        else fill(std::integral_constant<std::endian, std::endian::big>{});
    });
    return all;
}

template <class Integer>
std::vector<Integer> integers_of(const NpyArray& array, std::string_view name)
{
    require(array.shape.size() == 1 && (array.kind == 'i' || array.kind == 'u'), [&] {
        return fmt::format("{}: {} dimensions of type {}{}; expected one of whole numbers", name, array.shape.size(),
                           array.kind, array.item);
    });
    return elements<Integer>(array, [&](auto value) {
        if constexpr (std::is_integral_v<decltype(value)>)
            require(std::in_range<Integer>(value), [&] {
                return fmt::format("{}: expected whole numbers of {} bits, found {}", name, 8 * sizeof(Integer), value);
            });
        return static_cast<Integer>(value);
    });
}

}  // namespace

NpyArray parse_npy_array(std::string_view bytes, std::string_view name)
{
    const auto broken = [&](std::string_view why) { return fmt::format("{}: not a NumPy array: {}", name, why); };
    require(bytes.starts_with(npy_magic) && bytes.size() >= 10, [&] { return broken("its head is missing"); });
    const int         version = static_cast<unsigned char>(bytes[6]);
    const std::size_t head = version == 1 ? 10 : 12;
    require(version >= 1 && version <= 3 && bytes.size() >= head,
            [&] { return broken(fmt::format("version {} of its head; expected 1, 2 or 3", version)); });
    const std::size_t length = version == 1 ? load<std::endian::little, std::uint16_t>(bytes.data() + 8)
                                            : load<std::endian::little, std::uint32_t>(bytes.data() + 8);
    require(bytes.size() - head >= length, [&] { return broken("it ends within its head"); });
    const std::string_view dict = bytes.substr(head, length);
    NpyArray               array;
    take_type(value_in(dict, "descr", name), name, array);
    array.by_columns = value_in(dict, "fortran_order", name).starts_with("True");
    array.shape = shape_of(value_in(dict, "shape", name), name);
    array.data = bytes.substr(head + length);

    Offset     count = 1;
    const auto most = static_cast<Offset>(array.data.size()) / array.item;
    const bool empty = std::ranges::count(array.shape, 0) > 0;
    for (const Offset one : array.shape) count = empty ? 0 : count > most / one ? most + 1 : count * one;
    require(static_cast<std::size_t>(count) * array.item == array.data.size(), [&] {
        return fmt::format("{}: the array's shape and type are not those of the {} bytes that follow: {}", name,
                           array.data.size(), printable(dict.substr(0, dict.find('\n'))));
    });
    return array;
}

std::string text_of(const NpyArray& array)
{
    std::string text;
    const int   width = array.kind == 'U' ? 4 : 1;
    if (array.kind != 'U' && array.kind != 'S') return text;
    for (std::size_t p = 0; p + width <= array.data.size(); p += width) {
        const char c = array.data[p + (width == 4 && array.order == std::endian::big ? 3 : 0)];
        if (c != '\0') text += c;
    }
    return text;
}

std::vector<Offset> offsets_of(const NpyArray& array, std::string_view name)
{
    return integers_of<Offset>(array, name);
}

std::vector<Index> indices_of(const NpyArray& array, std::string_view name) { return integers_of<Index>(array, name); }

bool has_complex_elements(const NpyArray& array, std::string_view name)
{
    const bool complex = array.kind == 'c';
    const bool known = complex ? array.item == 16 || array.item == 8 : with_type(array.kind, array.item, [](auto) {});
    require(known, [&] {
        return fmt::format(
            "{}: numbers of type {}{}; read are f8, f4, whole numbers, c16 and c8: convert them by "
            "numpy.save(FILE, array.astype({}))",
            name, array.kind, array.item, complex ? "complex" : "float");
    });
    return complex;
}

template <Scalar T>
std::vector<T> values_of(const NpyArray& array, std::string_view name)
{
    if (!has_complex_elements(array, name))
        return elements<T>(array, [](auto value) { return T(static_cast<double>(value)); });
    std::vector<T> all;
    if constexpr (is_complex<T>) {
        NpyArray halves = array;
        halves.kind = 'f';
        halves.item /= 2;
        const auto parts = elements<double>(halves, [](auto value) { return static_cast<double>(value); });
        for (std::size_t p = 0; p < parts.size(); p += 2) all.emplace_back(parts[p], parts[p + 1]);
    } else throw InvalidInput(fmt::format("{}: expected real values: complex ones are not read here", name));
    return all;
}

AnyMatrix parse_npy(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    const NpyArray array = parse_npy_array(bytes, name);
    const auto&    shape = array.shape;
    require(shape.size() == 1 || shape.size() == 2,
            [&] { return fmt::format("{}: an array of {} dimensions; expected one or two", name, shape.size()); });
    MatrixMarketHeader header{.array = true, .complex = has_complex_elements(array, name)};
    accept_sizes(header, shape[0], shape.size() == 2 ? shape[1] : 1, array.size(), bytes.size(), name, options);
    const auto dense = [&]<Scalar T>(T) -> AnyMatrix {
        return from_dense<T>(header, name, !array.by_columns, values_of<T>(array, name));
    };
    return header.complex ? dense(std::complex<double>{}) : dense(double{});
}

#define ILUX_INSTANTIATE(T) template std::vector<T> values_of(const NpyArray&, std::string_view);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail

namespace ilux {

template <Scalar T>
void write_npy(const FileTarget& target, Index n, std::span<const T> X)
{
    const std::size_t columns = n > 0 ? X.size() / static_cast<std::size_t>(n) : 1;
    require(columns * static_cast<std::size_t>(n) == X.size(),
            [&] { return fmt::format("{} values are no columns of {}", X.size(), n); });
    std::string head = fmt::format("{{'descr': '<{}', 'fortran_order': True, 'shape': ({},{}), }}",
                                   is_complex<T> ? "c16" : "f8", n, columns == 1 ? "" : fmt::format(" {}", columns));
    head.append(63 - (10 + head.size()) % 64, ' ');  // data begin at a multiple of 64 bytes
    head += '\n';
    AtomicFile file(target);
    file.write(fmt::format("{}{}{}{}{}{}", detail::npy_magic, '\1', '\0', static_cast<char>(head.size() & 0xff),
                           static_cast<char>(head.size() >> 8), head));
    file.write({reinterpret_cast<const char*>(X.data()), X.size_bytes()});
    file.commit();
}

#define ILUX_INSTANTIATE(T) template void write_npy(const FileTarget&, Index, std::span<const T>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux
