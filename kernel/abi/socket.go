package abi

// Families of sockets.
const (
	AF_UNSPEC = 0
	AF_UNIX   = 1
	AF_INET   = 2
	AF_INET6  = 10
	AF_MAX    = 46
)

// Types of sockets, and flags beside them.
const (
	SOCK_STREAM    = 1
	SOCK_DGRAM     = 2
	SOCK_RAW       = 3
	SOCK_SEQPACKET = 5
	SOCK_TYPE_MAX  = 10
	SOCK_TYPE_MASK = 0xf
	SOCK_NONBLOCK  = O_NONBLOCK
	SOCK_CLOEXEC   = O_CLOEXEC
)

// Levels of options, and the options of a socket.
const (
	SOL_SOCKET = 1

	SO_DEBUG       = 1
	SO_REUSEADDR   = 2
	SO_TYPE        = 3
	SO_ERROR       = 4
	SO_DONTROUTE   = 5
	SO_BROADCAST   = 6
	SO_SNDBUF      = 7
	SO_RCVBUF      = 8
	SO_KEEPALIVE   = 9
	SO_OOBINLINE   = 10
	SO_PRIORITY    = 12
	SO_LINGER      = 13
	SO_REUSEPORT   = 15
	SO_PASSCRED    = 16
	SO_PEERCRED    = 17
	SO_RCVLOWAT    = 18
	SO_SNDLOWAT    = 19
	SO_RCVTIMEO    = 20
	SO_SNDTIMEO    = 21
	SO_TIMESTAMP   = 29
	SO_ACCEPTCONN  = 30
	SO_SNDBUFFORCE = 32
	SO_RCVBUFFORCE = 33
	SO_PROTOCOL    = 38
	SO_DOMAIN      = 39
)

// Protocols, which are levels of options, too.
const (
	IPPROTO_IP   = 0
	IPPROTO_TCP  = 6
	IPPROTO_UDP  = 17
	IPPROTO_IPV6 = 41
)

// Options of protocols.
const (
	IP_TOS          = 1
	IP_TTL          = 2
	IP_MTU_DISCOVER = 10
	IP_RECVERR      = 11

	IPV6_UNICAST_HOPS = 16
	IPV6_RECVERR      = 25
	IPV6_V6ONLY       = 26
	IPV6_TCLASS       = 67

	TCP_NODELAY      = 1
	TCP_MAXSEG       = 2
	TCP_CORK         = 3
	TCP_KEEPIDLE     = 4
	TCP_KEEPINTVL    = 5
	TCP_KEEPCNT      = 6
	TCP_SYNCNT       = 7
	TCP_LINGER2      = 8
	TCP_QUICKACK     = 12
	TCP_USER_TIMEOUT = 18
)

// Flags of sending and receiving.
const (
	MSG_OOB          = 0x1
	MSG_PEEK         = 0x2
	MSG_CTRUNC       = 0x8
	MSG_TRUNC        = 0x20
	MSG_DONTWAIT     = 0x40
	MSG_EOR          = 0x80
	MSG_WAITALL      = 0x100
	MSG_ERRQUEUE     = 0x2000
	MSG_NOSIGNAL     = 0x4000
	MSG_CMSG_CLOEXEC = 0x40000000
)

// What goes beside a message.
const (
	SCM_RIGHTS      = 1
	SCM_CREDENTIALS = 2
	SCM_MAX_FD      = 253
)

// What shutdown ends.
const (
	SHUT_RD   = 0
	SHUT_WR   = 1
	SHUT_RDWR = 2
)

// Ucred is struct ucred.
type Ucred struct {
	PID      int32
	UID, GID uint32
}

// Msghdr is struct msghdr.
type Msghdr struct {
	Name       uint64
	Namelen, _ uint32
	Iov        uint64
	Iovlen     uint64
	Control    uint64
	Controllen uint64
	Flags      int32
	_          int32
}

// Mmsghdr is struct mmsghdr.
type Mmsghdr struct {
	Hdr    Msghdr
	Len, _ uint32
}

// Cmsghdr is struct cmsghdr: what follows is at the next multiple of 8.
type Cmsghdr struct {
	Len         uint64
	Level, Type int32
}

// CmsghdrLen is how long a Cmsghdr is.
const CmsghdrLen = 16

// SockaddrUnixMax is how long struct sockaddr_un is, SockaddrMax how long any address.
const (
	SockaddrUnixMax = 110
	SockaddrMax     = 128
)

// Linger is struct linger.
type Linger struct{ On, Seconds int32 }
