package shell

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/shell/coreutils"
)

// shared are the commands that programs of /bin have in common with the shell.
func shared() (all []*Command) {
	for _, u := range coreutils.Commands {
		all = append(all, &Command{
			Name: u.Name, Usage: u.Usage, Help: u.Help, Options: u.Options, Verbatim: u.Verbatim,
			Run: func(c *Context, args []string) error { return u.Run(c.io(u.Name), args) },
		})
	}
	return all
}

// io is what such a command reads and writes. ^C ends its reading.
func (c *Context) io(name string) *coreutils.IO {
	return &coreutils.IO{
		Name: name, In: interruptible{c, c.In}, Out: c.Out, Err: c.Shell.painted(c.Err), Files: seen{c}, Opts: c.Opts, Kill: c.kill, Interrupt: c.Interrupt,
	}
}

// seen is the kernel's tree of files, as seen from the shell's directory. It implements coreutils.Files.
type seen struct{ c *Context }

func (t seen) Open(path string) (io.ReadCloser, error) {
	f, err := vfs.Open(t.c.path(path), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return interruptible{t.c, f}, nil
}

// Stat and the following implement coreutils.Files.
func (t seen) Stat(path string) (fs.FileInfo, error)      { return vfs.Stat(t.c.path(path)) }
func (t seen) ReadDir(path string) ([]fs.DirEntry, error) { return vfs.ReadDir(t.c.path(path)) }
func (t seen) Remove(path string) error                   { return vfs.Remove(t.c.path(path)) }
func (t seen) Mkdir(path string, _ fs.FileMode) error     { return vfs.Root.Mkdir(t.c.path(path)) }
func (t seen) MkdirAll(path string, _ fs.FileMode) error {
	return vfs.Root.MkdirAll(t.c.path(path), 0o755)
}
func (t seen) Lstat(path string) (fs.FileInfo, error) { return vfs.Lstat(t.c.path(path)) }
func (t seen) Readlink(path string) (string, error) {
	return vfs.Root.ReadlinkAt(vfs.Root.RootPlace(), t.c.path(path))
}

// kill sends a signal to the process or job that an argument names.
func (c *Context) kill(n int, arg string) error {
	if strings.HasPrefix(arg, "%") {
		j, err := c.Shell.jobs.find(arg, c.Shell.within)
		if err != nil {
			return err
		}
		return killJob(j, n)
	}
	pid, err := coreutils.Pid(arg)
	if err != nil {
		return err
	}
	t := c.Machine.Programs
	if t == nil {
		return errNoPrograms
	}
	if pid < 0 {
		err = t.SendGroup(-pid, n)
	} else if p, e := t.Find(pid); e != nil {
		err = e
	} else {
		err = p.Send(n)
	}
	if err != nil {
		return fmt.Errorf("(%d) - %w", pid, err)
	}
	return nil
}

// killJob sends a signal to all members of a job. A stopped job is continued, so that it can end.
func killJob(j *job, n int) error {
	now, _ := j.look()
	switch {
	case now == ended:
		return fmt.Errorf("%%%d: the job has ended", j.number)
	case n == 0:
		return nil
	}
	j.send(n)
	if now == stopped && (n == abi.SIGTERM || n == abi.SIGHUP || n == abi.SIGCONT) {
		j.goOn()
	}
	return nil
}
