package syscall

import (
	"errors"
	"io/fs"
	"slices"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// Advisory calls about memory and files. They change nothing, because both are in memory and
// nothing is swapped out. They refuse what Linux refuses.

// mappedPages returns the end of the pages that n bytes from start on occupy, all of which must be
// mapped. It fails with around if they extend beyond the end of the address space.
//
// Errors: ENOMEM.
func mappedPages(t *proc.Thread, start, n uint64, around sys.Errno) (end uint64, err error) {
	size := wholePages(n)
	end = start + size
	switch {
	case size < n || end < start:
		return 0, around
	case !t.Memory().Mapped(start, end):
		return 0, sys.ENOMEM
	}
	return end, nil
}

// advices are those that have no effect.
var advices = []uint64{
	abi.MADV_NORMAL, abi.MADV_RANDOM, abi.MADV_SEQUENTIAL, abi.MADV_WILLNEED, abi.MADV_HUGEPAGE,
	abi.MADV_NOHUGEPAGE, abi.MADV_COLD, abi.MADV_PAGEOUT,
}

// marks is the flags that an advice about forks and core files sets and clears.
var marks = map[uint64]struct{ set, clear space.Flags }{
	abi.MADV_DONTFORK:   {set: space.NotForked},
	abi.MADV_DOFORK:     {clear: space.NotForked},
	abi.MADV_WIPEONFORK: {set: space.Wiped},
	abi.MADV_KEEPONFORK: {clear: space.Wiped},
	abi.MADV_DONTDUMP:   {set: space.NotDumped},
	abi.MADV_DODUMP:     {clear: space.NotDumped},
}

// notIfLocked is the advices that Linux refuses for locked memory.
var notIfLocked = []uint64{abi.MADV_DONTNEED, abi.MADV_FREE, abi.MADV_COLD, abi.MADV_PAGEOUT}

func madvise(t *proc.Thread, a *Args) (uint64, error) {
	advice := a[2]
	discard := advice == abi.MADV_DONTNEED || advice == abi.MADV_FREE || advice == abi.MADV_DONTNEED_LOCKED
	populate := advice == abi.MADV_POPULATE_READ || advice == abi.MADV_POPULATE_WRITE
	mark, marked := marks[advice]
	if !discard && !populate && !marked && !slices.Contains(advices, advice) || a[0]&pageMask != 0 {
		return 0, sys.EINVAL
	}
	_, err := mappedPages(t, a[0], a[1], sys.EINVAL)
	if errnoOf(err) == sys.EINVAL || a[1] == 0 {
		return 0, err
	}
	end := a[0] + wholePages(a[1])
	switch {
	case slices.Contains(notIfLocked, advice) && t.Memory().Marked(a[0], end, space.Locked):
		err = sys.EINVAL
	case discard:
		err = t.Memory().Discard(a[0], a[1])
	case populate:
		err = populated(t, a[0], end, advice)
	case marked:
		err = t.Memory().Mark(a[0], end, mark.set, mark.clear, true)
	}
	return 0, err
}

// populated is MADV_POPULATE_READ and MADV_POPULATE_WRITE.
//
// Errors: ENOMEM (part is not mapped), EINVAL (no right), EFAULT (after the end of a file).
func populated(t *proc.Thread, start, end, advice uint64) error {
	want := space.Read
	if advice == abi.MADV_POPULATE_WRITE {
		want = space.Write
	}
	switch err := t.Memory().Populate(start, end, want, t.Dying); {
	case errors.Is(err, space.ErrNotMapped):
		return sys.ENOMEM
	case errors.Is(err, space.ErrAccess):
		return sys.EINVAL
	default:
		return err
	}
}

// wholePages rounds up to whole pages, as Linux does: the largest numbers become 0.
func wholePages(n uint64) uint64 { return (n + pageMask) &^ pageMask }

// mincore reports for each page whether it is in memory.
//
// Source: Linux, mincore(2).
func mincore(t *proc.Thread, a *Args) (uint64, error) {
	if a[0]&pageMask != 0 {
		return 0, sys.EINVAL
	}
	end, err := mappedPages(t, a[0], a[1], sys.ENOMEM)
	if err != nil {
		return 0, err
	}
	var out [512]byte
	for done, start := uint64(0), a[0]; start < end; { // a mapping may have 2^35 pages
		if t.Dying() {
			return 0, sys.EINTR
		}
		n := min((end-start)/space.PageSize, uint64(len(out)))
		t.Memory().InMemory(out[:n], start)
		if err := t.Memory().Out(a[2]+done, out[:n]); err != nil {
			return 0, err
		}
		done += n
		start += n * space.PageSize
	}
	return 0, nil
}

// fsync has nothing to do: there is no disk.
func fsync(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	if err == nil && !inTree(f) {
		err = sys.EINVAL
	}
	return 0, err
}

// inTree reports whether f is a regular file or a directory.
func inTree(f *vfs.File) bool {
	mode := f.Info().Mode
	return mode.IsRegular() || mode.IsDir()
}

func syncfs(*proc.Thread, *vfs.File, *Args) (uint64, error) { return 0, nil }

func readahead(_ *proc.Thread, f *vfs.File, _ *Args) (uint64, error) {
	switch {
	case f.Flags()&abi.O_ACCMODE == abi.O_WRONLY:
		return 0, sys.EBADF
	case !f.Info().Mode.IsRegular():
		return 0, sys.EINVAL
	}
	return 0, nil
}

func syncFileRange(_ *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	const allFlags = 7
	off, n := int64(a[1]), int64(a[2])
	switch {
	case a[3]&^allFlags != 0 || off < 0 || n < 0 || off+n < off:
		return 0, sys.EINVAL
	case !inTree(f):
		return 0, sys.ESPIPE
	}
	return 0, nil
}

func fadvise64(_ *proc.Thread, f *vfs.File, a *Args) (uint64, error) {
	const last = 5 // POSIX_FADV_NOREUSE
	switch {
	case f.Info().Mode&fs.ModeNamedPipe != 0:
		return 0, sys.ESPIPE
	case int64(a[2]) < 0 || uint32(a[3]) > last:
		return 0, sys.EINVAL
	}
	return 0, nil
}
