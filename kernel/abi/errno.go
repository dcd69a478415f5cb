package abi

import (
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// errnos are the errors that calls return, by number: what C libraries say of them.
//
// Source: Linux, errno(3).
var errnos = `1 EPERM Operation not permitted
2 ENOENT No such file or directory
3 ESRCH No such process
4 EINTR Interrupted system call
5 EIO Input/output error
6 ENXIO No such device or address
7 E2BIG Argument list too long
8 ENOEXEC Exec format error
9 EBADF Bad file descriptor
10 ECHILD No child processes
11 EAGAIN Resource temporarily unavailable
12 ENOMEM Cannot allocate memory
13 EACCES Permission denied
14 EFAULT Bad address
15 ENOTBLK Block device required
16 EBUSY Device or resource busy
17 EEXIST File exists
18 EXDEV Invalid cross-device link
19 ENODEV No such device
20 ENOTDIR Not a directory
21 EISDIR Is a directory
22 EINVAL Invalid argument
23 ENFILE Too many open files in system
24 EMFILE Too many open files
25 ENOTTY Inappropriate ioctl for device
26 ETXTBSY Text file busy
27 EFBIG File too large
28 ENOSPC No space left on device
29 ESPIPE Illegal seek
30 EROFS Read-only file system
31 EMLINK Too many links
32 EPIPE Broken pipe
33 EDOM Numerical argument out of domain
34 ERANGE Numerical result out of range
35 EDEADLK Resource deadlock avoided
36 ENAMETOOLONG File name too long
37 ENOLCK No locks available
38 ENOSYS Function not implemented
39 ENOTEMPTY Directory not empty
40 ELOOP Too many levels of symbolic links
61 ENODATA No data available
62 ETIME Timer expired
71 EPROTO Protocol error
75 EOVERFLOW Value too large for defined data type
84 EILSEQ Invalid or incomplete multibyte or wide character
88 ENOTSOCK Socket operation on non-socket
92 ENOPROTOOPT Protocol not available
95 EOPNOTSUPP Operation not supported
97 EAFNOSUPPORT Address family not supported by protocol
98 EADDRINUSE Address already in use
107 ENOTCONN Transport endpoint is not connected
110 ETIMEDOUT Connection timed out
111 ECONNREFUSED Connection refused
114 EALREADY Operation already in progress
115 EINPROGRESS Operation now in progress
125 ECANCELED Operation canceled
130 EOWNERDEAD Owner died
131 ENOTRECOVERABLE State not recoverable`

var errnoLines = sync.OnceValue(func() map[syscall.Errno][2]string {
	all := make(map[syscall.Errno][2]string)
	for line := range strings.Lines(errnos) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		n, _ := strconv.Atoi(f[0])
		all[syscall.Errno(n)] = [2]string{f[1], f[2]}
	}
	return all
})

// ErrnoText returns an error's name and what it means, as strace prints them.
func ErrnoText(e syscall.Errno) (name, text string) {
	if l, ok := errnoLines()[e]; ok {
		return l[0], l[1]
	}
	return "errno " + strconv.Itoa(int(e)), "Unknown error " + strconv.Itoa(int(e))
}
