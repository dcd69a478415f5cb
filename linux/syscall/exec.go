package syscall

import (
	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// Program is a program's file with its arguments and environment.
type Program struct {
	File      *vfs.File // open; the caller keeps its hold
	Path      string
	Args, Env []string
	Open      func(path string) (*vfs.File, error) // for interpreters
}

// Load makes a program ready to run, in an address space of its own.
//
// Errors: ENOEXEC, ENOMEM, ELOOP and others of execve(2); nothing is left over then.
type Load func(p Program) (proc.Image, error)

// load is written once at boot, by Start.
var load Load

func execve(t *proc.Thread, path string, a *Args) (uint64, error) {
	return exec(t, start(t), path, a[1], a[2])
}

// exec runs the program at a path from dir.
func exec(t *proc.Thread, dir *vfs.Place, path string, argv, envp uint64) (uint64, error) {
	room := StringsMost
	args, err := StringsAt(t, argv, &room)
	if err != nil {
		return 0, err
	}
	env, err := StringsAt(t, envp, &room)
	if err != nil {
		return 0, err
	}
	img, err := image(dir, path, args, env)
	if err != nil {
		return 0, err
	}
	taken := false
	defer func() {
		if !taken {
			img.Space.Release()
		}
	}()
	err = t.Exec(img)
	taken = err == nil
	return 0, err
}
