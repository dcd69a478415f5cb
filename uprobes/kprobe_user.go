package uprobes

import (
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/uprobes/images"
)

// KprobeUser is a probe by inode and offset, the interface that preceded Uprobe. It is
// registered once for the pair, and then inserted into, and removed from, pages of the
// processes that map the file.
//
// Source: "User Space Probes Interface".
type KprobeUser struct {
	// PreHandler is called before the instruction. If it returns 1, the instruction is
	// skipped and execution continues at the IP that the handler has set.
	PreHandler func(k *KprobeUser, r *amd64.Regs) int
	// PostHandler, if not nil, is called after the instruction has been executed.
	PostHandler func(k *KprobeUser, r *amd64.Regs, flags uint64)
	// FaultHandler, if not nil, is called when PreHandler panics (trapnr is -1) or the
	// instruction causes an exception. If it returns 1, the exception is handled and the
	// program gets no signal.
	FaultHandler func(k *KprobeUser, r *amd64.Regs, trapnr int) int
	User         *UserPlace
}

// UserPlace says where a KprobeUser is. Inode and Offset are for registering; Addr, Page
// and VMA say in addition where to insert or remove it.
type UserPlace struct {
	Inode  Inode
	Offset uint64
	Addr   uint64
	Page   frame.Frame // that contains Addr: it must be in memory
	VMA    VMA
}

// Inode identifies a file.
type Inode struct{ Dev, Number uint64 }

// VMA is a mapping of a process.
type VMA struct {
	Process *proc.Process
	space.Area
}

// InodeOf returns the inode of the file at a path.
//
// Errors: those of opening it; ENODEV if it is not a regular file.
func InodeOf(path string) (Inode, error) {
	f, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return Inode{}, err
	}
	defer vfs.Close(f)
	id, err := images.IdentOf(f)
	return inodeOf(id), err
}

// PlaceOf returns Page and VMA for an address of a process.
//
// Errors: ESRCH; EFAULT nothing is mapped there, or the page is not in memory.
func PlaceOf(p *proc.Process, addr uint64) (frame.Frame, VMA, error) {
	if p == nil {
		return frame.None, VMA{}, refusal.New(syscall.ESRCH, "there is no process, the pointer is nil")
	}
	mem := p.Memory()
	if mem == nil {
		return frame.None, VMA{}, errEnded(p.PID)
	}
	a, ok := mem.At(addr)
	f := mem.Resident(addr)
	if !ok || f == frame.None {
		return frame.None, VMA{}, refusal.New(syscall.EFAULT, "the page of %#x is not in memory", addr)
	}
	return f, VMA{p, a}, nil
}

type pair struct {
	Inode
	off uint64
}

// byPair has the registered probes. Guarded by mu.
var byPair = map[pair]registration{}

// registration is a registered KprobeUser and the module that registered it.
type registration struct {
	k     *KprobeUser
	owner string
}

func (k *KprobeUser) pair() pair { return pair{k.User.Inode, k.User.Offset} }

// RegisterKprobeUser registers k for its inode and offset, without inserting it anywhere.
//
// Errors: EINVAL PreHandler or User is nil; EEXIST the pair has a probe already; EDEADLK
// called in a handler in trap context.
func RegisterKprobeUser(k *KprobeUser) error {
	switch {
	case mach.InTrap():
		return errTrap
	case k == nil || k.PreHandler == nil || k.User == nil:
		return refusal.New(syscall.EINVAL, "the probe needs PreHandler and User")
	}
	mu.Lock()
	defer mu.Unlock()
	if byPair[k.pair()].k != nil {
		return refusal.New(syscall.EEXIST, "inode %d has a probe at %#x already", k.User.Inode.Number, k.User.Offset)
	}
	byPair[k.pair()] = registration{k, asker()}
	return nil
}

// UnregisterKprobeUser undoes RegisterKprobeUser.
//
// Errors: EINVAL k is not registered; EBUSY it is still inserted somewhere; EDEADLK.
func UnregisterKprobeUser(k *KprobeUser) error {
	if mach.InTrap() {
		return errTrap
	}
	mu.Lock()
	defer mu.Unlock()
	if err := k.registered(); err != nil {
		return err
	}
	for _, tk := range tasks {
		for _, m := range tk.members {
			if m.user == k {
				return refusal.New(syscall.EBUSY, "the probe is inserted at %#x of process %d", m.vaddr, m.pid)
			}
		}
	}
	delete(byPair, k.pair())
	return nil
}

