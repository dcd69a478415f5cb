package program

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestVariables: of libc, which has variables of C and ones that each thread has.
func TestVariables(t *testing.T) {
	f := open(t, libc)
	if v, err := f.Variable("environ"); errors.Is(err, syscall.ENOENT) || err == nil && (v.Size != 8 || v.Addr == 0) {
		t.Errorf("environ: %+v, %v", v, err)
	}
	for name, want := range map[string]struct {
		err  error
		says string
	}{"nosuch": {syscall.ENOENT, "no variable nosuch"}, "write": {syscall.ENOENT, "no variable write"}, "errno": {syscall.EADDRNOTAVAIL, "each thread"}} {
		if _, err := f.Variable(name); !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v, want %v and %q", name, err, want.err, want.says)
		}
	}
}

// TestLines: the lines of this program are those that the runtime knows.
func TestLines(t *testing.T) {
	f := self(t)
	entry := uint64(reflect.ValueOf(target).Pointer())
	known := 0
	for pc := entry; pc < entry+40; pc++ {
		file, line := runtime.FuncForPC(uintptr(pc)).FileLine(uintptr(pc))
		got, ok := f.Line(pc)
		if ok && !strings.HasSuffix(file, "program_test.go") {
			t.Fatalf("%#x is in %s", pc, file)
		}
		if want := "program_test.go:"; ok && (!strings.Contains(got, want) || !strings.HasSuffix(got, fmt.Sprint(":", line))) {
			t.Errorf("%#x is at %s, want line %d", pc, got, line)
		} else if ok {
			known++
		}
	}
	if known < 20 {
		t.Errorf("%d lines are known", known)
	}
	if at := f.Before(entry + 40); at >= entry+40 || at < entry+20 {
		t.Errorf("the instruction before %#x begins at %#x", entry+40, at)
	}
	if line, ok := f.Line(1); ok {
		t.Errorf("address 1 is at %s", line)
	}
}
