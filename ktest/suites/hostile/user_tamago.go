//go:build tamago

package hostile

import (
	"fmt"

	"sonde/arch/amd64"
	"sonde/kernel/mm/frame"
	"sonde/ktest/suites"
	"sonde/uprobes"
)

// userAddr is an address of the waiting program's, or any.
func (s *scene) userAddr() uint64 {
	if s.in(3) {
		return uint64(s.addr())
	}
	return suites.ProgramAt + uint64(s.IntN(len(waiting)+2))
}

// place fills in where u is.
func (s *scene) place(u *uprobes.Uprobe) {
	u.Pid, u.Vaddr = s.pid(), s.userAddr()
	if s.in(3) {
		u.Path, u.Offset = s.file(), pick(s.source, uint64(suites.ProgramAt&0xfff), uint64(s.number()))
	}
	if s.in(16) {
		u.Symbol, u.Comm = s.name(), s.text(20)
	}
}

func sayUser(u *uprobes.Uprobe) string {
	return fmt.Sprintf("{pid %d %#x %.60q:%.60q+%#x}", u.Pid, u.Vaddr, u.Path, u.Symbol, u.Offset)
}

func (s *scene) uprobe() (a attempt) {
	if s.in(50) {
		return attempt{what: "RegisterUprobe nil", err: uprobes.RegisterUprobe(nil)}
	}
	u := new(uprobes.Uprobe)
	if s.place(u); !s.in(8) {
		u.Handler = func(*uprobes.Uprobe, *amd64.Regs) {}
	}
	if s.in(8) {
		return attempt{what: "UnregisterUprobe " + sayUser(u), err: uprobes.UnregisterUprobe(u)}
	}
	a.what = "RegisterUprobe " + sayUser(u)
	a.err = uprobes.RegisterUprobe(u)
	a.undo = func() {
		if s.in(4) {
			s.t.Must(uprobes.DisableUprobe(u))
			s.t.Must(uprobes.EnableUprobe(u))
		}
		s.t.Must(uprobes.UnregisterUprobe(u))
	}
	return a
}

func (s *scene) uretprobe() (a attempt) {
	if s.in(50) {
		return attempt{what: "RegisterUretprobe nil", err: uprobes.RegisterUretprobe(nil)}
	}
	rp := new(uprobes.Uretprobe)
	if s.place(&rp.U); !s.in(8) {
		rp.Handler = func(*uprobes.UretprobeInstance, *amd64.Regs) {}
	}
	if s.in(8) {
		return attempt{what: "UnregisterUretprobe " + sayUser(&rp.U), err: uprobes.UnregisterUretprobe(rp)}
	}
	a.what = "RegisterUretprobe " + sayUser(&rp.U)
	a.err = uprobes.RegisterUretprobe(rp)
	a.undo = func() { s.t.Must(uprobes.UnregisterUretprobe(rp)) }
	return a
}

// toggleUser enables and disables what is not registered.
func (s *scene) toggleUser() (a attempt) {
	u, rp := new(uprobes.Uprobe), new(uprobes.Uretprobe)
	s.place(u)
	s.place(&rp.U)
	if s.in(4) {
		u, rp = nil, nil
	}
	switch s.IntN(4) {
	case 0:
		a = attempt{what: "EnableUprobe", err: uprobes.EnableUprobe(u)}
	case 1:
		a = attempt{what: "DisableUprobe", err: uprobes.DisableUprobe(u)}
	case 2:
		a = attempt{what: "EnableUretprobe", err: uprobes.EnableUretprobe(rp)}
	default:
		a = attempt{what: "DisableUretprobe", err: uprobes.DisableUretprobe(rp)}
	}
	if a.err == nil {
		s.t.Errorf("%s: accepted", a.what)
	}
	return a
}

// kprobeUser registers one by inode and offset, and inserts it somewhere.
func (s *scene) kprobeUser() (a attempt) {
	var k *uprobes.KprobeUser
	if !s.in(20) {
		k = &uprobes.KprobeUser{PreHandler: func(*uprobes.KprobeUser, *amd64.Regs) int { return 0 }}
		if s.in(8) {
			k.PreHandler = nil
		}
	}
	if k != nil && !s.in(10) {
		k.User = &uprobes.UserPlace{Offset: uint64(s.number()), Addr: s.userAddr(), Page: frame.Frame(s.number())}
		k.User.Inode, _ = uprobes.InodeOf(s.file())
		if page, vma, err := uprobes.PlaceOf(s.program, k.User.Addr); err == nil && s.in(2) {
			k.User.Page, k.User.VMA, k.User.Inode = page, vma, uprobes.Inode{Dev: vma.Ident.Dev, Number: vma.Ident.Inode}
			k.User.Offset = k.User.Addr - vma.Start + vma.Offset
		}
		a.what = fmt.Sprintf("RegisterKprobeUser %+v", *k.User)
	}
	insert := func() error {
		err := uprobes.InsertKprobeUserspace(k)
		if err == nil {
			s.t.Must(uprobes.RemoveKprobeUser(k))
		}
		return err
	}
	switch s.IntN(4) {
	case 0:
		a.err = insert()
	case 1:
		a.err = uprobes.RemoveKprobeUser(k)
	default:
		a.err = uprobes.RegisterKprobeUser(k)
		a.undo = func() {
			if err := insert(); err != nil {
				if why := unsound(err, nil); why != "" {
					s.t.Errorf("InsertKprobeUserspace: %v: %s", err, why)
				}
			}
			s.t.Must(uprobes.UnregisterKprobeUser(k))
		}
	}
	return a
}
