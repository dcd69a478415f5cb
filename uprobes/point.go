package uprobes

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64/user"
	"sonde/kernel/refusal"
	"sonde/linux/space"
	"sonde/uprobes/images"
	"sonde/uprobes/place"
	"sonde/uprobes/stub"
)

// publish tells hits of pt whether they can be handled in trap context: nothing that they would
// call may block, and nothing that they have to do needs the goroutine. mu held.
//
// Hits read the list alone, so they never see a member that may block.
func (pt *point) publish() {
	all := pt.members.All()
	trap := len(all) > 0 && careful != nil && pt.inTrap()
	n, entries, words, wants, more := 0, uint32(0), uint32(0), uint32(0), uint32(0)
	for _, m := range all {
		if trap = trap && m.trapSafe; m.wants == 0 || m.flags.Has(disabled) {
			continue
		}
		if n, wants = n+1, wants|uint32(m.wants); m.begins() {
			entries, words = entries+1, max(words, uint32(m.words))
		}
		if m.wants&wantsMore != 0 {
			more = moreEntries
		}
	}
	if n != len(all) {
		wants = 0
	}
	pt.alone.Store(wants)
	pt.words.Store(max(words, pt.words.Load()))
	pt.entries.Store(max(entries|more, pt.entries.Load()))
	pt.settle(pt.fusing())
	if !trap || pt.unmade.Load() {
		pt.trap.Store(nil)
		return
	}
	pt.trap.Store(pt.members.First())
}

// inTrap reports whether the instruction can be got done in trap context.
func (pt *point) inTrap() bool {
	switch pt.plan.Way {
	case place.Nothing, place.Boost, place.Step:
		return true
	case place.Emulate:
		return pt.plan.Simple()
	}
	return false
}

// way says how hits of pt are handled: "boosted", "boosted in the trap", "fused".
func (pt *point) way() string {
	if pt.fused() {
		return "fused"
	}
	if pt.trap.Load() != nil {
		return pt.plan.Way.String() + InTheTrap
	}
	return pt.plan.Way.String()
}

// point returns the point at addr, with its breakpoint. mu held.
//
// Errors: EFAULT nothing is mapped there, EACCES, EEXIST, ENOMEM as space.Break; EILSEQ and
// EOPNOTSUPP the instruction cannot be probed.
func (x *text) point(addr uint64) (*point, error) {
	if pt := x.points.Find(uintptr(addr)); pt != nil {
		return pt, x.arm(pt)
	}
	pt, err := x.prepare(addr)
	if err != nil {
		return nil, err
	}
	x.points.Insert(pt)
	x.breaks.Store(user.NewBreaks(x.points.Entries()))
	x.known.Store(addr, pt)
	x.changes.Add(1)
	if err := x.arm(pt); err != nil {
		x.forget(pt)
		return nil, err
	}
	return pt, nil
}

// prepare makes a point, or reuses the one that was there, with its slot.
func (x *text) prepare(addr uint64) (*point, error) {
	var code [15]byte
	n, err := x.mem.Text(code[:], addr)
	if n == 0 {
		return nil, err
	}
	if code[0] == 0xCC {
		return nil, refusal.New(syscall.EEXIST, "there is a breakpoint at %#x already", addr)
	}
	im, bias := images.At(x.mem.Space, addr)
	if err := im.Begins(addr - bias); err != nil {
		return nil, err
	}
	plan, err := decide(code[:n], addr)
	if err != nil {
		return nil, err
	}
	if old := x.knew(addr); old != nil && old.plan.Code == plan.Code {
		return old, nil
	}
	if most := mostPoints(); pointsMade >= most {
		return nil, refusal.New(syscall.ENOMEM, "programs have %d probed instructions, as many as there is memory for", most)
	}
	pt := &point{addr: uintptr(addr), behind: uintptr(addr) + 1, plan: plan}
	pt.members.Set(nil) // its breakpoint is hit before it has a probe
	pt.code.Store(mach.Known)
	pt.stepped, _ = plan.As(place.Step)
	pt.check = im.CheckAt(addr - bias)
	if plan.Way == place.Boost || plan.Way == place.Step {
		if err := x.giveSlot(pt); err != nil {
			return nil, err
		}
	}
	x.made, pointsMade = x.made+1, pointsMade+1
	return pt, nil
}

// mostPoints is how many points there may be in all address spaces: they take at most a quarter of the machine's
// memory. A program that maps a file again and again, each time elsewhere, has the file's probes each time.
func mostPoints() int { return int(cmp.Or(table.Memory.RAM, 256<<20) / 4 / pointBytes) }

// pointBytes is about what a point takes, with its probe and its slot.
const pointBytes = 1 << 10

