package program

// Trap context. Helpers that make texts of a format, for the program or for people.

import (
	"syscall"
	"unsafe"

	"sonde/probe/attach"
)

// most is how many words a format can have.
const most = 12

func helpFormat(to, size, format, data, n, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if n%wordSize != 0 || n > most*wordSize {
		return result(syscall.EINVAL)
	}
	o := output{to: to, size: size, cpu: int(cpu), hit: hit}
	if errno := o.format(format, maxFormat, operands{data, n / wordSize}); errno != 0 {
		return result(errno)
	}
	return o.end()
}

// maxFormat bounds a format that the verifier has seen end on the stack.
const maxFormat = 512

// helpPrint says a text of up to three words.
func helpPrint(format, n, a, b, c, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	args := [3]uintptr{a, b, c}
	return say(format, n, operands{uintptr(unsafe.Pointer(&args)), 3}, cpu, hit)
}

func helpPrintWords(format, n, data, size, _, _ uintptr, cpu uint32, hit *attach.Hit) uintptr {
	if size%wordSize != 0 || size > most*wordSize {
		return result(syscall.EINVAL)
	}
	return say(format, n, operands{data, size / wordSize}, cpu, hit)
}

// say writes a record of what programs say: see Said.
func say(format, n uintptr, args operands, cpu uint32, hit *attach.Hit) uintptr {
	w := said.Load().Writer(int(cpu))
	p := w.Reserve(unsafe.Sizeof(saying{}), now())
	if p == nil {
		return result(syscall.EAGAIN)
	}
	s := (*saying)(p)
	o := output{to: uintptr(unsafe.Pointer(&s.text)), size: maxSaid, cpu: int(cpu), hit: hit}
	if errno := o.format(format, n, args); errno != 0 {
		w.Discard(p)
		return result(errno)
	}
	s.ids = uint64(helpPID(0, 0, 0, 0, 0, 0, cpu, hit))
	helpComm(uintptr(unsafe.Pointer(&s.comm)), uintptr(len(s.comm)), 0, 0, 0, 0, cpu, hit)
	o.end()
	s.size = uint64(min(o.n, maxSaid-1))
	w.Submit()
	return uintptr(s.size) + 1
}
