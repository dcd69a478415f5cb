package process

import (
	"fmt"
	"io"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/linux/proc"
)

// descriptorInfo is /proc/PID/fdinfo.
//
// Source: Linux, proc_pid_fdinfo(5).
func descriptorInfo(p *proc.Process) vfs.Node {
	return eachDescriptor(p, func(fd int, file *vfs.File) vfs.Node {
		return ctl.Print(func(w io.Writer) {
			closeOnExec := false
			if f := open(p); f != nil {
				closeOnExec, _ = f.Descriptors().CloseOnExec(fd)
			}
			fileInfo(w, file, closeOnExec)
		})
	})
}

// fileInfo prints what all open files have, then what only files of that kind do. What
// has no name in the tree is in no mount: its number is that after the last one's.
func fileInfo(w io.Writer, f *vfs.File, closeOnExec bool) {
	pos, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		pos = 0
	}
	flags, mount := f.Flags(), len(vfs.Mounts())
	if closeOnExec {
		flags |= abi.O_CLOEXEC
	}
	if at := f.Place(); at != nil {
		flags |= abi.O_LARGEFILE
		mount, _ = at.Mount().Index()
	}
	fmt.Fprintf(w, "pos:\t%d\nflags:\t0%o\nmnt_id:\t%d\nino:\t%d\n", pos, flags, mount+1, f.Info().Ino)
	if d, ok := f.Handle().(vfs.Describer); ok {
		d.Describe(w)
	}
}
