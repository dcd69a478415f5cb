package program

import (
	"encoding/binary"
	"strings"
)

// GoidOffset returns where in a goroutine's g a program of Go has the goroutine's number, in bytes; 0: it is none of
// Go's.
//
// Source: the Go tree, src/runtime/runtime2.go: type g of 1.17 to 1.26, of which 1.23 and 1.24 have syscallbp as well
// as sched.ret; src/debug/buildinfo for the version.
func (f *File) GoidOffset() int {
	if f.gotab == nil {
		return 0
	}
	if v := f.goVersion(); strings.HasPrefix(v, "go1.23") || strings.HasPrefix(v, "go1.24") {
		return 160
	}
	return 152
}

// goVersion is what has compiled the program; "": it does not say so.
func (f *File) goVersion() string {
	const header = 32
	for i := range f.elf.sections {
		s := &f.elf.sections[i]
		if s.name != ".go.buildinfo" {
			continue
		}
		if b := f.elf.data(s); len(b) > header {
			if n, used := binary.Uvarint(b[header:]); used > 0 && n < uint64(len(b)-header-used) {
				return string(b[header+used:][:n])
			}
		}
	}
	return ""
}
