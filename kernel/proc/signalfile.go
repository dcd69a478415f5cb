package proc

import (
	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/kernel/proc/signal"
)

// What a program reads signals by as if they were in a file: signalfd.

// SignalQueue returns where to wait for signals of p that a thread may take. It is told
// of In for each signal that has come.
func (p *Process) SignalQueue() *poll.Queue { return &p.readers }

// tellReaders tells those who wait in SignalQueue. Someone else does it: they look at p's
// signals then, for which they need mu. mu held.
func (p *Process) tellReaders() {
	if p.readers.Waited() {
		go p.readers.Notify(poll.In)
	}
}

// TakeSignal takes a signal of a set that waits for t, if there is one.
func (t *Thread) TakeSignal(set signal.Set) (abi.Siginfo, bool) {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	return t.take(^set)
}

// HasSignal reports whether TakeSignal would take one.
func (t *Thread) HasSignal(set signal.Set) bool {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	return (t.pending.Set()|t.process.pending.Set())&set != 0
}
