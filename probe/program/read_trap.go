package program

// Trap context. Helpers that read memory which need not be there: what cannot be read leaves zeroes, and
// the program gets EFAULT. A string is read up to its end, or as far as there is room.

import (
	"syscall"

	"sonde/probe/attach"
)

// helpRead copies from anywhere in the kernel.
func helpRead(to, n, from, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	if readable(from, n) < n {
		zero(pointer(to), n)
		return result(syscall.EFAULT)
	}
	move(pointer(to), pointer(from), n)
	return 0
}

// helpReadUser copies from the memory of the process that was hit.
func helpReadUser(to, n, from, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if peek(hit, int(cpu), pointer(to), n, from) < n {
		zero(pointer(to), n)
		return result(syscall.EFAULT)
	}
	return 0
}

// helpReadAny copies from the kernel, or else from the process: no address is in both.
func helpReadAny(to, n, from, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if readable(from, 1) == 0 {
		return helpReadUser(to, n, from, 0, 0, 0, cpu, hit)
	}
	return helpRead(to, n, from, 0, 0, 0, cpu, hit)
}

func helpReadString(to, n, from, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	got := readable(from, n)
	for i := range got {
		c := *byteAt(from + i)
		*byteAt(to + i) = c
		if c == 0 {
			return i + 1
		}
	}
	return cut(to, n, got)
}

func helpReadUserString(to, n, from, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	got := peek(hit, int(cpu), pointer(to), n, from)
	for i := range got {
		if *byteAt(to + i) == 0 {
			zero(pointer(to+i), n-i)
			return i + 1
		}
	}
	return cut(to, n, got)
}

func helpReadAnyString(to, n, from, _, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if readable(from, 1) == 0 {
		return helpReadUserString(to, n, from, 0, 0, 0, cpu, hit)
	}
	return helpReadString(to, n, from, 0, 0, 0, cpu, hit)
}

// cut ends a string of which only got bytes were there, none of them its end.
func cut(to, n, got uintptr) uintptr {
	switch {
	case n == 0:
		return 0
	case got < n:
		zero(pointer(to), n)
		return result(syscall.EFAULT)
	}
	*byteAt(to + n - 1) = 0
	return n
}

// byteAt is a byte of memory that was found readable, or that is the program's.
func byteAt(at uintptr) *byte { return (*byte)(pointer(at)) }

// helpCompare compares at most n bytes with a string, as strncmp does.
func helpCompare(a, n, b, _, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	for i := range n {
		if x, y := *byteAt(a + i), *byteAt(b + i); x != y || x == 0 {
			return uintptr(int(x) - int(y))
		}
	}
	return 0
}

// helpContains tells whether a string has another one in it. Both end with a zero, or with their size.
func helpContains(text, n, what, size, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	for from := uintptr(0); ; from++ {
		if beginsWith(text+from, n-from, what, size) {
			return 1
		}
		if from == n || *byteAt(text + from) == 0 {
			return 0
		}
	}
}

func beginsWith(text, n, what, size uintptr) bool {
	for i := uintptr(0); i < size && *byteAt(what + i) != 0; i++ {
		if i == n || *byteAt(text + i) != *byteAt(what + i) {
			return false
		}
	}
	return true
}
