package syscall

import (
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
)

const pageMask = space.PageSize - 1

func brk(t *proc.Thread, a *Args) (uint64, error) { return t.Memory().Brk(a[0]), nil }

func mmap(t *proc.Thread, a *Args) (uint64, error) {
	prot, flags := a[2], a[3]
	if prot&abi.PROT_READ != 0 && persona(t, readImpliesExec) {
		prot |= abi.PROT_EXEC
		a[2] = prot
	}
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
	var at uint64
	var err error
	if flags&abi.MAP_ANONYMOUS != 0 {
		at, err = t.Memory().Map(addr, a[1], space.Prot(prot), how, nil, 0)
	} else {
		at, err = mapFile(t, a, addr, how)
	}
	if err == nil {
		populateNew(t, at, a[1], flags)
	}
	return at, err
}

var mapFlags = []struct {
	linux uint64
	ours  space.Flags
}{
	{abi.MAP_FIXED, space.Fixed},
	{abi.MAP_FIXED_NOREPLACE, space.NoReplace},
	{abi.MAP_GROWSDOWN, space.GrowsDown},
	{abi.MAP_NORESERVE, space.NoReserve},
	{abi.MAP_LOCKED, space.Locked},
	{0x40, space.Low}, // MAP_32BIT
}

// knownMapFlags are the flags that MAP_SHARED_VALIDATE accepts: all except MAP_SYNC, which no file
// here supports.
const knownMapFlags = abi.MAP_TYPE | abi.MAP_FIXED | abi.MAP_ANONYMOUS | 0x40 | abi.MAP_GROWSDOWN | 0x800 | 0x1000 |
	abi.MAP_LOCKED | abi.MAP_NORESERVE | abi.MAP_POPULATE | 0x10000 | abi.MAP_STACK | 0x40000 |
	abi.MAP_FIXED_NOREPLACE

// mapFile maps a file, with the access that it was opened for.
func mapFile(t *proc.Thread, a *Args, addr uint64, how space.Flags) (uint64, error) {
	f, err := fileOf(t, a[4])
	switch {
	case err != nil:
		return 0, err
	case a[1] == 0:
		return 0, sys.EINVAL
	case a[3]&abi.MAP_TYPE == abi.MAP_SHARED_VALIDATE && a[3]&^uint64(knownMapFlags) != 0:
		return 0, sys.EOPNOTSUPP
	}
	mode := f.Flags() & abi.O_ACCMODE
	shared := how&space.Shared != 0
	switch {
	case mode == abi.O_WRONLY, shared && a[2]&abi.PROT_WRITE != 0 && mode != abi.O_RDWR:
		return 0, sys.EACCES
	case shared && mode == abi.O_RDONLY:
		how |= space.NoWrite
	}
	if m, ok := f.Handle().(vfs.Mapped); ok {
		back, later, err := m.Map(a[5], a[1], shared, a[2]&abi.PROT_WRITE != 0)
		if err != nil {
			return 0, err
		}
		defer back.Drop()
		how |= space.NoOther // Map has judged these pages
		if !later {
			how |= space.NoWrite
		}
		return t.Memory().Map(addr, a[1], space.Prot(a[2]), how, back, a[5])
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
	if a[1] == 0 && a[0]&pageMask == 0 {
		return 0, nil
	}
	prot := a[2]
	if prot&abi.PROT_READ != 0 && persona(t, readImpliesExec) {
		prot |= abi.PROT_EXEC
	}
	return done(t.Memory().Protect(a[0], a[1], space.Prot(prot)))
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

// remapFilePages takes no flags that matter: pages are found when they are used.
func remapFilePages(t *proc.Thread, a *Args) (uint64, error) {
	if a[2] != 0 {
		return 0, sys.EINVAL
	}
	return done(t.Memory().Repage(a[0], a[1], a[3]))
}
