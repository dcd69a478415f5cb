package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/mm/space"
	"sonde/kernel/proc"
)

const pageMask = space.PageSize - 1

func brk(t *proc.Thread, a *Args) (uint64, error) { return t.Memory().Brk(a[0]), nil }

func mmap(t *proc.Thread, a *Args) (uint64, error) {
	prot, flags := a[2], a[3]
	if prot&^(abi.PROT_READ|abi.PROT_WRITE|abi.PROT_EXEC) != 0 || a[5]&pageMask != 0 {
		return 0, sys.EINVAL
	}
	var how space.Flags
	switch flags & abi.MAP_TYPE {
	case abi.MAP_SHARED, abi.MAP_SHARED_VALIDATE:
		how = space.Shared
	case abi.MAP_PRIVATE:
	default:
		return 0, sys.EINVAL
	}
	for _, f := range mapFlags {
		if flags&f.linux != 0 {
			how |= f.ours
		}
	}
	addr := a[0]
	if how&(space.Fixed|space.NoReplace) == 0 {
		addr &^= pageMask // a hint
	}
	if flags&abi.MAP_ANONYMOUS != 0 {
		return t.Memory().Map(addr, a[1], space.Prot(prot), how, nil, 0)
	}
	return mapFile(t, a, addr, how)
}

var mapFlags = []struct {
	linux uint64
	ours  space.Flags
}{
	{abi.MAP_FIXED, space.Fixed},
	{abi.MAP_FIXED_NOREPLACE, space.NoReplace},
	{abi.MAP_GROWSDOWN, space.GrowsDown},
	{abi.MAP_NORESERVE, space.NoReserve},
	{0x40, space.Low}, // MAP_32BIT
}

// mapFile maps a file, as far as it was opened for that.
func mapFile(t *proc.Thread, a *Args, addr uint64, how space.Flags) (uint64, error) {
	f, err := fileOf(t, a[4])
	if err != nil {
		return 0, err
	}
	mode := f.Flags() & abi.O_ACCMODE
	shared := how&space.Shared != 0
	switch {
	case f.Flags()&abi.O_PATH != 0:
		return 0, sys.EBADF
	case mode == abi.O_WRONLY, shared && a[2]&abi.PROT_WRITE != 0 && mode != abi.O_RDWR:
		return 0, sys.EACCES
	case shared && mode == abi.O_RDONLY:
		how |= space.NoWrite
	}
	back, err := f.Backing()
	if err != nil {
		return 0, err
	}
	return t.Memory().Map(addr, a[1], space.Prot(a[2]), how, back, a[5])
}

func munmap(t *proc.Thread, a *Args) (uint64, error) { return done(t.Memory().Unmap(a[0], a[1])) }

func mprotect(t *proc.Thread, a *Args) (uint64, error) {
	if a[2]&^(abi.PROT_READ|abi.PROT_WRITE|abi.PROT_EXEC) != 0 {
		return 0, sys.EINVAL
	}
	return done(t.Memory().Protect(a[0], a[1], space.Prot(a[2])))
}

func mremap(t *proc.Thread, a *Args) (uint64, error) {
	how, leave := space.Stay, space.Move(0)
	if a[3]&abi.MREMAP_DONTUNMAP != 0 {
		leave = space.Leave
	}
	switch a[3] &^ abi.MREMAP_DONTUNMAP {
	case 0:
	case abi.MREMAP_MAYMOVE:
		how = space.MayMove
	case abi.MREMAP_MAYMOVE | abi.MREMAP_FIXED:
		how = space.MoveTo
	default:
		return 0, sys.EINVAL
	}
	return t.Memory().Remap(a[0], a[1], a[2], how|leave, a[4])
}

func madvise(t *proc.Thread, a *Args) (uint64, error) {
	switch a[2] {
	case abi.MADV_DONTNEED, abi.MADV_FREE:
		return done(t.Memory().Discard(a[0], a[1]))
	case abi.MADV_NORMAL, abi.MADV_RANDOM, abi.MADV_SEQUENTIAL, abi.MADV_WILLNEED, abi.MADV_HUGEPAGE,
		abi.MADV_NOHUGEPAGE, abi.MADV_DONTDUMP, abi.MADV_COLD:
		return 0, nil // there is nothing to be done about these
	}
	return 0, sys.EINVAL
}

// mincore tells of each page whether it can be used without a page fault. What a
// file has in memory and nobody has touched through this mapping counts as absent.
//
// Source: Linux, mincore(2).
func mincore(t *proc.Thread, a *Args) (uint64, error) {
	start, end := a[0], (a[0]+a[1]+pageMask)&^pageMask
	if start&pageMask != 0 {
		return 0, sys.EINVAL
	}
	if end < start || a[1] > end-start || !t.Memory().Mapped(start, end) {
		return 0, sys.ENOMEM
	}
	var out [512]byte
	for done := uint64(0); start < end; { // a mapping may have 2^35 pages
		if t.Dying() {
			return 0, sys.EINTR
		}
		n := min((end-start)/space.PageSize, uint64(len(out)))
		for i := range out[:n] {
			var b [1]byte
			out[i] = byte(t.Memory().Peek(b[:], start))
			start += space.PageSize
		}
		if err := t.Memory().Out(a[2]+done, out[:n]); err != nil {
			return 0, err
		}
		done += n
	}
	return 0, nil
}

// nothing is a call about what does not exist here, and which may succeed for
// that: memory that is never swapped out need not be locked.
func nothing(*proc.Thread, *Args) (uint64, error) { return 0, nil }