// registered returns an error unless k is registered. mu held.
func (k *KprobeUser) registered() error {
	if k == nil || k.User == nil || byPair[k.pair()].k != k {
		return refusal.New(syscall.EINVAL, "the probe is not registered")
	}
	return nil
}

// InsertKprobeUserspace inserts k into the page that k.User names, or rather into the
// process's own copy of it.
//
// Errors: EINVAL k is not registered, VMA does not map its inode and offset at Addr, or
// Page is another page; EFAULT the page is not in memory; EEXIST k is inserted there
// already, or the program has a breakpoint of its own there; EDEADLK; and those of
// RegisterUprobe.
func InsertKprobeUserspace(k *KprobeUser) error {
	if mach.InTrap() {
		return errTrap
	}
	mu.Lock()
	defer mu.Unlock()
	if err := k.check(); err != nil {
		return err
	}
	if tasks[k.User.VMA.Process].inserted(k) != nil { // so its page may be a copy by now
		return refusal.New(syscall.EEXIST, "the probe is inserted at %#x already", k.User.Addr)
	}
	if err := k.User.mapped(); err != nil {
		return err
	}
	tk, err := join(k.User.VMA.Process)
	if err != nil {
		return err
	}
	var ms []*member
	u := &Uprobe{Handler: func(_ *Uprobe, r *amd64.Regs) { ms[0].pre(handling(), r) }}
	if ms, err = tk.add(order{u: u, owner: asker()}, k.User.Addr); err != nil {
		tk.unused()
		return err
	}
	ms[0].user, ms[0].page = k, k.User.Page
	tk.list(ms)
	return nil
}

// RemoveKprobeUser removes k from the page that k.User names: the one it was inserted into,
// or the process's present copy of it. The page need not be mapped any more. When it
// returns, no handler of k runs there; but in a handler of a user probe it does not wait
// for running handlers.
//
// Context: goroutine, including handlers of user probes, even k's own.
// Errors: EINVAL, EFAULT as InsertKprobeUserspace; EINVAL also if k is not inserted there.
func RemoveKprobeUser(k *KprobeUser) error {
	if mach.InTrap() {
		return errTrap
	}
	m, err := k.takeOut()
	if err == nil && handling() == nil {
		m.drain()
	}
	return err
}

func (k *KprobeUser) takeOut() (*member, error) {
	mu.Lock()
	defer mu.Unlock()
	if err := k.check(); err != nil {
		return nil, err
	}
	u := k.User
	tk := tasks[u.VMA.Process]
	m := tk.inserted(k)
	switch {
	case m == nil:
		return nil, refusal.New(syscall.EINVAL, "the probe is not inserted at %#x", u.Addr)
	case u.Page != m.page && u.Page != tk.text.mem.Resident(u.Addr):
		return nil, u.wrongPage()
	}
	tk.remove(m)
	return m, nil
}

// check checks k.User by itself. mu held.
func (k *KprobeUser) check() error {
	if err := k.registered(); err != nil {
		return err
	}
	u := k.User
	a := u.VMA.Area
	if u.VMA.Process == nil || u.Addr < a.Start || u.Addr >= a.End || a.Ident.Dev != u.Inode.Dev ||
		a.Ident.Inode != u.Inode.Number || u.Addr-a.Start+a.Offset != u.Offset {
		return refusal.New(syscall.EINVAL, "the mapping does not have offset %#x of inode %d at %#x", u.Offset, u.Inode.Number, u.Addr)
	}
	if u.Page == frame.None {
		return refusal.New(syscall.EFAULT, "no page is given")
	}
	return nil
}

// mapped checks that the process has the mapping that u describes.
func (u *UserPlace) mapped() error {
	page, vma, err := PlaceOf(u.VMA.Process, u.Addr)
	switch {
	case err != nil:
		return err
	case vma.Ident != u.VMA.Ident || u.Addr-vma.Start+vma.Offset != u.Offset:
		return refusal.New(syscall.EINVAL, "something else is mapped at %#x", u.Addr)
	case page != u.Page:
		return u.wrongPage()
	}
	return nil
}

func (u *UserPlace) wrongPage() error {
	return refusal.New(syscall.EINVAL, "frame %#x is not the page of %#x", uint64(u.Page), u.Addr)
}

// inserted returns k's member at its address, or nil. mu held.
func (tk *task) inserted(k *KprobeUser) *member {
	if tk == nil {
		return nil
	}
	for _, m := range tk.members {
		if m.user == k && m.vaddr == k.User.Addr {
			return m
		}
	}
	return nil
}
