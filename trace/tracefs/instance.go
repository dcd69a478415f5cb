package tracefs

import (
	"encoding/binary"
	"slices"
	"sync"
	"syscall"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/probe/program"
)

// mu guards what lines and files change: events, instances and what is enabled. It is taken before a buffer's.
var mu sync.Mutex

// An instance has records of its own, and events that are enabled for it.
type instance struct {
	name string
	buffer

	// guarded by mu:
	errors     []string // error_log's
	states     map[*event]*state
	maps       []*program.Map // of all its programs; nil: none has been made
	slots      []bool         // of control: those in use
	on         bool           // tracing_on
	generation int
	armed      int             // states that have programs
	stop       chan struct{}   // closed when the last of them has none any more
	options    map[string]bool // those that were changed
	fork       *state          // the program for the option event-fork; nil: there is none
	pids       map[bool][]int  // of set_event_pid, and those of set_event_notrace_pid
	clock      string
	gone       bool
}

// top is what there is without instances/.
var top = newInstance("")

func newInstance(name string) *instance {
	return &instance{name: name, states: map[*event]*state{}, on: true, options: map[string]bool{}, pids: map[bool][]int{}, clock: "local", buffer: buffer{limit: defaultSize, perCPU: map[int]int{}}}
}

// Words of control.
const (
	tracingOn = iota // 1: records are kept
	taker            // the goroutine that takes records
	firstSlot        // of an event: which of its programs runs, 0 none; and 1 if its records are wanted
	mostWords = 8192
)

// A state is what an instance does with an event.
type state struct {
	event    *event
	in       *instance
	slot     int // words of control from here on; 0: none yet
	on       bool
	wanted   int // triggers of other events that switch it on and off
	filter   string
	test     *test
	progs    []*program.Prog
	links    []*program.Link
	own      []*program.Map // that only this event's programs have
	triggers []*trigger
	follows  bool // it is the program for the option event-fork, and records nothing
}

// state returns what an instance does with an event. Called with mu held.
func (i *instance) state(e *event) *state {
	s := i.states[e]
	if s == nil {
		s = &state{event: e, in: i}
		i.states[e] = s
	}
	return s
}

// prepare makes the maps that all programs of an instance have.
func (i *instance) prepare() (err error) {
	switch {
	case i.gone:
		return refusal.New(syscall.ENODEV, "the instance %s was removed", i.name)
	case i.maps != nil:
		return nil
	}
	specs := [...]bpf.MapSpec{
		controlMap: {Name: "tracing", Type: bpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: mostWords},
		scratchMap: {Name: "scratch", Type: bpf.PerCPUArray, KeySize: 4, ValueSize: scratchSize, MaxEntries: 1},
		ringMap:    {Name: "trace", Type: bpf.RingBuf, MaxEntries: ringSize},
		pidMap:     {Name: "pids", Type: bpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: 2 * mostPIDs},
	}
	var made []*program.Map
	for _, spec := range specs {
		m, err := program.NewMap(spec)
		if err != nil {
			closeMaps(made)
			return err
		}
		made = append(made, m)
	}
	i.maps = made
	i.slots = make([]bool, mostWords)
	i.set(tracingOn, i.on)
	i.Lock()
	i.ring = made[ringMap]
	i.Unlock()
	i.fillPIDs()
	return nil
}

func closeMaps(all []*program.Map) {
	for _, m := range all {
		m.Close()
	}
}

// word sets a control word.
func (i *instance) word(n int, value uint64) {
	key, v := binary.LittleEndian.AppendUint32(nil, uint32(n)), binary.LittleEndian.AppendUint64(nil, value)
	if i.maps != nil {
		i.maps[controlMap].Update(0, key, v, program.Any)
	}
}

func (i *instance) set(n int, on bool) {
	value := uint64(0)
	if on {
		value = 1
	}
	i.word(n, value)
}

// get returns a control word.
func (i *instance) get(n int) uint64 {
	var v [8]byte
	if i.maps == nil || i.maps[controlMap].Lookup(0, binary.LittleEndian.AppendUint32(nil, uint32(n)), v[:]) != nil {
		return 0
	}
	return binary.LittleEndian.Uint64(v[:])
}

// tracing tells whether records are kept: triggers may have changed that.
func (i *instance) tracing() bool {
	if i.maps != nil {
		i.on = i.get(tracingOn) != 0
	}
	return i.on
}

func (i *instance) setTracing(on bool) {
	i.on = on
	i.set(tracingOn, on)
}

// take finds n words of control that are free.
func (i *instance) take(n int) (int, error) {
	for at := firstSlot; at+n <= mostWords; at++ {
		if !slices.Contains(i.slots[at:at+n], true) {
			for k := range n {
				i.slots[at+k] = true
				i.word(at+k, 0)
			}
			return at, nil
		}
	}
	return 0, refusal.New(syscall.ENOSPC, "there are too many events and triggers at once: %d words are in use", mostWords)
}

func (i *instance) release(at, n int) {
	for k := range n {
		i.slots[at+k] = false
	}
}

// fillPIDs writes the processes of set_event_pid and set_event_notrace_pid to where programs look.
func (i *instance) fillPIDs() {
	if i.maps == nil {
		return
	}
	m, old := i.maps[pidMap], [][]byte(nil)
	m.Range(0, func(key, _ []byte) bool {
		old = append(old, slices.Clone(key))
		return true
	})
	for _, key := range old {
		m.Delete(0, key)
	}
	bits := map[int]uint32{}
	for _, pid := range i.pids[false] {
		bits[pid] |= pidTraced
	}
	for _, pid := range i.pids[true] {
		bits[pid] |= pidLeft
	}
	for pid, b := range bits {
		m.Update(0, binary.LittleEndian.AppendUint32(nil, uint32(pid)), binary.LittleEndian.AppendUint32(nil, b), program.Any)
	}
}

// setFork has children be like their parents for set_event_pid, or not.
func (i *instance) setFork(on bool) error {
	e := find("sched", "sched_process_fork")
	if on == (i.fork != nil) || e == nil {
		return nil
	}
	var c change
	s := i.fork
	if on {
		s = &state{event: e, in: i, follows: true}
	}
	s.wanted = 0
	if on {
		s.wanted = 1
	}
	if err := s.arm(&c); err != nil {
		return err
	}
	c.complete()
	if i.fork = s; !on {
		i.fork = nil
	}
	return nil
}
