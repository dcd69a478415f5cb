package percpu

import "sync/atomic"

// A Tally counts what code without Go does: a word of each CPU. Once that is over, the sum stays.
type Tally struct{ now atomic.Pointer[tally] }

// A tally does not change, so that readers need no lock.
type tally struct {
	at   Offset // 0: nowhere any more
	past uint64
}

// tallyBytes is what one takes of each CPU's memory.
const tallyBytes = 8

// NewTally makes room for one.
//
// Errors: those of Take.
func NewTally() (*Tally, error) {
	at, err := Take(tallyBytes)
	if err != nil {
		return nil, err
	}
	t := new(Tally)
	t.now.Store(&tally{at: at})
	return t, nil
}

// Close gives the room back: no CPU counts there any more.
//
// Context: one at a time.
func (t *Tally) Close() {
	if now := t.now.Load(); now.at != 0 {
		t.now.Store(&tally{past: now.sum()})
		Give(now.at, tallyBytes)
	}
}

// At returns where the words are, 0 if t is closed.
func (t *Tally) At() Offset { return t.now.Load().at }

// Sum returns the count. If the room was given back meanwhile, what was read may be another's.
//
// Context: any.
func (t *Tally) Sum() uint64 {
	for {
		now := t.now.Load()
		if n := now.sum(); t.now.Load() == now {
			return n
		}
	}
}

func (t *tally) sum() (n uint64) {
	if t.at == 0 {
		return t.past
	}
	for cpu := range area.cpus {
		n += atomic.LoadUint64((*uint64)(At(t.at, cpu)))
	}
	return n
}
