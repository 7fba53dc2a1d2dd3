#include "base/fd_passing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

namespace relay {
namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const directory = ::opendir("/proc/self/fd");
  while (::readdir(directory)) ++count;
  ::closedir(directory);
  return count;
}

class FdPassing : public testing::Test {
 protected:
  FdPair sockets = *open_socket_pair(SOCK_SEQPACKET);
  FdPair pipe = *open_pipe();
  std::array<char, 16> room{};

  ReceivedMessage receive(int flags = 0) { return receive_with_fd(sockets.second.get(), room, flags); }
};

TEST_F(FdPassing, ADescriptorArrivesWithItsBytesAndClosesOnExec) {
  EXPECT_EQ(send_with_fd(sockets.first.get(), "hello", pipe.second.get()), 5);
  const ReceivedMessage received = receive();
  EXPECT_EQ(std::string_view(room.data(), static_cast<std::size_t>(received.bytes)), "hello");
  ASSERT_TRUE(received.fd.is_open());
  EXPECT_NE(received.fd.get(), pipe.second.get());
  EXPECT_EQ(::fcntl(received.fd.get(), F_GETFD), FD_CLOEXEC);
  ASSERT_EQ(::write(received.fd.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(pipe.first.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(FdPassing, BytesMayComeAlone) {
  EXPECT_EQ(send_with_fd(sockets.first.get(), "alone", -1), 5);
  const ReceivedMessage received = receive();
  EXPECT_EQ(received.bytes, 5);
  EXPECT_FALSE(received.fd.is_open());
}

TEST_F(FdPassing, AnEmptySocketAndAClosedOneAreToldApart) {
  const ReceivedMessage nothing = receive(MSG_DONTWAIT);
  EXPECT_EQ(nothing.bytes, -1);
  EXPECT_EQ(nothing.error_number, EAGAIN);
  sockets.first.reset();
  EXPECT_EQ(receive().bytes, 0);
  EXPECT_EQ(send_with_fd(sockets.second.get(), "x", -1), -1) << "and no SIGPIPE ends this test";
  EXPECT_EQ(errno, EPIPE);
}

// Two descriptors in one part, as a hostile sender may put them.
TEST_F(FdPassing, ASecondDescriptorIsClosed) {
  const std::array<int, 2> both{pipe.first.get(), pipe.second.get()};
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(sizeof both)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof both);
  std::memcpy(CMSG_DATA(part), both.data(), sizeof both);
  const std::size_t before = open_descriptors();
  ASSERT_EQ(::sendmsg(sockets.first.get(), &message, 0), 1);
  const ReceivedMessage received = receive();
  ASSERT_TRUE(received.fd.is_open());
  EXPECT_EQ(open_descriptors(), before + 1);
}

}  // namespace
}  // namespace relay
