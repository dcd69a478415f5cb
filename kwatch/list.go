package kwatch

import "sonde/probe/ledger"

// Info describes a watchpoint, for lists.
type Info struct {
	DebugReg int
	Addr     uintptr
	Length   int
	Type     Type
	Owner    string // the module, "" for the kernel
	Gone     bool   // its handler broke the rules, or its program has ended
	Disabled bool   // by EnableKwatch
	PID      int    // the process, if a program's memory is watched
	Where    string // symbol+offset, or the address and the process
	Ledger   ledger.Ledger
	// Blind counts the steps of probed instructions of the kernel, since it was registered, in which
	// nothing was watched: the stack had no space for the frames of a hit. What they access is not in
	// the ledger.
	Blind uint64
}

// All returns the watchpoints.
func All() (all []Info) {
	mu.Lock()
	defer mu.Unlock()
	for n := range points {
		if p := points[n].Load(); p != nil {
			i := Info{
				DebugReg: n, Addr: p.addr, Length: p.length, Type: p.typ, Owner: p.owner, Gone: p.gone.Load(), Disabled: p.disabled.Load(),
				Where: p.where(), Ledger: p.accounts.Ledger(),
			}
			if p.user != nil {
				i.PID = p.user.pid()
			} else {
				i.Blind = this.blind() - p.blind
			}
			all = append(all, i)
		}
	}
	return all
}

// Ended returns the summed counts of all watchpoints that have ended.
func Ended() ledger.Ledger {
	mu.Lock()
	defer mu.Unlock()
	return ended
}