// unlist removes m from its point, and from the program a point that has no probes left. mu
// held.
func (x *text) unlist(m *member) {
	pt := m.point
	pt.set(slices.DeleteFunc(pt.registered(), func(o *member) bool { return o == m }))
	x.disarmUnwanted(pt)
	if len(pt.members.All()) == 0 {
		x.forget(pt)
	}
}

// forget lets hits find pt no more; its breakpoint has gone. mu held.
func (x *text) forget(pt *point) {
	x.points.Remove(pt.addr)
	x.changes.Add(1)
}

// knew returns the point that is or was at addr, or nil.
func (x *text) knew(addr uint64) *point {
	v, _ := x.known.Load(addr)
	pt, _ := v.(*point)
	return pt
}

// fusing returns the probe of pt if hits may run its handler's code, and call nothing. mu held.
func (pt *point) fusing() *member {
	if m := pt.lone(); m != nil && mach.Fuses() && m.fuser().Ready() {
		return m
	}
	return nil
}

// lone returns the only probe of pt, if its handler could be compiled; nil: there is none. mu held.
func (pt *point) lone() *member {
	all := pt.members.All()
	if len(all) != 1 || careful == nil || !pt.inTrap() {
		return nil
	}
	m := all[0]
	if m.flags.Has(unregistered|abandoned|disabled) || !m.trapSafe || m.fuser() == nil {
		return nil
	}
	if tk := tasks[m.process]; tk == nil || tk.text.process != m.process {
		return nil // other threads look for the code
	}
	return m
}

// fused reports whether hits run a handler's code. mu held.
func (pt *point) fused() bool { return pt.code.Load() != mach.Known }

// settle has hits go where they may, or to a goroutine that makes a stub: m is fusing's. mu held.
func (pt *point) settle(m *member) {
	code := mach.Known
	pt.unmade.Store(m != nil && m.stub == nil)
	if m != nil && m.stub != nil && m.stub.Code != 0 {
		code = m.stub.Code
	}
	pt.code.Store(code)
}

// makeStub makes the stub that pt wants: at the first hit, because most functions that a pattern fits are never called. If
// another goroutine changes probes meanwhile, a later hit does it.
func (pt *point) makeStub() {
	if !mu.TryLock() {
		return
	}
	m := pt.fusing()
	mu.Unlock()
	if m == nil {
		return
	}
	s := stub.Make(&mach, m.fuser(), stub.At{Plan: pt.plan, Slot: pt.slot, Check: pt.check}, m.Counter) // it takes locks of programs
	mu.Lock()
	defer mu.Unlock()
	if m.stub != nil || pt.lone() != m {
		s.Drop()
		return
	}
	m.stub = s
	pt.publish()
}

// unfit says why hits of pt call a handler that could be compiled, "" if none could. mu held.
func (pt *point) unfit() string {
	all := pt.members.All()
	if pt.fused() || len(all) == 0 || all[0].fuser() == nil {
		return ""
	}
	switch m := all[0]; {
	case len(all) > 1:
		return "other probes are there"
	case pt.lone() == nil:
		return "hits are not handled in the trap"
	case !mach.Fuses():
		return "debug.kprobes-fused is 0, or debug.kprobes-plain 1"
	case !m.fuser().Ready():
		return "the program is metered or held"
	case m.stub == nil:
		return "it was not hit yet"
	default:
		return m.stub.Why.Error()
	}
}

// A point begins as the entry of #BP expects.
var _ [0]struct{} = [unsafe.Offsetof(point{}.addr) - unsafe.Offsetof(user.Break{}.Addr) +
	unsafe.Offsetof(point{}.behind) - unsafe.Offsetof(user.Break{}.Behind) + unsafe.Offsetof(point{}.code) - unsafe.Offsetof(user.Break{}.Code)]struct{}{}

// forced is the place.Way that Force has set.
var forced atomic.Uint32

// Force makes new points use the given way wherever it is correct, instead of the cheapest,
// so that tests can try all of them. place.Refused ends that.
//
// Context: any.
func Force(w place.Way) { forced.Store(uint32(w)) }

// decide is place.Decide with Force applied.
func decide(code []byte, addr uint64) (*place.Plan, error) {
	plan, err := place.Decide(code, addr)
	if w := place.Way(forced.Load()); err == nil && plan.Allows(w) {
		return plan.As(w)
	}
	return plan, err
}

// where returns what is mapped at an address: PATH:0xOFFSET.
func where(s *space.Space, addr uint64) string {
	a, ok := s.At(addr)
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%s:%#x", cmp.Or(a.Ident.Name, "[anonymous]"), a.Offset+addr-a.Start)
}
