#include "ilux/base/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

void write(const FileTarget& target, const std::string& text)
{
    AtomicFile file(target);
    file.write(text);
    file.commit();
}

unsigned mode_of(const std::string& path)
{
    struct stat about {};
    EXPECT_EQ(stat(path.c_str(), &about), 0) << path;
    return about.st_mode & 07777;
}

TEST(AtomicFile, NothingIsThereBeforeItIsWholeSoThatAKilledProgramLeavesNothing)
{
    const TempFolder folder;
    const int        probe = open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0) GTEST_SKIP()
    << "this file system has no files without a name";
    close(probe);
    const std::string path = folder.file("x");
    {
        AtomicFile file(path);
        file.write("some");
        EXPECT_EQ(folder.entries(), 0U);
    }
    EXPECT_EQ(folder.entries(), 0U);
    for (const std::string text : {"made", "replaced"}) {
        AtomicFile file(path);
        file.write(text);
        EXPECT_EQ(folder.entries(), text == "made" ? 0U : 1U);
        file.commit();
        EXPECT_EQ(read_bytes(path), text);
        EXPECT_EQ(folder.entries(), 1U);
    }
    folder.write(fmt::format("x.{}.0", getpid()), "of another");  // the name that a replacing file gets first
    write(path, "once more");
    EXPECT_EQ(read_bytes(path), "once more");
    EXPECT_EQ(folder.entries(), 2U);
}

TEST(AtomicFile, KeepsTheModeOfTheFileItReplacesAlsoWhenThatIsRemovedFirst)
{
    const TempFolder folder;
    for (const unsigned mode : {0600U, 0640U, 0664U, 0755U}) {
        const std::string path = folder.write("x", "old");
        ASSERT_EQ(chmod(path.c_str(), mode), 0);
        write(path, "new");
        EXPECT_EQ(read_bytes(path), "new");
        EXPECT_EQ(mode_of(path), mode);
        const FileTarget target(path);
        EXPECT_TRUE(remove_former(target));
        EXPECT_EQ(folder.entries(), 0U);
        write(target, "newer");
        EXPECT_EQ(mode_of(path), mode);
    }
}

TEST(AtomicFile, KeepsTheOwner)
{
    if (geteuid() != 0) GTEST_SKIP()
    << "only root may give files away";
    const TempFolder  folder;
    const std::string path = folder.write("x", "old");
    ASSERT_EQ(chown(path.c_str(), 1234, 4321), 0);
    const FileTarget target(path);
    remove_former(target);
    write(target, "new");
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 1234U);
    EXPECT_EQ(about.st_gid, 4321U);
}

TEST(AtomicFile, WritesThroughLinksAlsoWhereTheyPointToNothingYet)
{
    const TempFolder  folder;
    const std::string target = folder.file("target"), first = folder.file("first"), second = folder.file("second");
    std::filesystem::create_symlink("target", second);  // relative to the link
    std::filesystem::create_symlink(second, first);
    for (const char* text : {"made", "replaced"}) {
        write(first, text);
        EXPECT_EQ(read_bytes(target), text);
        EXPECT_TRUE(std::filesystem::is_symlink(first) && std::filesystem::is_symlink(second));
    }
    EXPECT_TRUE(remove_former(first));
    EXPECT_FALSE(std::filesystem::exists(target));
    EXPECT_TRUE(std::filesystem::is_symlink(first) && std::filesystem::is_symlink(second));
    std::filesystem::create_symlink("round", folder.file("round"));
    expect_refusal([&] { write(folder.file("round"), ""); }, {"round", "symbolic links"});
}

TEST(AtomicFile, RemovesNothingThatIsNoFile)
{
    const TempFolder  folder;
    const std::string fifo = folder.file("fifo"), inner = folder.file("folder");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::filesystem::create_directory(inner);
    for (const std::string& path : {fifo, inner, folder.file("absent"), std::string("/dev/null"), std::string("-")})
        EXPECT_FALSE(remove_former(path)) << path;
    EXPECT_EQ(folder.entries(), 2U);
}

TEST(AtomicFile, WritesIntoAFifoWhichTheProbeLeavesAlone)
{
    const TempFolder  folder;
    const std::string fifo = folder.file("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = read_bytes(fifo); });
    require_writable(fifo);  // an open and a close would be the end for the reader
    write(fifo, "through the pipe");
    reader.join();
    EXPECT_EQ(got, "through the pipe");
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, AFifoWithoutAReaderIsNotWaitedForInVain)
{
    const TempFolder  folder;
    const std::string fifo = folder.file("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    FileTarget target(fifo);
    target.stop = StopToken().within(0.05);
    EXPECT_THROW(AtomicFile{target}, OutOfTime);
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, WritesIntoDescriptorsWhereTheyStand)
{
    const TempFolder  folder;
    const std::string path = folder.write("log", "first line\n");
    const int         file = open(path.c_str(), O_WRONLY | O_APPEND), input = open(path.c_str(), O_RDONLY);
    for (const char* name : {"/dev/fd/{}", "/proc/self/fd/{}"}) {
        const std::string descriptor = fmt::format(fmt::runtime(name), file);
        EXPECT_FALSE(remove_former(descriptor));
        require_writable(descriptor);
        write(descriptor, "more\n");
    }
    const std::string unwritable = fmt::format("/dev/fd/{}", input);
    expect_refusal([&] { require_writable(unwritable); }, {unwritable, "Bad file descriptor"});
    expect_refusal([&] { write(unwritable, "x"); }, {unwritable, "Bad file descriptor"});
    close(file);
    close(input);
    const std::string closed = fmt::format("/dev/fd/{}", file);
    expect_refusal([&] { require_writable(closed); }, {closed, "Bad file descriptor"});
    EXPECT_EQ(read_bytes(path), "first line\nmore\nmore\n");
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(AtomicFile, LeavesAProtectedFileAlone)
{
    if (geteuid() == 0) GTEST_SKIP()
    << "nothing is protected from root";
    const TempFolder  folder;
    const std::string path = folder.write("x", "old");
    ASSERT_EQ(chmod(path.c_str(), 0400), 0);
    expect_refusal([&] { remove_former(path); }, {path, "Permission denied"});
    expect_refusal([&] { require_writable(path); }, {path, "Permission denied"});
    EXPECT_EQ(read_bytes(path), "old");
}

}  // namespace
}  // namespace ilux::test
