//go:build tamago

package optimized

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/handler_sees_what_a_trap_shows", seesTheSame)
	suites.Add("optimized/changed_registers_take_effect", changesCount)
	suites.Add("optimized/changed_flags_take_effect", changedFlags)
	suites.Add("optimized/changed_ip_is_ignored", changedIP)
}

// A view is what a handler was shown at each hit: registers, X0-X15.
type view struct {
	n    int
	regs [64]amd64.Regs
	xmm  [64][16][16]byte
}

// look is a handler that fills v.
func (v *view) look(clobber func()) kprobes.PreHandler {
	return func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		if v.n < len(v.regs) {
			v.regs[v.n] = *r
			v.regs[v.n].Vector, v.regs[v.n].Err = 0, 0 // how it came there
			v.regs[v.n].SP = load(r.SP)                // the stack may have moved since the last run
			v.xmm[v.n] = *trap.XMM(r)
		}
		v.n++
		clobber()
		return 0
	}
}

// load reads a word of the interrupted code's stack.
func load(addr uint64) uint64 {
	p := uintptr(addr)
	return **(**uint64)(unsafe.Pointer(&p)) // Safe because: it is at the top of that
}

// shape returns the shape called name.
func shape(t *suites.T, name string) *targets.Shape {
	for _, s := range targets.Shapes() {
		if s.Name == name {
			return &s
		}
	}
	t.Fatalf("there is no shape %s", name)
	return nil
}

// seesTheSame runs a shape whose inputs have every flag set and clear, and a
// different value in each register, with a breakpoint and with a jump.
func seesTheSame(t *suites.T) {
	for _, name := range []string{"pushf", "popf", "direction", "carry", "movAbs", "nops"} {
		s := shape(t, name)
		want, err := s.Run()
		t.Must(err)
		var views [2]view
		for i := range views {
			setSysctl(t, fmt.Sprint(i))
			k := at(s.Entry, views[i].look(targets.Clobber))
			register(t, k)
			if i == 1 {
				jumps(t, k)
				hasJump(t, name, s.Entry)
			}
			got, err := s.Run()
			t.Must(err)
			kprobes.UnregisterKprobe(k)
			account(t, k, name, uint64(s.Inputs()), 0)
			for j := range got {
				if d := got[j].Diff(&want[j]); d != "" {
					t.Errorf("%s, jump %d, input %d: %s", name, i, j, d)
				}
			}
		}
		views[0].same(t, name, &views[1])
	}
	clean(t)
}

// same compares what was shown.
func (v *view) same(t *suites.T, name string, w *view) {
	if v.n == 0 || v.n > len(v.regs) || v.n != w.n {
		t.Errorf("%s: %d hits by breakpoint, %d by jump", name, v.n, w.n)
		return
	}
	for i := range v.n {
		a, b := v.regs[i], w.regs[i]
		if a != b {
			t.Errorf("%s, hit %d: by breakpoint %+v, by jump %+v", name, i, a, b)
		}
		if v.xmm[i] != w.xmm[i] {
			t.Errorf("%s, hit %d: SSE registers by breakpoint %x, by jump %x", name, i, v.xmm[i], w.xmm[i])
		}
	}
}

// changesCount makes the handler change each register that "nops" leaves alone.
func changesCount(t *suites.T) {
	s := shape(t, "nops")
	want, err := s.Run()
	t.Must(err)
	k := at(s.Entry, func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		for i, p := range []*uint64{&r.BX, &r.CX, &r.DX, &r.SI, &r.DI, &r.BP, &r.R8, &r.R9,
			&r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15} {
			*p = uint64(1000 + i)
		}
		r.AX++
		for i := range trap.XMM(r) {
			binary.LittleEndian.PutUint64(trap.XMM(r)[i][8:], uint64(2000+i))
		}
		return 0
	})
	optimized(t, k)
	got, _ := s.Run()
	kprobes.UnregisterKprobe(k)
	w := want[0].State
	w.AX++
	for i, p := range []*uint64{&w.BX, &w.CX, &w.DX, &w.SI, &w.DI, &w.BP, &w.R8, &w.R9,
		&w.R10, &w.R11, &w.R12, &w.R13, &w.R14, &w.R15} {
		*p = uint64(1000 + i)
	}
	for i, p := range []*[2]uint64{&w.X0, &w.X1, &w.X2, &w.X3, &w.X4, &w.X5, &w.X6, &w.X7,
		&w.X8, &w.X9, &w.X10, &w.X11, &w.X12, &w.X13, &w.X14, &w.X15} {
		p[1] = uint64(2000 + i)
	}
	want[0].State = w
	if d := got[0].Diff(&want[0]); d != "" {
		t.Errorf("%s", d)
	}
}

