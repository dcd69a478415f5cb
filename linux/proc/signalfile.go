package proc

import (
	"sonde/kernel/abi"
	"sonde/kernel/poll"
	"sonde/linux/signal"
)

// What a program uses to read signals as if from a file: signalfd.

// SignalQueue returns the queue to wait for signals of p that a thread may take. It is
// notified of In for each signal that arrives.
func (p *Process) SignalQueue() *poll.Queue { return &p.readers }

// tellReaders notifies the waiters of SignalQueue. It does so in another goroutine, because
// they need mu to look at p's signals. mu held.
func (p *Process) tellReaders() {
	if p.readers.Waited() {
		go p.readers.Notify(poll.In)
	}
}

// TakeSignal takes a signal of a set that is pending for t, if there is one.
func (t *Thread) TakeSignal(set signal.Set) (info abi.Siginfo, ok bool) {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	ok = t.dequeue(^set, &info)
	return info, ok
}

// HasSignal reports whether TakeSignal would take one.
func (t *Thread) HasSignal(set signal.Set) bool {
	t.process.table.mu.Lock()
	defer t.process.table.mu.Unlock()
	return (t.pending.Set()|t.process.pending.Set())&set != 0
}
