package strace

import (
	"fmt"
	"strings"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/signal"
	"sonde/linux/syscall"
)

// shownBytes is how much of a string is shown, as by strace without -s.
const shownBytes = 32

func integer(_ *Shown, v uint64) string { return fmt.Sprint(int32(v)) }
func decimal(_ *Shown, v uint64) string { return fmt.Sprint(int64(v)) }

func pointer(_ *Shown, v uint64) string {
	if v == 0 {
		return "NULL"
	}
	return fmt.Sprintf("%#x", v)
}

func hexOr0(_ *Shown, v uint64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%#x", v)
}

func octal(v uint64) string { return fmt.Sprintf("%#03o", v) }

func mode(_ *Shown, v uint64) string { return octal(v & 07777) }

// bits shows flags; none is shown for 0.
func bits(names []bit, none string) func(*Shown, uint64) string {
	return func(_ *Shown, v uint64) string { return join(names, v, none) }
}

func join(names []bit, v uint64, none string) string {
	var all []string
	for _, f := range names {
		if v&f.mask == f.mask {
			all = append(all, f.name)
			v &^= f.mask
		}
	}
	if v != 0 {
		all = append(all, fmt.Sprintf("%#x", v))
	}
	if len(all) == 0 {
		return none
	}
	return strings.Join(all, "|")
}

// oneOf shows a number by its name.
func oneOf(names []bit) func(*Shown, uint64) string {
	return func(_ *Shown, v uint64) string { return named(names, uint32(v)) }
}

func named(names []bit, v uint32) string {
	for _, n := range names {
		if n.mask == uint64(v) {
			return n.name
		}
	}
	return fmt.Sprintf("%#x", v)
}

func openFlags(_ *Shown, v uint64) string {
	way := [...]string{"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"}[v&abi.O_ACCMODE]
	if v = uint64(uint32(v)) &^ abi.O_ACCMODE; v == 0 {
		return way
	}
	return way + "|" + join(openNames, v, "")
}

func noCreate(at int) func(*Shown) bool {
	return func(s *Shown) bool { return s.a[at]&abi.O_CREAT == 0 }
}

func fcntlWithoutArg(s *Shown) bool {
	c := s.a[1]
	return c == abi.F_GETFD || c == abi.F_GETFL || c == abi.F_GETPIPE_SZ || c == abi.F_GETOWN
}

func mmapFlags(_ *Shown, v uint64) string {
	way := [...]string{"0", "MAP_SHARED", "MAP_PRIVATE", "MAP_SHARED_VALIDATE"}[v&3]
	if v = uint64(uint32(v)) &^ 3; v == 0 {
		return way
	}
	return way + "|" + join(mapNames, v, "")
}

func cloneFlags(_ *Shown, v uint64) string {
	text, sig := join(cloneNames, v&^abi.CSIGNAL, ""), int(v&abi.CSIGNAL)
	switch {
	case sig == 0 && text == "":
		return "0"
	case sig == 0:
		return text
	case text == "":
		return "SIG" + abi.SignalName(sig)
	}
	return text + "|SIG" + abi.SignalName(sig)
}

func futexOp(_ *Shown, v uint64) string {
	text := named(futexNames, uint32(v&^(abi.FUTEX_PRIVATE_FLAG|abi.FUTEX_CLOCK_REALTIME)))
	if v&abi.FUTEX_PRIVATE_FLAG != 0 {
		text += "_PRIVATE"
	}
	if v&abi.FUTEX_CLOCK_REALTIME != 0 {
		text += "|FUTEX_CLOCK_REALTIME"
	}
	return text
}

func futexWakes(s *Shown) bool { return s.a[1]&0x7f == abi.FUTEX_WAKE }
func futexWaits(s *Shown) bool { return s.a[1]&0x7f == abi.FUTEX_WAIT }

func signalNumber(_ *Shown, v uint64) string {
	if n := int(int32(v)); signal.Valid(n) {
		return "SIG" + abi.SignalName(n)
	}
	return fmt.Sprint(int32(v))
}

// quoted is b in quotes, with the escapes of C.
func quoted(b []byte) string {
	var s strings.Builder
	s.WriteByte('"')
	for i, c := range b {
		switch {
		case c == '"' || c == '\\':
			s.WriteByte('\\')
			s.WriteByte(c)
		case c >= '\t' && c <= '\r':
			s.WriteByte('\\')
			s.WriteByte("tnvfr"[c-'\t'])
		case c >= ' ' && c < 0x7f:
			s.WriteByte(c)
		case i+1 < len(b) && b[i+1] >= '0' && b[i+1] <= '7':
			fmt.Fprintf(&s, `\%03o`, c) // a shorter escape would include the digit that follows
		default:
			fmt.Fprintf(&s, `\%o`, c)
		}
	}
	return s.String() + `"`
}

