package prologue

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"sonde/arch/amd64/insn"
)

// use keeps frames on the stack and functions from being inlined.
//
//go:noinline
func use(p []byte) byte { return p[len(p)-1] }

//go:noinline
func smallFunc() byte { var b [16]byte; return use(b[:]) }

//go:noinline
func mediumFunc() byte { var b [200]byte; return use(b[:]) }

//go:noinline
func mediumFunc32() byte { var b [1000]byte; return use(b[:]) }

//go:noinline
func largeFunc() byte { var b [10_000]byte; return use(b[:]) }

//go:nosplit
//go:noinline
func nosplitFunc(a, b int) int { return a*b + a }

// TestFindKnowsWhatTheCompilerWrites reads checks of this test binary itself.
func TestFindKnowsWhatTheCompilerWrites(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("this binary is not x86-64")
	}
	for _, c := range []struct {
		f        any
		kind     Kind
		min, max uint64 // frame
	}{
		{smallFunc, Small, 0, 0},
		{mediumFunc, Medium, 1, 127},
		{mediumFunc32, Medium, 800, 1100},
		{largeFunc, Large, 9000, 11_000},
		{nosplitFunc, None, 0, 0},
	} {
		pc := reflect.ValueOf(c.f).Pointer()
		name := runtime.FuncForPC(pc).Name()
		code := unsafe.Slice(*(**byte)(unsafe.Pointer(&pc)), 64) // Safe because: text is mapped, and does not end there
		got := Find(code)
		if got.Kind != c.kind || got.Frame < c.min || got.Frame > c.max {
			t.Errorf("%s: %+v in % x", name, got, code[:24])
		}
		if got.Kind == None {
			continue
		}
		leadsOn := false
		insn.Walk(code, func(off int, in insn.Inst) bool {
			leadsOn = off == int(got.Len) && in.Flow == insn.Jcc && in.Cond() == 6 // JLS: below or equal
			return off < int(got.Len)
		})
		if !leadsOn {
			t.Errorf("%s: no JLS at %d of % x", name, got.Len, code[:24])
		}
		for n := range int(got.Len) {
			if cut := Find(code[:n]); cut != (Check{}) {
				t.Errorf("%s cut to %d bytes: %+v", name, n, cut)
			}
		}
	}
}
