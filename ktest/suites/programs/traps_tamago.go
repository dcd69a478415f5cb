//go:build tamago

package programs

import (
	"strconv"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/mm/backing"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/linux/proc"
	"sonde/linux/syscall"
)

func init() { suites.Add("programs/traps_while_watched", trapsWatched) }

// trapsRounds is how many rounds of random traps a program goes through: a few for each seed.
const trapsRounds, trapsSeeds = 300, 3

// trapsWatched runs programs that cause debug traps of their own at random, while two of their words,
// and functions and data of the kernel that their calls use, are watched. The program counts its own.
func trapsWatched(t *suites.T) {
	need(t, "traps")
	for seed := range trapsSeeds {
		trapsOf(t, strconv.Itoa(seed+1))
	}
}

func trapsOf(t *suites.T, seed string) {
	var user, kernel atomic.Int64
	p, err := syscall.Start(suites.Programs, syscall.Spec{Path: "/bin/traps", Args: []string{"traps", seed, strconv.Itoa(trapsRounds)}, Dir: "/"})
	t.Must(err)
	var regs []int
	watch := func(reg int, err error) {
		if err != nil {
			t.Errorf("seed %s: %v", seed, err)
			return
		}
		regs = append(regs, reg)
	}
	if mapped(p) {
		hit := func(*kwatch.Hit, *proc.Thread) { user.Add(1) }
		watch(kwatch.RegisterKwatchUser(p, trapsWords, 8, kwatch.ReadWrite, hit))
		watch(kwatch.RegisterKwatchUser(p, trapsWords+8, 4, kwatch.Write, hit))
		inKernel := func(*kwatch.Hit, *amd64.Regs) { kernel.Add(1) }
		watch(kwatch.RegisterKwatchSymbol("sonde/linux/syscall.getpid", 0, 1, kwatch.Execute, inKernel))
		watch(kwatch.RegisterKwatchSymbol("sonde/linux/syscall.schedYield", 0, 1, kwatch.Execute, inKernel))
	}
	status := suites.WaitProgram(t, p)
	for _, reg := range regs {
		t.Must(kwatch.UnregisterKwatch(reg))
	}
	if status != proc.Exited(0) || user.Load() == 0 || kernel.Load() == 0 {
		t.Errorf("seed %s: %v, %d hits in the program, %d in the kernel", seed, status, user.Load(), kernel.Load())
	}
	t.Logf("seed %s: %d hits in the program, %d in the kernel", seed, user.Load(), kernel.Load())
}

// trapsWords is where the program has what is watched.
const trapsWords = 0x70000000

// mapped waits until the program has mapped its words; false if it has ended.
func mapped(p *proc.Process) bool {
	for {
		m := p.Memory()
		if m == nil {
			return false
		}
		if a, ok := m.At(trapsWords); ok && a.Ident == (backing.Ident{}) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
}
