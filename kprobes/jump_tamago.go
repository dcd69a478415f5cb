//go:build tamago

package kprobes

import (
	"cmp"
	"errors"
	"slices"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/smp"
	"sonde/kernel/text"
)

// A site can be hit by a jump instead of a breakpoint: spec/4 §1.4. What jumps
// look like, and which sites may have one, is package optprobe's; this file
// puts them in and takes them out, so that the rest of the package need not
// care.

// An Optimizer makes detours: package optprobe.
type Optimizer interface {
	// Kick says that Candidates may have something new. Context: goroutine, mu held.
	Kick()
	// Finish returns when what has been kicked is done. Context: goroutine.
	Finish()
	// Release takes back a detour that nobody enters any more; some CPU may
	// still be in its copy until a grace period has passed. Context: as Kick.
	Release(*Detour)
}

// guarded by mu:
var (
	optimizer Optimizer // set once, at boot
	noJumps   bool      // what SetJumps has said
	detours   int       // sites that have one
)

// SetOptimizer makes o the optimizer.
//
// Context: boot, goroutine.
func SetOptimizer(o Optimizer) {
	mu.Lock()
	defer mu.Unlock()
	optimizer = o
}

// settled waits for the optimizer, so that who asks right after registering a
// probe is told what it will be.
func settled() {
	mu.Lock()
	o := optimizer
	mu.Unlock()
	if o != nil {
		o.Finish()
	}
}

func kick() {
	if optimizer != nil {
		optimizer.Kick()
	}
}

// ErrRetry says that nothing was changed because some CPU stood in the code to
// be replaced.
var ErrRetry = errors.New("a CPU stands in the region")

// A Candidate is an armed probe that could be hit by a jump but is not.
type Candidate struct {
	Addr   uintptr
	Check  int     // bytes of the stack check there, as kprobes decides it: up to its last branch
	Detour *Detour // nil if it has none yet
	Return bool    // there is a return probe there and nothing else

	turn int // as seen then
}

