// Package sock makes sockets: streams and messages between programs of this machine, by
// pairs, by names, by paths and by ports of the loopback addresses.
//
// A Socket has an inbox. Sent data goes straight into the inbox of the other end; there is
// nothing in between. A stream takes as much as it has space for, and the sender retries
// with the rest. A datagram or a packet is taken completely or not at all. An inbox has
// space while it holds less than the sender's send buffer, and poll reports space once
// three quarters are free, as in Linux.
//
// Nothing here waits: operations return EAGAIN if they are not possible yet, and a Socket
// is a poll.Source.
//
// Messages can carry open files (SCM_RIGHTS). The message holds its files while it is in an
// inbox. Sockets that are held only by messages in each other's inboxes form a cycle that
// no close would end; passed.go finds them, and empties their inboxes.
//
// Locks: Socket.reading > passing.mu > Socket.mu; Socket.binding > vfs; names.mu is a leaf.
// A goroutine never holds the mu of two sockets: what concerns both ends is done at one
// after the other, so an intermediate state can be seen, as if the two ends were on two
// machines. Queues are notified without mu, because epoll, when woken, asks a socket for
// its state while holding a lock of its own.
//
// Source: man unix(7), socket(7), send(2), recv(2); POSIX.1-2017, "Sockets".
package sock
