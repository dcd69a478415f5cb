package syscall

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	sys "syscall"

	"sonde/linux/proc"
)

// missing counts the calls that programs made and that do not exist.
var missing = struct {
	mu sync.Mutex
	// guarded by mu:
	counts map[uint64]uint64 // by number; those without a name are one
	named  map[who]bool
}{counts: map[uint64]uint64{}, named: map[who]bool{}}

// who is a program and a call that the log has named, and what is missing of the call; "": all.
type who struct {
	program string
	call    uint64
	what    string
}

// mostNamed bounds the memory that a program can use up by changing its name.
const mostNamed = 1000

const nameless = ^uint64(0)

// unknown counts a missing call, and logs it the first time that this program makes it.
func unknown(t *proc.Thread, n uint64) sys.Errno {
	key := n
	if Name(n) == "" {
		key = nameless
	}
	if p := t.Process(); countMissing(who{p.Path(), key, ""}) {
		p.Table().Log(fmt.Sprintf("%s[%d]: system call %s (%d) is not there", p.Name(), p.PID, nameOf(key), int64(n)))
	}
	return sys.ENOSYS
}

// countMissing counts a missing call, and reports whether the log is to name it.
func countMissing(w who) (first bool) {
	missing.mu.Lock()
	defer missing.mu.Unlock()
	missing.counts[w.call]++
	return w.isNew()
}

// firstOf reports whether the log is to say what is missing of a call that is there.
func firstOf(w who) bool {
	missing.mu.Lock()
	defer missing.mu.Unlock()
	return w.isNew()
}

// isNew notes what the log says, and reports whether it did not say so before. Called with mu held.
func (w who) isNew() bool {
	if missing.named[w] || len(missing.named) >= mostNamed {
		return false
	}
	missing.named[w] = true
	return true
}

func nameOf(n uint64) string {
	if n == nameless {
		return "without a name"
	}
	return Name(n)
}

// Unknown prints how often missing calls were made: a line for each.
func Unknown(w io.Writer) {
	missing.mu.Lock()
	defer missing.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(missing.counts)) {
		name := nameOf(n)
		if n == nameless {
			name = "?"
		}
		fmt.Fprintf(w, "%-24s %d\n", name, missing.counts[n])
	}
}
