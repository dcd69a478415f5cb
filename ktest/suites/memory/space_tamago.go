//go:build tamago && !nolinux

package memory

import (
	"sonde/arch/amd64/paging"
	"sonde/kernel/mm/frame"
	"sonde/ktest/suites"
	"sonde/ktest/suites/leaves"
	"sonde/linux/space"
)

func init() {
	suites.Add("memory/programs_see_only_their_own", programsSeeOnlyTheirOwn)
	suites.Add("memory/spaces_leave_nothing", spacesLeaveNothing)
}

// machine is one that no CPU ever runs a program of.
func machine(t *suites.T) *space.Machine {
	if space.Kernel == nil {
		t.Skipf("this machine has no programs")
	}
	k := space.Kernel
	return &space.Machine{Frames: k.Frames, Programs: k.Programs, RAM: k.RAM, SpareTables: k.SpareTables, KernelHalf: k.KernelHalf}
}

// programsSeeOnlyTheirOwn: the tables of a program map the kernel as the kernel's own do,
// for the supervisor, and for ring 3 what the program has touched.
func programsSeeOnlyTheirOwn(t *suites.T) {
	m := machine(t)
	s, err := m.New()
	t.Must(err)
	defer s.Release()
	mine := map[uint64]space.Prot{}
	for i, at := range []uint64{m.Programs.Start, 64 << 20, 1 << 30, 100 << 40, m.Programs.End - paging.PageSize} {
		prot := []space.Prot{space.Read, space.Read | space.Write, space.Read | space.Exec}[i%3]
		_, err := s.Map(at, paging.PageSize, prot, space.NoReplace, nil, 0)
		t.Must(err)
		t.Must(s.Fault(at, prot))
		mine[at] = prot
	}
	kernel := map[uint64]leaves.Leaf{}
	for _, l := range leaves.All() {
		kernel[l.VA] = l
	}
	for _, l := range leaves.Of(s.Root()) {
		if l.User {
			prot, ok := mine[l.VA]
			if !ok || l.Write != (prot&space.Write != 0) || l.Execute != (prot&space.Exec != 0) || !frame.Kernel.Owns(frame.Frame(l.PA)) {
				t.Errorf("ring 3 may access %#x: %+v, want %d", l.VA, l, prot)
			}
			delete(mine, l.VA)
			continue
		}
		if kernel[l.VA] != l {
			t.Errorf("%#x is %+v, want %+v", l.VA, l, kernel[l.VA])
		}
		delete(kernel, l.VA)
	}
	if len(mine)+len(kernel) > 0 {
		t.Errorf("not mapped: %v of the program's, %d leaves of the kernel's", mine, len(kernel))
	}
}

// spacesLeaveNothing: programs that fork and touch memory on all CPUs leave no frame.
func spacesLeaveNothing(t *suites.T) {
	m := machine(t)
	used := func() int { return frame.Kernel.Stats().Used }
	before := used()
	t.Together(func(int) {
		for i := range uint32(20) {
			s, err := m.New()
			t.Must(err)
			at, err := s.Map(0, 4<<20, space.Read|space.Write, 0, nil, 0)
			t.Must(err)
			for page := range uint64(100) {
				t.Must(s.Store32(at+page*40<<10, i))
			}
			child, err := s.Fork()
			t.Must(err)
			t.Must(child.Store32(at, i+1))
			if v, err := s.Load32(at); v != i || err != nil {
				t.Errorf("the parent reads %d, %v, want %d", v, err, i)
			}
			s.Release()
			if v, err := child.Load32(at + 40<<10); v != i || err != nil {
				t.Errorf("the child reads %d, %v, want %d", v, err, i)
			}
			child.Release()
		}
	})
	if now := used(); now != before {
		t.Errorf("%d frames, then %d", before, now)
	}
}
