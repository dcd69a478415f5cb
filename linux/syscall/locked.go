package syscall

import (
	"errors"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// Locked memory. Nothing is swapped out here, so the effect of a lock is what programs can observe:
// its pages are allocated at once, and calls that would drop them are refused.

// Flags of msync and of mlock.
const (
	msAsync, msInvalidate, msSync     = 1, 2, 4
	mlockOnFault                      = 1
	mclCurrent, mclFuture, mclOnFault = 1, 2, 4
)

// msync has nothing to store: files are in memory.
func msync(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^(msAsync|msInvalidate|msSync) != 0 || a[2]&(msAsync|msSync) == msAsync|msSync || a[0]&pageMask != 0 {
		return 0, sys.EINVAL
	}
	end, err := mappedPages(t, a[0], wholePages(a[1]), sys.ENOMEM)
	if err == nil && a[2]&msInvalidate != 0 && t.Memory().Marked(a[0], end, space.Locked) {
		err = sys.EBUSY
	}
	return 0, err
}

// lockedPages returns the range of pages for mlock and munlock: all that contain one of the bytes.
func lockedPages(a *Args) (start, end uint64, err error) {
	start = a[0] &^ pageMask
	if end = start + wholePages(a[1]+a[0]&pageMask); end < start {
		return 0, 0, sys.EINVAL
	}
	return start, end, nil
}

func mlock2(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^mlockOnFault != 0 {
		return 0, sys.EINVAL
	}
	start, end, err := lockedPages(a)
	if err != nil || start == end {
		return 0, err
	}
	if err := t.Memory().Mark(start, end, space.Locked, 0, false); err != nil || a[2]&mlockOnFault != 0 {
		return 0, err
	}
	if err := t.Memory().Populate(start, end, 0, t.Dying); err == nil || errors.Is(err, space.ErrNoMemory) {
		return 0, err
	}
	return 0, sys.ENOMEM // it is locked nevertheless, as in Linux
}

func munlock(t *proc.Thread, a *Args) (uint64, error) {
	start, end, err := lockedPages(a)
	if err != nil || start == end {
		return 0, err
	}
	return 0, t.Memory().Mark(start, end, 0, space.Locked, false)
}

func mlockall(t *proc.Thread, a *Args) (uint64, error) {
	flags := a[0]
	if flags&^(mclCurrent|mclFuture|mclOnFault) != 0 || flags&(mclCurrent|mclFuture) == 0 {
		return 0, sys.EINVAL
	}
	t.Memory().Lock(flags&mclCurrent != 0, flags&mclFuture != 0)
	if flags&mclOnFault == 0 && flags&mclCurrent != 0 {
		for _, area := range t.Memory().Areas() {
			t.Memory().Populate(area.Start, area.End, 0, t.Dying) // as far as possible
		}
	}
	return 0, nil
}

func munlockall(t *proc.Thread, _ *Args) (uint64, error) {
	t.Memory().Lock(false, false)
	return 0, nil
}

// populateNew allocates the pages of a new mapping if its flags ask for that. Failing is not an
// error, as in Linux.
func populateNew(t *proc.Thread, start, n, flags uint64) {
	if flags&(abi.MAP_POPULATE|abi.MAP_LOCKED) != 0 {
		t.Memory().Populate(start, start+wholePages(n), 0, t.Dying)
	}
}