// Candidates returns the places with no post-handler and no jprobe, and with no
// other probe within their detour, in order of address. After SetJumps(false)
// there are none.
//
// Context: goroutine.
func Candidates() (list []Candidate) {
	mu.Lock()
	defer mu.Unlock()
	if noJumps {
		return nil
	}
	for _, s := range allSites() {
		if s.armed && !s.jumped && s.jumpable() && (s.detour == nil || !s.crowded()) {
			list = append(list, Candidate{s.addr, int(s.check.Len), s.detour, s.enter.Load() != 0, s.turn})
		}
	}
	slices.SortFunc(list, func(a, b Candidate) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// Optimized reports whether the probe at addr is hit by a jump.
//
// Context: goroutine.
func Optimized(addr uintptr) bool {
	mu.Lock()
	defer mu.Unlock()
	s := find(addr)
	return s != nil && s.jumped
}

// jumpable reports whether all probes on s can be called from a detour. Not those
// within a stack check: a probe at the entry may have decided what comes of it,
// and a copy would make it again.
func (s *site) jumpable() bool {
	return s.within == 0 && !s.post.Load() && !slices.ContainsFunc(s.probes(), func(k *Kprobe) bool { return k.kind == kindJprobe })
}

// Original returns the n bytes of code at addr as the image has them, without
// what probes have put there.
//
// Context: goroutine.
func Original(addr, n uintptr) []byte {
	mu.Lock()
	defer mu.Unlock()
	return original(addr, n)
}

// Bind gives c's site a detour: from now on a breakpoint there goes on in the
// detour's copy too, instead of coming back into the region from a slot. It
// reports whether there is such a site and it had none.
//
// Context: goroutine.
func (c *Candidate) Bind(d *Detour) bool {
	mu.Lock()
	defer mu.Unlock()
	s := find(d.Addr)
	if s == nil || s.detour != nil || len(s.probes()) == 0 {
		return false
	}
	d.bind(s)
	claimDetour(d.Head, s.addr)
	d.site, s.detour = s, d
	detours++
	s.resume.Store(d.Resume)
	s.set(s.probes())
	c.Detour, c.turn = d, s.turn
	return true
}

// Jump replaces the breakpoints of list by jumps, all at one stop of the machine,
// which took stopped. Those that are not as they were when they got their detour,
// or were listed, are left out. A grace period must have passed since then, so
// that no CPU is in a region or will come back into it.
//
// Context: goroutine.
// Errors: ErrRetry, and what stopping the machine and writing text return;
// nothing has changed then.
// Source: spec/4 §1.4.5.
func Jump(cands []Candidate) (done int, stopped time.Duration, err error) {
	mu.Lock()
	defer mu.Unlock()
	if noJumps {
		return 0, 0, nil
	}
	var list []*site
	for _, c := range cands {
		s := find(c.Addr)
		if s != nil && s.detour == c.Detour && s.turn == c.turn && s.armed && !s.jumped &&
			s.jumpable() && means(s.how.Load()) == meansDetour {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return 0, 0, nil
	}
	stopped, err = swap(list, true)
	if err != nil {
		return 0, stopped, err
	}
	for _, s := range list {
		s.jumped = true
	}
	return len(list), stopped, nil
}

// unjump puts breakpoints back where there are jumps. Called with mu held.
func unjump(list []*site) {
	list = slices.DeleteFunc(slices.Clone(list), func(s *site) bool { return !s.jumped })
	if len(list) == 0 {
		return
	}
	for {
		_, err := swap(list, false)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrRetry) && !errors.Is(err, syscall.ETIMEDOUT) {
			panic(err) // somebody else writes text
		}
		grace.Synchronize()
	}
	for _, s := range list {
		s.jumped = false
	}
}

// unjumpAround puts the breakpoint back where a jump covers addr.
func unjumpAround(addr uintptr) {
	if detours == 0 {
		return
	}
	for off := uintptr(1); off < maxCovered; off++ {
		if s := find(addr - off); s != nil && s.jumped && off < s.detour.Len {
			unjump([]*site{s})
		}
	}
}

// neighboured has the sites whose detours cover addr look again whether they
// are crowded. Called with mu held.
func neighboured(addr uintptr) {
	if detours == 0 {
		return
	}
	for off := uintptr(1); off < maxCovered; off++ {
		if s := find(addr - off); s != nil && s.detour != nil && off < s.detour.Len {
			s.set(s.probes())
		}
	}
}

// SetJumps has every jump taken out, and no other goes in (off), or has the
// optimizer look again (on).
//
// Context: goroutine.
func SetJumps(on bool) {
	cpu.Forbid("takes jumps in or out")
	mu.Lock()
	defer mu.Unlock()
	if noJumps = !on; noJumps {
		unjump(allSites())
	}
	kick()
}

// swap exchanges breakpoints and jumps, at one stop.
func swap(list []*site, in bool) (time.Duration, error) {
	patches := make([]text.Patch, len(list))
	for i, s := range list {
		trapped, jump := s.trapped(), s.jump()
		patches[i] = text.Patch{Addr: s.addr, Old: trapped[:], New: jump[:]}
		if !in {
			patches[i].Old, patches[i].New = patches[i].New, patches[i].Old
		}
	}
	batch := text.Batch{Patches: patches}
	return smp.StopMachine(func(held []*amd64.Regs) error {
		if standing(list, held) {
			return ErrRetry
		}
		return batch.Commit()
	})
}

// standing reports whether a held CPU will go on in the region of a site, behind
// its first byte. From the site's slot it would, too; but while a site has a
// detour nobody is sent to the slot, and those before have left it a grace period
// ago.
//
// Context: machine stopped.
func standing(list []*site, held []*amd64.Regs) bool {
	for _, r := range held {
		if r == nil {
			continue
		}
		for _, s := range list {
			if ip := uintptr(r.IP); ip > s.addr && ip < s.addr+JumpSize {
				return true
			}
		}
	}
	return false
}

// trapped and jump are the five bytes at s when it is armed, one way or the other.
func (s *site) trapped() (b [JumpSize]byte) {
	copy(b[:], s.orig[:])
	b[0] = insn.OpInt3
	return b
}

func (s *site) jump() [JumpSize]byte {
	b, _ := insn.Jump(uint64(s.addr), uint64(s.detour.Entry)) // boot lays detours out within reach
	return b
}
