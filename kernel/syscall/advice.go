package syscall

import (
	"io/fs"
	"slices"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/mm/space"
	"sonde/kernel/proc"
	"sonde/kernel/vfs"
)

// Calls about memory and files that leave things as they are, because all of both is in
// memory and nothing is swapped out. They refuse what Linux refuses.

// mappedPages returns whole pages from start on, n bytes of them, all of which a program has
// mapped. around is returned if they reach around the end of the address space.
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

// advices are those that are no more than that.
var advices = []uint64{
	abi.MADV_NORMAL, abi.MADV_RANDOM, abi.MADV_SEQUENTIAL, abi.MADV_WILLNEED, abi.MADV_HUGEPAGE,
	abi.MADV_NOHUGEPAGE, abi.MADV_DONTDUMP, abi.MADV_DODUMP, abi.MADV_COLD, abi.MADV_PAGEOUT,
}

func madvise(t *proc.Thread, a *Args) (uint64, error) {
	discard := a[2] == abi.MADV_DONTNEED || a[2] == abi.MADV_FREE || a[2] == abi.MADV_DONTNEED_LOCKED
	if !discard && !slices.Contains(advices, a[2]) || a[0]&pageMask != 0 {
		return 0, sys.EINVAL
	}
	_, err := mappedPages(t, a[0], a[1], sys.EINVAL)
	if discard && errnoOf(err) != sys.EINVAL {
		err = t.Memory().Discard(a[0], a[1])
	}
	return 0, err
}

// Flags of msync and of mlock.
const (
	msAsync, msInvalidate, msSync = 1, 2, 4
	mlockOnFault                  = 1
	mclAll, mclOnFault            = 3, 4
)

func msync(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^(msAsync|msInvalidate|msSync) != 0 || a[2]&(msAsync|msSync) == msAsync|msSync || a[0]&pageMask != 0 {
		return 0, sys.EINVAL
	}
	_, err := mappedPages(t, a[0], wholePages(a[1]), sys.ENOMEM)
	return 0, err
}

// wholePages rounds up, as Linux does: of the largest numbers it makes 0.
func wholePages(n uint64) uint64 { return (n + pageMask) &^ pageMask }

// mlock and munlock are about all pages that have one of the bytes.
func mlock(t *proc.Thread, a *Args) (uint64, error) {
	_, err := mappedPages(t, a[0]&^pageMask, wholePages(a[1]+a[0]&pageMask), sys.EINVAL)
	return 0, err
}

func mlock2(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^mlockOnFault != 0 {
		return 0, sys.EINVAL
	}
	return mlock(t, a)
}

func mlockall(_ *proc.Thread, a *Args) (uint64, error) {
	if a[0]&^(mclAll|mclOnFault) != 0 || a[0]&mclAll == 0 {
		return 0, sys.EINVAL
	}
	return 0, nil
}

// mincore tells of each page whether it is in memory.
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

// fsync is for what could be on a disk.
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

func syncfs(t *proc.Thread, a *Args) (uint64, error) {
	_, err := fileOf(t, a[0])
	return 0, err
}

func readahead(t *proc.Thread, a *Args) (uint64, error) {
	f, err := fileOf(t, a[0])
	switch {
	case err != nil:
		return 0, err
	case f.Flags()&abi.O_ACCMODE == abi.O_WRONLY:
		return 0, sys.EBADF
	case !f.Info().Mode.IsRegular():
		return 0, sys.EINVAL
	}
	return 0, nil
}

func syncFileRange(t *proc.Thread, a *Args) (uint64, error) {
	const allFlags = 7
	f, err := fileOf(t, a[0])
	off, n := int64(a[1]), int64(a[2])
	switch {
	case err != nil:
		return 0, err
	case a[3]&^allFlags != 0 || off < 0 || n < 0 || off+n < off:
		return 0, sys.EINVAL
	case !inTree(f):
		return 0, sys.ESPIPE
	}
	return 0, nil
}

func fadvise64(t *proc.Thread, a *Args) (uint64, error) {
	const last = 5 // POSIX_FADV_NOREUSE
	f, err := fileOf(t, a[0])
	switch {
	case err != nil:
		return 0, err
	case f.Info().Mode&fs.ModeNamedPipe != 0:
		return 0, sys.ESPIPE
	case int64(a[2]) < 0 || uint32(a[3]) > last:
		return 0, sys.EINVAL
	}
	return 0, nil
}
