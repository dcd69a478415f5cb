//go:build tamago

package kwatch

// Trap context. Handlers that never return. CPU 0 takes an NMI 18 times a second (package
// kprobes, kill_trap.go, explains it): it checks itself, and sends an NMI to each CPU that
// is in the same handler as at the last check; that CPU then measures itself. Without these
// NMIs (nmi_watchdog=0) a handler that loops is not found, because interrupts are off in
// it.

import (
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
	"sonde/kernel/irq"
	"sonde/kernel/notifier"
	"sonde/sysctl"
)

var (
	// keepWatch makes CPU 0 take NMIs, if it does not yet.
	keepWatch func()
	// limit is how long a handler may run, in milliseconds; 0: for ever.
	limit *sysctl.Int
)

// A sighting is what is known about a CPU's handler.
type sighting struct {
	seen  uint64        // the handler that CPU 0 saw at its last check
	asked atomic.Uint32 // 1: CPU 0 has sent it an NMI

	// This CPU's own:
	seq     uint64 // the handler at its last check
	at, ran int64  // when that was, and for how many ns that handler has been seen
}

var sightings [trap.MaxCPUs]sighting

// onNMI checks at each NMI, and passes the NMI on.
func onNMI(r *amd64.Regs, _ uint64) notifier.Action {
	id := trap.ID(r)
	sightings[id].measure(id, r)
	for i := 1; id == 0 && i < cpu.Num(); i++ {
		w := &sightings[i]
		seq := atomic.LoadUint64(&states[i].seq)
		if again := seq == w.seen; again && seq&1 != 0 {
			w.asked.Store(1)
			cpu.SendNMI(i)
		}
		w.seen = seq
	}
	return notifier.Next
}

// onOurNMI takes the NMI that onNMI has sent, if no other block has.
func onOurNMI(r *amd64.Regs, _ uint64) notifier.Action {
	if sightings[trap.ID(r)].asked.Swap(0) != 0 {
		return notifier.Stop
	}
	return notifier.Next
}

// measure adds the time since the last check, but at most two periods of the NMI: the host
// may have stopped the machine. It abandons a handler that has run too long, unless an
// interrupt is being handled on top of it.
func (w *sighting) measure(id int, r *amd64.Regs) {
	st := &states[id].state
	now := cpu.Nanotime()
	gap := min(now-w.at, 2*irq.NMIPeriod)
	w.at = now
	if st.seq&1 == 0 || st.seq != w.seq {
		w.seq, w.ran = st.seq, 0
		return
	}
	w.ran += gap
	if most := limit.Get() * 1e6; most != 0 && w.ran > most && blamed(id) == st && !goruntime.Locked() {
		w.ran = 0
		st.abandon("it runs too long", "", r)
	}
}
