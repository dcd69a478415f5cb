package overlay

import (
	"slices"
	"strings"
)

// trapEdits are what the runtime needs for probes.
var trapEdits = slices.Concat(probeEdits, abandonEdits())

// A handler of a probe that is abandoned must not leave anything half done: a lock that it holds
// would never be released, and a goroutine that it was about to wake would never run. So it is
// abandoned before it does what it must not. abandonEdits put a check for that into each function of
// the library that takes a lock, wakes a goroutine, or marks a map as being written.
func abandonEdits() []edit {
	var list []edit
	// In front of the first statement of each function of a file.
	before := func(file, why string, funcs ...string) {
		for _, f := range funcs {
			list = append(list, edit{file, f + " {\n", f + " {\n\tsondeAbandon(\"" + why + "\")\n", 1})
		}
	}
	before("runtime/lock_spinbit.go", "takes a lock of the runtime", "func lock2(l *mutex)")
	before("runtime/sema.go", "wakes a goroutine", "func semrelease1(addr *uint32, handoff bool, skipframes int)")
	before("runtime/proc.go", "wakes a goroutine", "func ready(gp *g, traceskip int, next bool)")
	before("runtime/proc.go", "starts a goroutine", "func newproc(fn *funcval)")
	before("runtime/chan.go", "channel operation", "func closechan(c *hchan)")
	for _, f := range []string{"func (m *Mutex) Lock()", "func (m *Mutex) TryLock() bool", "func (m *Mutex) Unlock()"} {
		list = append(list, edit{"internal/sync/mutex.go", f + " {\n", f + " {\n\tsondeAbandonMutex()\n", 1})
	}
	before("sync/rwmutex.go", "uses a mutex",
		"func (rw *RWMutex) RLock()", "func (rw *RWMutex) TryRLock() bool", "func (rw *RWMutex) RUnlock()",
		"func (rw *RWMutex) Lock()", "func (rw *RWMutex) TryLock() bool", "func (rw *RWMutex) Unlock()")
	before("sync/waitgroup.go", "uses a wait group", "func (wg *WaitGroup) Add(delta int)", "func (wg *WaitGroup) Wait()")
	before("sync/cond.go", "uses a condition", "func (c *Cond) Wait()", "func (c *Cond) Signal()", "func (c *Cond) Broadcast()")
	for file, count := range map[string]int{"map": 3, "runtime": 1, "runtime_fast32": 2, "runtime_fast64": 2, "runtime_faststr": 1} {
		const mark = "m.writing ^= 1 // toggle, see comment on writing\n"
		list = append(list, edit{"internal/runtime/maps/" + file + ".go", mark, "sondeAbandon(\"writes to a map\")\n\t" + mark, count})
	}
	slices.SortStableFunc(list, func(a, b edit) int { return strings.Compare(a.file, b.file) })
	return list
}

// abandonFiles declare sondeAbandon in the packages above.
var abandonFiles = []added{
	{"internal/sync/sonde_abandon.go", "_internal/mutex_abandon.go"},
	{"internal/runtime/maps/sonde_abandon.go", "_internal/maps_abandon.go"},
	{"sync/sonde_abandon.go", "_internal/sync_abandon.go"},
}
