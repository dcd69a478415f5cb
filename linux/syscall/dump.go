package syscall

import (
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/core"
	"sonde/linux/proc"
	"sonde/sysctl"
)

var (
	corePattern = sysctl.NewString("kernel.core_pattern", "core", "the name of core files, with letters after % as in core(5); a relative one is in the folder of the process", core.Check)
	coreUsesPID = sysctl.NewRange("kernel.core_uses_pid", 0, 0, 1, "1: the names of core files end with the process's number, if core_pattern has no %p")
)

// WriteCore implements proc.Dumper. As in Linux, the file replaces one of that name, and is as long
// as RLIMIT_CORE and RLIMIT_FSIZE allow. If it cannot be written, there is none.
//
// Errors: those of making and writing a file, and of core.Dump.Write.
func (f *Files) WriteCore(p *proc.Process, d *core.Dump) (err error) {
	if err := mayOpen(1); err != nil {
		return err
	}
	dir, name := f.Cwd(), coreName(p, d)
	vfs.Root.UnlinkAt(dir, name) // so that nothing has it open, and no link leads elsewhere
	file, err := vfs.OpenAt(dir, name, vfs.O_WRONLY|vfs.O_CREAT|vfs.O_EXCL, 0600&^f.umask())
	if err != nil {
		return err
	}
	defer vfs.Close(file)
	size, err := d.Write(file, coreLimit(p))
	if err == nil {
		err = file.Truncate(size)
	}
	if err != nil {
		vfs.Root.UnlinkAt(dir, name)
	}
	return err
}

// coreLimit is how long p's core file may be.
func coreLimit(p *proc.Process) int64 {
	n := int64(vfs.MaxFile)
	if most, ok := p.FileLimit(); ok {
		n = min(n, most)
	}
	l, _ := p.Limit(abi.RLIMIT_CORE)
	return min(n, int64(min(l.Cur, math.MaxInt64)))
}

// coreName is the name of p's core file. All users and groups are 0, and there is one name space of
// processes.
func coreName(p *proc.Process, d *core.Dump) string {
	pattern := corePattern.Get()
	if coreUsesPID.Get() != 0 && !strings.Contains(pattern, "%p") {
		pattern += ".%p"
	}
	return core.Name(pattern, func(letter byte) string {
		switch letter {
		case 'p', 'P':
			return strconv.Itoa(p.PID)
		case 'i', 'I':
			return strconv.Itoa(d.Threads[0].TID)
		case 'u', 'g':
			return "0"
		case 'd':
			return "1"
		case 's':
			return strconv.Itoa(int(d.Signal.Signo))
		case 't':
			return strconv.FormatInt(time.Now().Unix(), 10)
		case 'h':
			return nodeName.Get()
		case 'e':
			return p.Name()
		case 'f':
			return path.Base(p.Facts().Exe)
		case 'E':
			return p.Facts().Exe
		case 'c':
			l, _ := p.Limit(abi.RLIMIT_CORE)
			return strconv.FormatUint(l.Cur, 10)
		}
		return ""
	})
}
