package kwatch

import "sonde/kernel/grace"

// UnregisterKwatch removes a watchpoint. When it returns, no CPU is in its handler, and
// none will call it.
//
// Context: goroutine, not a handler.
// Errors: EINVAL there is no such watchpoint.
// Source:  "Kernel Watchpoint Probes Interface", unregister_kwatch.
func UnregisterKwatch(debugReg int) error {
	c, err := leaveRegister(debugReg)
	c.Complete()
	return err
}

// leaveRegister is UnregisterKwatch of which the wait is left to do.
func leaveRegister(debugReg int) (c grace.Change, err error) {
	mu.Lock()
	defer mu.Unlock()
	p, err := registered(debugReg)
	if err != nil {
		return c, err
	}
	return leave([]*point{p}), nil
}

// leave ends watchpoints. Hits find them until no CPU watches for them any more. Those that leave already, or have left
// by their number before their link was closed, do not do so again: others may have their registers. mu held.
func leave(ps []*point) (c grace.Change) {
	if len(ps) == 0 {
		return c
	}
	var mine []*point
	for _, p := range ps {
		if !p.leaving {
			p.leaving = true
			mine = append(mine, p)
		}
	}
	c, n := set(mine)
	c.Then = append(c.Then, func() { giveBack(mine, n) }, func() { drain(mine) })
	return c
}

// giveBack gives back the debug registers of ps, when all CPUs watch what set n was.
func giveBack(ps []*point, n uint64) {
	mu.Lock()
	defer mu.Unlock()
	loaded(n)
	for _, p := range ps {
		points[p.reg].Store(nil)
		if p.camera != nil {
			p.camera.film.Finish() // the hit that it waits for does not come
		}
	}
}

// drain waits for the handlers of programs, which may keep their goroutines as long as they like, and keeps the
// counts of ps.
func drain(ps []*point) {
	for _, p := range ps {
		if p.user != nil {
			p.user.detached()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, p := range ps {
		ended = ended.Plus(p.accounts.Ledger())
	}
}
