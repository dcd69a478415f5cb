//go:build tamago && !nolinux

package watch

import (
	"sync/atomic"

	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
)

func init() {
	suites.Add("watch/program_writes_where_it_may_not_yet", programMayNotYet)
}

// fork calls fork.
var fork = []byte{0xb8, 57, 0, 0, 0, 0x0f, 0x05}

// incCode changes the program's first instruction, which is read-only.
var incCode = []byte{0x48, 0xff, 0x04, 0x25, codeAt & 0xff, codeAt >> 8 & 0xff, codeAt >> 16, 0x00} // INCQ codeAt

// programMayNotYet: an instruction loads and stores, its load is watched, and its store causes a
// page fault. QEMU reports the load at the first instruction of that fault's entry, where GS is
// still the program's. Processors have an entry of their own, which drops what it finds there, too.
func programMayNotYet(t *suites.T) {
	t.OneProcessor()
	t.NeedPrograms()
	const path = "/counts"
	defer vfs.Remove(path)
	defer trap.SetDoubles(cpu.Emulated())
	for _, doubles := range []bool{true, false} {
		trap.SetDoubles(doubles)
		mayNotYet(t, path)
		var s seen
		reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
		word++
		if off(t, reg); s.n.Load() != 1 {
			t.Errorf("an entry for QEMU: %v; %d hits in the kernel, want 1", doubles, s.n.Load())
		}
	}
}

func mayNotYet(t *suites.T, path string) {
	for _, c := range []struct {
		name string
		code []byte
		at   uintptr
		end  proc.Status
		hits int64
	}{
		{"a page that nobody has used", countUp, counter, proc.Exited(0), 2 * rounds},
		{"after fork", append(fork, countUp...), counter, proc.Exited(0), 2 * rounds},
		{"code", incCode, codeAt, proc.Killed(11), 0},
	} {
		vfs.Remove(path) // a child of the case before may still run it
		suites.WriteProgram(t, path, c.code)
		for range 20 {
			var hits atomic.Int64
			var reg int
			status := run(t, path, func(p *proc.Process) {
				var err error
				reg, err = kwatch.RegisterKwatchUser(p, c.at, 8, kwatch.ReadWrite, func(*kwatch.Hit, *proc.Thread) { hits.Add(1) })
				t.Must(err)
			})
			if off(t, reg); status != c.end || hits.Load() != c.hits {
				t.Fatalf("%s: %v, %d hits; want %v, %d", c.name, status, hits.Load(), c.end, c.hits)
			}
		}
	}
}
