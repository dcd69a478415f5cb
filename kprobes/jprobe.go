package kprobes

import (
	"reflect"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/goabi"
	"sonde/kernel/refusal"
	"sonde/probe/ledger"
)

// Jprobe calls a handler with the function's own signature and arguments at the function's
// entry. Use NewJprobe to make one: it checks at compile time that the signatures agree.
//
// The handler runs in trap context, on copies of the registers and of the arguments on the
// stack. It must end by calling JprobeReturn; the function then runs with its original
// arguments.
type Jprobe struct {
	KP    Kprobe // first: a *Kprobe of kindJprobe is a *Jprobe
	Entry any    // the handler, a func

	code    uintptr // of Entry
	context uintptr // its closure
	words   uintptr // arguments on the stack, in words
	sloppy  bool    // it has been told once to call JprobeReturn
}

// maxStack is how many bytes of its caller's frame a handler may need: for arguments and
// results on the stack, and for spilling argument registers (192 bytes at most). It is
// MAX_STACK_SIZE of kprobes.txt §1.2, but nothing is cut off: a signature that needs more
// is refused.
const maxStack = 1024

// NewJprobe returns a jprobe on the function target with the given handler. F must be a
// function type; that both are of type F guarantees equal signatures.
//
// Context: any.
func NewJprobe[F any](target, handler F) *Jprobe {
	j := &Jprobe{Entry: handler}
	j.KP.Addr = goabi.CodeOf(target)
	return j
}

// prepare prepares the call of Entry.
//
// Errors: EINVAL Entry is not a function; E2BIG its signature needs more than maxStack.
func (j *Jprobe) prepare() error {
	code := goabi.CodeOf(j.Entry)
	if code == 0 {
		return refusal.New(syscall.EINVAL, "Entry is not a function")
	}
	args, size := goabi.CallFrame(reflect.TypeOf(j.Entry))
	if size > maxStack {
		return refusal.New(syscall.E2BIG, "its arguments and results need %d bytes of stack, more than %d", size, maxStack)
	}
	// A func in an interface is one word, the closure.
	// Safe because: j.Entry keeps it alive.
	j.code, j.context, j.words = code, (*[2]uintptr)(unsafe.Pointer(&j.Entry))[1], args/goabi.WordSize
	return nil
}

// manner needs no flag for SSE registers: they are saved, because they are copied.
func (j *Jprobe) manner() ledger.Flags { return flagSpecial }
func (j *Jprobe) detached()            {}
func (j *Jprobe) handlers() []function { return []function{{"jprobe", j.Entry}} }
func (j *Jprobe) account() Ledger      { return j.KP.Ledger() }

// JprobeReturn ends a jprobe handler. It does not return.
//
// Context: a jprobe handler.
// Source: kprobes.txt §1.2.
func JprobeReturn() { endMirrored() }
