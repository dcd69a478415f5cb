package kprobes

import (
	"reflect"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/probe"
)

// Jprobe calls a handler of the function's own signature at its entry, with
// the function's own arguments. Make one with NewJprobe: it checks that the
// signatures agree when it is compiled.
//
// The handler runs in trap context, on copies: of the registers, and of the
// arguments that are passed on the stack. It must end by calling JprobeReturn; the
// function then runs with its arguments as they were.
type Jprobe struct {
	KP    Kprobe // first: a *Kprobe of kindJprobe is a *Jprobe
	Entry any    // the handler, a func

	code    uintptr // of Entry
	context uintptr // its closure
	words   uintptr // arguments on the stack, in words
	sloppy  bool    // it has been told to call JprobeReturn
}

// maxStack is how many bytes of its caller's frame a handler may need, for arguments
// and results that are passed on the stack and for spilling argument registers, which
// are 192 at most. It is MAX_STACK_SIZE of kprobes.txt §1.2, but nothing is cut off: a
// signature that needs more is refused.
const maxStack = 1024

// NewJprobe returns a jprobe on function target with the given handler. That
// both are of one type F is the check; F must be a function type.
//
// Context: any.
func NewJprobe[F any](target, handler F) *Jprobe {
	j := &Jprobe{Entry: handler}
	j.KP.Addr = goabi.CodeOf(target)
	return j
}

// prepare gets the call of Entry ready.
//
// Errors: EINVAL it is no function; E2BIG its signature needs more than maxStack.
func (j *Jprobe) prepare() error {
	code := goabi.CodeOf(j.Entry)
	if code == 0 {
		return probe.Refuse(syscall.EINVAL, "Entry is not a function")
	}
	args, size := goabi.CallFrame(reflect.TypeOf(j.Entry))
	if size > maxStack {
		return probe.Refuse(syscall.E2BIG, "its arguments and results need %d bytes of stack, more than %d", size, maxStack)
	}
	// A func in an interface is one word, the closure.
	// Safe because: j.Entry keeps it alive.
	j.code, j.context, j.words = code, (*[2]uintptr)(unsafe.Pointer(&j.Entry))[1], args/goabi.WordSize
	return nil
}

// manner needs nothing for SSE registers: they are saved to be copied.
func (j *Jprobe) manner() probe.Flags { return flagSpecial }
func (j *Jprobe) left()               {}
func (j *Jprobe) handlers() []handler { return []handler{{"jprobe", j.Entry}} }
func (j *Jprobe) account() Ledger     { return j.KP.Ledger() }

// JprobeReturn ends a jprobe handler. It does not return.
//
// Context: a jprobe handler.
// Source: kprobes.txt §1.2.
func JprobeReturn() { endMirrored() }