// text shows a string that ends with a zero byte. Paths are shown in full.
func text(s *Shown, v uint64) string {
	if v == 0 {
		return "NULL"
	}
	b, err := s.t.Memory().CString(v, abi.PATH_MAX)
	if err != nil {
		return pointer(s, v)
	}
	return quoted([]byte(b))
}

// buffer shows n bytes, shortened if they are many.
func (s *Shown) buffer(v uint64, n int64) string {
	if n < 0 || v == 0 {
		return pointer(s, v)
	}
	b := make([]byte, min(n, shownBytes))
	if s.t.Memory().In(b, v) != nil {
		return pointer(s, v)
	}
	if n > shownBytes {
		return quoted(b) + "..."
	}
	return quoted(b)
}

// bytesOf shows bytes whose number is another argument.
func bytesOf(count int) func(*Shown, uint64) string {
	return func(s *Shown, v uint64) string { return s.buffer(v, int64(s.a[count])) }
}

// bytesRead shows as many bytes as the call returned.
func bytesRead(s *Shown, v uint64) string { return s.buffer(v, s.result) }

// hexRead shows them in hexadecimal, for data that is not text.
func hexRead(s *Shown, v uint64) string {
	b := make([]byte, max(0, min(s.result, shownBytes)))
	if s.t.Memory().In(b, v) != nil {
		return pointer(s, v)
	}
	text := `"`
	for _, c := range b {
		text += fmt.Sprintf(`\x%02x`, c)
	}
	if text += `"`; s.result > shownBytes {
		text += "..."
	}
	return text
}

// structure shows what is at an address.
func structure[T any](s *Shown, v uint64, f func(T) string) string {
	if v == 0 {
		return "NULL"
	}
	x, err := read[T](s, v)
	if err != nil {
		return pointer(s, v)
	}
	return f(x)
}

// read copies what is at an address.
func read[T any](s *Shown, v uint64) (x T, err error) {
	err = s.t.Memory().In(abi.Bytes(&x), v)
	return x, err
}

func timespecOf(s *Shown, v uint64) string {
	return structure(s, v, func(x abi.Timespec) string { return fmt.Sprintf("{tv_sec=%d, tv_nsec=%d}", x.Sec, x.Nsec) })
}

func timevalOf(s *Shown, v uint64) string {
	return structure(s, v, func(x abi.Timeval) string { return fmt.Sprintf("{tv_sec=%d, tv_usec=%d}", x.Sec, x.Usec) })
}

func fileStatus(s *Shown, v uint64) string {
	return structure(s, v, func(x abi.Stat) string {
		what := fmt.Sprintf("st_size=%d", x.Size)
		if kind := x.Mode & abi.S_IFMT; kind == abi.S_IFCHR || kind == abi.S_IFBLK {
			what = fmt.Sprintf("st_rdev=makedev(%#x, %#x)", x.Rdev>>8&0xfff, x.Rdev&0xff|x.Rdev>>12&^0xff)
		}
		return fmt.Sprintf("{st_mode=%s|%s, %s, ...}", named(kindNames, x.Mode&abi.S_IFMT), octal(uint64(x.Mode&07777)), what)
	})
}

func unameOf(s *Shown, v uint64) string {
	return structure(s, v, func(x abi.Utsname) string {
		name := func(b [65]byte) string { return quoted([]byte(strings.TrimRight(string(b[:]), "\x00"))) }
		return fmt.Sprintf("{sysname=%s, nodename=%s, ...}", name(x.Sysname), name(x.Nodename))
	})
}

func pair[T any](s *Shown, v uint64) string {
	return structure(s, v, func(x [2]T) string { return fmt.Sprintf("[%v, %v]", x[0], x[1]) })
}

func limitOf(s *Shown, v uint64) string {
	one := func(n uint64) string {
		switch {
		case n == abi.RLIM_INFINITY:
			return "RLIM64_INFINITY"
		case n > 1024 && n%1024 == 0:
			return fmt.Sprintf("%d*1024", n/1024)
		}
		return fmt.Sprint(n)
	}
	return structure(s, v, func(x abi.Rlimit) string {
		return fmt.Sprintf("{rlim_cur=%s, rlim_max=%s}", one(x.Cur), one(x.Max))
	})
}

