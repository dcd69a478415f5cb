package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"unsafe"

	"sonde/kernel/refusal"
)

// What tells errors apart is the table of their methods. Those of texts begin with it in memory.
var (
	errnoMethods = methodsOf(syscall.ENOENT)
	pathMethods  = methodsOf(&fs.PathError{})
	textMethods  = [...]uintptr{methodsOf(errors.New("")), methodsOf(refusal.New(0, "")), methodsOf(fmt.Errorf("%w", io.EOF))}
)

// methodsOf is the first word of an interface. Safe because: it has two, and the first is no pointer into the heap.
func methodsOf(err error) uintptr { return *(*uintptr)(unsafe.Pointer(&err)) }

// errnoTexts are by number.
var errnoTexts = make([]string, 134)

func init() {
	for i := range errnoTexts {
		errnoTexts[i] = syscall.Errno(i).Error()
	}
}