// arithmetic are the flags that the short way back restores; direction is one that needs the long
// way.
const (
	arithmetic = amd64.RFLAGS_CF | amd64.RFLAGS_PF | amd64.RFLAGS_AF | amd64.RFLAGS_ZF | amd64.RFLAGS_SF | amd64.RFLAGS_OF
	direction  = amd64.RFLAGS_DF
)

// change is what a handler does to the flags.
var change struct{ set, clear uint64 }

func changeFlags(r *amd64.Regs) { r.Flags = r.Flags&^change.clear | change.set }

// flagsChange sets and clears each flag in a handler that is on s, with every state
// of it before; seen says what s finds.
func flagsChange(t *suites.T, s *targets.Shape, seen func(*targets.Result) uint64) {
	change.set, change.clear = 0, 0
	plain, err := s.Run()
	t.Must(err)
	all := uint64(arithmetic | direction)
	for bit := uint64(1); bit <= direction; bit <<= 1 {
		if bit&all == 0 {
			continue
		}
		for _, c := range [][2]uint64{{bit, 0}, {0, bit}, {all &^ bit, bit}, {bit, all &^ bit}} {
			change.set, change.clear = c[0], c[1]
			got, _ := s.Run()
			for i := range got {
				if have, want := seen(&got[i])&all, seen(&plain[i])&all&^change.clear|change.set; have != want {
					t.Errorf("input %d, set %#x, clear %#x: flags %#x, want %#x", i, change.set, change.clear, have, want)
				}
			}
		}
	}
}

// before is the flags as "pushf" finds them.
func before(r *targets.Result) uint64 { return r.AX }

func changedFlags(t *suites.T) {
	s := shape(t, "pushf")
	k := at(s.Entry, func(_ *kprobes.Kprobe, r *amd64.Regs) int { changeFlags(r); return 0 })
	optimized(t, k)
	flagsChange(t, s, before)
	kprobes.UnregisterKprobe(k)
}

// changedIP: kprobes.txt §1.4, note. A probe whose handler changes IP must not be optimized; a
// post-handler prevents that.
func changedIP(t *suites.T) {
	k := at(entry(targets.Leaf), func(_ *kprobes.Kprobe, r *amd64.Regs) int { r.IP = 0; return 1 })
	second := at(entry(targets.Leaf), pre)
	for _, list := range [][]*kprobes.Kprobe{{k}, {k, second}} {
		optimized(t, list...)
		for i := range uint64(10) {
			suites.Equal(t, "Leaf", targets.Leaf(i, 1), 3*i+1)
		}
		kprobes.UnregisterKprobes(list)
		for _, k := range list {
			account(t, k, "Leaf", 10, 0)
			k.Addr = entry(targets.Leaf)
		}
	}
	ipCounts(t)
}

// ipCounts makes a handler return for the function, at a place that gets no jump: an empty
// post-handler prevents it, or the sysctl.
func ipCounts(t *suites.T) {
	defer setSysctl(t, "1")
	k := at(entry(targets.Leaf), func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		sp := uintptr(r.SP)
		r.AX, r.IP, r.SP = 4711, **(**uint64)(unsafe.Pointer(&sp)), r.SP+8 // Safe because: Leaf was just called
		return 1
	})
	for what, prepare := range map[string]func(){
		"an empty post-handler": func() { k.PostHandler = post },
		"the sysctl":            func() { k.PostHandler = nil; setSysctl(t, "0") },
	} {
		setSysctl(t, "1")
		prepare()
		k.Addr = entry(targets.Leaf)
		register(t, k)
		optimize(t)
		hasNone(t, what, k.Addr)
		suites.Equal(t, "Leaf with "+what, targets.Leaf(1, 2), 4711)
		kprobes.UnregisterKprobe(k)
		account(t, k, "Leaf with "+what, 1, 0)
	}
}
