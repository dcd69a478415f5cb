package syscall

import (
	"io/fs"
	sys "syscall"

	"sonde/kernel/vfs"
	"sonde/linux/proc"
)

// SetLoader sets the function that loads programs. Called once at boot.
func SetLoader(l Load) { load = l }

// image loads the program at a path from dir.
//
// Errors: EACCES if it is not a program file, and those of opening and loading it.
func image(dir *vfs.Place, path string, args, env []string) (proc.Image, error) {
	open := func(path string) (*vfs.File, error) { return openProgram(dir, path) }
	f, err := open(path)
	if err != nil {
		return proc.Image{}, err
	}
	defer vfs.Close(f)
	return load(Program{File: f, Path: path, Args: args, Env: env, Open: open})
}

// openProgram opens a file that may be executed.
func openProgram(dir *vfs.Place, path string) (*vfs.File, error) {
	f, err := vfs.OpenAt(dir, path, vfs.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if i := f.Info(); !i.Mode.IsRegular() || i.Mode&0111 == 0 {
		vfs.Close(f)
		return nil, &fs.PathError{Op: "exec", Path: path, Err: sys.EACCES}
	}
	return f, nil
}

// Spec is a program that the kernel starts.
type Spec struct {
	Path      string
	Args, Env []string
	Dir       string              // the current directory
	Files     []*vfs.File         // descriptors 0 and up; the program takes over their holds
	Group     int                 // of process 1's session; 0: a new one
	Ready     func(*proc.Process) // called before the program runs; may be nil
}

// Start starts a program. On an error the files are closed.
//
// Errors: those of execve and of fork.
func Start(t *proc.Table, s Spec) (*proc.Process, error) {
	files := s.Files
	closeAll := func() {
		for _, f := range files {
			vfs.Close(f)
		}
	}
	dir, err := vfs.Root.PlaceAt(vfs.Root.RootPlace(), s.Dir, true, true)
	if err != nil {
		closeAll()
		return nil, err
	}
	img, err := image(dir, s.Path, s.Args, s.Env)
	if err != nil {
		closeAll()
		return nil, err
	}
	res, err := NewFiles(dir, files...)
	if err != nil {
		img.Space.Release()
		return nil, err
	}
	p, err := t.Start(proc.Spec{Image: img, Resources: res, Group: s.Group, Ready: s.Ready})
	if err != nil {
		img.Space.Release()
		res.Close()
	}
	return p, err
}
