package uprobes

import (
	"fmt"
	"slices"
	"syscall"

	"sonde/kernel/abi"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/program"
	"sonde/probe/ledger"
	"sonde/uprobes/images"
	"sonde/uprobes/place"
)

// watcher is the engine of all processes while there are file probes. It learns when a
// process runs another program, has a child, or changes its mappings.
var watcher = new(proc.Engine)

func init() {
	*watcher = proc.Engine{
		Exec: func(t *proc.Thread) {
			renew(t)
			rearm(t.Process())
		},
		Leave: mapped,
		Clone: func(t, child *proc.Thread, flags uint64) {
			if flags&abi.CLONE_THREAD == 0 {
				clone(t, child, flags)
				rearm(child.Process())
			}
		},
	}
}

// The system calls that map a file or make memory executable.
const (
	callMmap     = 9
	callMprotect = 10
	callMremap   = 25
)

func mapped(t *proc.Thread) {
	switch t.Call() {
	case callMmap, callMprotect, callMremap:
		rearm(t.Process())
	}
}

// registerFile is register for a probe on a file.
func (o order) registerFile() error {
	f, err := o.openFile()
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	if err := o.taken(); err != nil {
		vfs.Close(f.opened)
		return err
	}
	if f.filmed() {
		vfs.Close(f.opened)
		return errCamera
	}
	if len(files) == 0 {
		table.Watch(watcher)
	}
	f.list()
	o.u.file.Store(f)
	for _, p := range table.Processes() {
		f.armIn(p)
	}
	return nil
}

// filmed reports whether f is a camera's, and there is one already. mu held.
func (f *file) filmed() bool {
	return f.o.camera != nil && slices.ContainsFunc(files, func(o *file) bool {
		return o.o.camera != nil && o.off == f.off && inodeOf(o.ident) == inodeOf(f.ident)
	})
}

// openFile finds the instruction in the file.
func (o order) openFile() (*file, error) {
	u := o.u
	opened, err := vfs.Open(u.Path, vfs.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f := &file{o: o, opened: opened, off: u.Offset, counter: new(ledger.Counter), disabled: u.Disabled}
	if err := f.check(u); err != nil {
		vfs.Close(opened)
		idle()
		return nil, err
	}
	return f, nil
}

// check checks that the instruction can be probed.
func (f *file) check(u *Uprobe) error {
	var err error
	if f.ident, err = images.IdentOf(f.opened); err != nil {
		return err
	}
	if err := f.find(u); err != nil {
		return err
	}
	var code [15]byte
	n, _ := f.opened.ReadAt(code[:], int64(f.off))
	if n == 0 {
		return refusal.New(syscall.EINVAL, "offset %#x is beyond the end of %s", f.off, u.Path)
	}
	_, err = place.Decide(code[:n], f.off)
	return err
}

// removeFile takes f out of all processes. Handlers of the members it returns may still be
// running. mu held.
func removeFile(f *file) (left []*member) {
	f.unlist()
	if len(files) == 0 {
		table.Unwatch(watcher)
	}
	left = f.members()
	for _, m := range left {
		tasks[m.process].remove(m)
	}
	if len(left) == 0 {
		f.counter.EndFused() // no code counts there: its processes have ended
	}
	for _, tk := range tasks {
		delete(tk.unset, f.counter)
	}
	vfs.Close(f.opened)
	if len(tasks) == 0 {
		images.Close()
	}
	return left
}

// find determines the offset in the file.
//
// Errors: those of program.File.FindOne; ENOEXEC not a program; EILSEQ.
func (f *file) find(u *Uprobe) error {
	mu.Lock()
	defer mu.Unlock()
	im := images.Of(u.Path, f.ident)
	if u.Symbol == "" {
		if im != nil {
			if addr, ok := im.Vaddr(f.off); ok {
				return f.describe(im, addr)
			}
		}
		return nil
	}
	if im == nil {
		return errNoProgram(u.Path)
	}
	at, err := im.FindOne(u.Symbol, u.Offset)
	if err != nil {
		return fmt.Errorf("%w in %s", err, u.Path)
	}
	f.off = at.Offset
	return f.describe(im, at.Addr)
}

// Program calls f with what is known of the program at a path, and returns its result. Of the programs used last it
// need not be read again. f must not register or unregister probes, nor keep the File.
//
// Errors: those of opening the file; ENODEV it is no regular file; ENOEXEC it is no program.
func Program(path string, f func(*program.File) error) error {
	opened, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return err
	}
	defer vfs.Close(opened)
	ident, err := images.IdentOf(opened)
	if err != nil {
		return err
	}
	defer idle()
	mu.Lock()
	defer mu.Unlock()
	if im := images.Of(path, ident); im != nil {
		return f(im.File)
	}
	return errNoProgram(path)
}

func errNoProgram(path string) error {
	return refusal.New(syscall.ENOEXEC, "%s is not a program that can be probed by symbol", path)
}

// describe notes how returns of the function at addr are seen, and where it finds its arguments.
//
// Errors: EILSEQ no instruction begins there; EOPNOTSUPP it is assembly of a Go
// program.
func (f *file) describe(im *images.Image, addr uint64) error {
	f.o.u.conventionOf(im, addr)
	if f.o.rp != nil {
		f.returns = images.ReturnsOf(im.File, addr)
		switch s, _, _ := im.At(addr); {
		case !f.o.rp.more():
		case im.Asm(addr):
			return errGoAsm
		case s.Go:
			f.returns += images.OnBeginning
		}
	}
	return im.Begins(addr)
}

// idle forgets the images if nothing is probed.
func idle() {
	mu.Lock()
	defer mu.Unlock()
	if len(tasks) == 0 && len(files) == 0 {
		images.Close()
	}
}