func setText(x signal.Set) string {
	var all []string
	for n := 1; n <= abi.SIGMAX; n++ {
		switch {
		case n == abi.SIGRTMIN && x.Has(n):
			all = append(all, "RTMIN")
		case x.Has(n):
			all = append(all, abi.SignalName(n))
		}
	}
	if len(all) > abi.SIGMAX/2 {
		rest := setText(^x)
		return "~" + rest
	}
	return "[" + strings.Join(all, " ") + "]"
}

func signalSet(s *Shown, v uint64) string { return structure(s, v, setText) }

func actionOf(s *Shown, v uint64) string {
	return structure(s, v, func(x abi.Sigaction) string {
		handler := fmt.Sprintf("%#x", x.Handler)
		if x.Handler <= abi.SIG_IGN {
			handler = [...]string{"SIG_DFL", "SIG_IGN"}[x.Handler]
		}
		restorer := ""
		if x.Flags&abi.SA_RESTORER != 0 {
			restorer = fmt.Sprintf(", sa_restorer=%#x", x.Restorer)
		}
		return fmt.Sprintf("{sa_handler=%s, sa_mask=%s, sa_flags=%s%s}", handler, setText(signal.Set(x.Mask)), join(saNames, x.Flags, "0"), restorer)
	})
}

func waitStatus(s *Shown, v uint64) string {
	if s.result == 0 {
		return pointer(s, v)
	}
	return structure(s, v, func(x int32) string {
		switch st := proc.Status(x); {
		case x == 0xffff:
			return "[{WIFCONTINUED(s)}]"
		case x&0xff == 0x7f:
			return fmt.Sprintf("[{WIFSTOPPED(s) && WSTOPSIG(s) == SIG%s}]", abi.SignalName(int(x>>8&0xff)))
		case st.Signal() != 0:
			core := ""
			if st.Dumped() {
				core = " && WCOREDUMP(s)"
			}
			return fmt.Sprintf("[{WIFSIGNALED(s) && WTERMSIG(s) == SIG%s%s}]", abi.SignalName(st.Signal()), core)
		default:
			return fmt.Sprintf("[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", st.Code())
		}
	})
}

// vectors shows the buffers of writev; of readv, as much as was read.
func vectors(s *Shown, v uint64) string {
	left := int64(-1) // unlimited
	if strings.Contains(s.Call.Name, "read") {
		left = s.result
	}
	return several(s, v, s.a[2], func(x abi.Iovec) string {
		n := int64(x.Len)
		if left >= 0 {
			n = min(n, left)
			left -= n
		}
		return fmt.Sprintf("{iov_base=%s, iov_len=%d}", s.buffer(x.Base, n), x.Len)
	})
}

func pollFDs(s *Shown, v uint64) string {
	return several(s, v, s.a[1], func(x abi.PollFD) string {
		return fmt.Sprintf("{fd=%d, events=%s}", x.FD, join(pollNames, uint64(uint16(x.Events)), "0"))
	})
}

// several shows an array of n structures, 16 of them at most.
func several[T any](s *Shown, v, n uint64, f func(T) string) string {
	var texts []string
	for range min(n, 16) {
		x, err := read[T](s, v)
		if err != nil {
			return pointer(s, v)
		}
		texts = append(texts, f(x))
		v += uint64(len(abi.Bytes(&x)))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// stringsShown is how many strings of an array are shown.
const stringsShown = 32

func stringList(s *Shown, v uint64) string {
	room := syscall.StringsMost
	all, err := syscall.StringsAt(s.t, v, &room)
	if err != nil || v == 0 {
		return pointer(s, v)
	}
	texts := make([]string, 0, len(all))
	for i, x := range all {
		if i == stringsShown {
			texts = append(texts, "...")
			break
		}
		end := ""
		if len(x) > shownBytes {
			x, end = x[:shownBytes], "..."
		}
		texts = append(texts, quoted([]byte(x))+end)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func variables(s *Shown, v uint64) string {
	room := syscall.StringsMost
	all, err := syscall.StringsAt(s.t, v, &room)
	if err != nil || v == 0 {
		return pointer(s, v)
	}
	if len(all) == 1 {
		return fmt.Sprintf("%#x /* 1 var */", v)
	}
	return fmt.Sprintf("%#x /* %d vars */", v, len(all))
}
