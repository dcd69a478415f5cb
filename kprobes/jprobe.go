package kprobes

import (
	"reflect"
	"unsafe"
)

// Jprobe calls a handler of the function's own signature at its entry, with
// the function's own arguments. Make one with NewJprobe: it checks that the
// signatures agree when it is compiled.
//
// The handler runs in trap context, on copies: of the registers, and of
// maxStack bytes of stack arguments. It must end by calling JprobeReturn; the
// function then runs with its arguments as they were.
type Jprobe struct {
	KP    Kprobe // first: a *Kprobe of kindJprobe is a *Jprobe
	Entry any    // the handler, a func

	code    uintptr // of Entry
	context uintptr // its closure
	sloppy  bool    // it has been told to call JprobeReturn
}

// maxStack is how many bytes of stack arguments a handler sees: MAX_STACK_SIZE.
const maxStack = 64

// NewJprobe returns a jprobe on function target with the given handler. That
// both are of one type F is the check; F must be a function type.
func NewJprobe[F any](target, handler F) *Jprobe {
	j := &Jprobe{Entry: handler}
	j.KP.Addr = codeOf(target)
	return j
}

// codeOf returns the address of a function's code, 0 if f is not a function.
func codeOf(f any) uintptr {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		return 0
	}
	return v.Pointer()
}

// setHandler prepares the call of Entry; false if it is no function.
func (j *Jprobe) setHandler() bool {
	j.code = codeOf(j.Entry)
	if j.code == 0 {
		return false
	}
	// A func in an interface is one word, the closure.
	// Safe because: j.Entry keeps it alive.
	j.context = (*[2]uintptr)(unsafe.Pointer(&j.Entry))[1]
	return true
}
