//go:build tamago

package uprobes

import (
	"errors"
	"syscall"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/uprobes"
)

func init() {
	suites.Add("uprobes/by_inode_and_offset", byInode)
	suites.Add("uprobes/by_inode_rules", byInodeRules)
	suites.Add("uprobes/by_inode_fault_handler", byInodeFault)
	suites.Add("uprobes/by_inode_pre_handler_faults", byInodePreFaults)
}

// inodeProbe is a probe on a function of a process, whose page it brings.
func (p *program) inodeProbe(t *suites.T, in *proc.Process, function string) *uprobes.KprobeUser {
	ino, err := uprobes.InodeOf(p.path)
	t.Must(err)
	addr := p.addr(t, in, function)
	k := &uprobes.KprobeUser{
		PreHandler: func(*uprobes.KprobeUser, *amd64.Regs) int { return 0 },
		User:       &uprobes.UserPlace{Inode: ino, Offset: offset(t, p.file, p.syms[function]), Addr: addr},
	}
	var b [1]byte
	t.Must(in.Memory().In(b[:], addr))
	k.User.Page, k.User.VMA, err = uprobes.PlaceOf(in, addr)
	t.Must(err)
	return k
}

func byInode(t *suites.T) {
	p := need(t, "/bin/probed")
	pre, post := 0, 0
	var k *uprobes.KprobeUser
	r := p.start(t, func(in *proc.Process) {
		k = p.inodeProbe(t, in, "secret")
		k.PreHandler = func(_ *uprobes.KprobeUser, r *amd64.Regs) int {
			if r.IP != k.User.Addr {
				t.Errorf("IP %#x", r.IP)
			}
			pre++
			return 0
		}
		k.PostHandler = func(_ *uprobes.KprobeUser, r *amd64.Regs, _ uint64) {
			if post++; r.AX != 41 || r.IP == k.User.Addr { // mov $41,%eax
				t.Errorf("AX %d, IP %#x", r.AX, r.IP)
			}
		}
		t.Must(uprobes.RegisterKprobeUser(k))
		t.Must(uprobes.InsertKprobeUserspace(k))
	}, "secret", "secret")
	r.wait(t, "secret 41\nsecret 41\n")
	if pre != 2 || post != 2 {
		t.Errorf("%d, %d", pre, post)
	}
	t.Must(uprobes.UnregisterKprobeUser(k)) // the process has ended: it is inserted nowhere
	skip := 0
	r = p.start(t, func(in *proc.Process) {
		k = p.inodeProbe(t, in, "secret")
		k.PreHandler = func(_ *uprobes.KprobeUser, r *amd64.Regs) int {
			skip++
			r.AX, r.IP = 7, r.IP+5
			return 1
		}
		t.Must(uprobes.RegisterKprobeUser(k))
		t.Must(uprobes.InsertKprobeUserspace(k))
	}, "secret")
	r.wait(t, "secret 7\n")
	t.Must(uprobes.UnregisterKprobeUser(k))
}

func byInodeRules(t *suites.T) {
	p := need(t, "/bin/probed")
	want := func(what string, err error, errno syscall.Errno) {
		if !errors.Is(err, errno) {
			t.Errorf("%s: %v, want %v", what, err, errno)
		}
	}
	r := p.start(t, func(in *proc.Process) {
		_, _, err := uprobes.PlaceOf(in, p.addr(t, in, "leaf"))
		want("a page that is not in memory", err, syscall.EFAULT)
		k := p.inodeProbe(t, in, "leaf")
		want("insert before register", uprobes.InsertKprobeUserspace(k), syscall.EINVAL)
		want("unregister before register", uprobes.UnregisterKprobeUser(k), syscall.EINVAL)
		t.Must(uprobes.RegisterKprobeUser(k))
		want("the pair again", uprobes.RegisterKprobeUser(p.inodeProbe(t, in, "leaf")), syscall.EEXIST)
		want("remove before insert", uprobes.RemoveKprobeUser(k), syscall.EINVAL)
		good := *k.User
		k.User.Addr++
		want("another address", uprobes.InsertKprobeUserspace(k), syscall.EINVAL)
		*k.User = good
		k.User.Page = 0
		want("no page", uprobes.InsertKprobeUserspace(k), syscall.EFAULT)
		*k.User = good
		t.Must(uprobes.InsertKprobeUserspace(k))
		want("insert again", uprobes.InsertKprobeUserspace(k), syscall.EEXIST)
		want("unregister while inserted", uprobes.UnregisterKprobeUser(k), syscall.EBUSY)
		good = *k.User
		k.User.Page = 0
		want("no page, removing", uprobes.RemoveKprobeUser(k), syscall.EFAULT)
		*k.User = good
		t.Must(uprobes.RemoveKprobeUser(k))
		t.Must(uprobes.UnregisterKprobeUser(k))
	}, "calls")
	r.wait(t, "calls 1505500\n")
}

// byInodeFault: the handler repairs what the instruction needs.
func byInodeFault(t *suites.T) {
	p := need(t, "/bin/probed")
	n := 0
	var k *uprobes.KprobeUser
	r := p.start(t, func(in *proc.Process) {
		k = p.inodeProbe(t, in, "peek")
		k.FaultHandler = func(_ *uprobes.KprobeUser, r *amd64.Regs, trapnr int) int {
			if n++; trapnr != amd64.VEC_PF || r.IP != k.User.Addr {
				t.Errorf("trap %d at %#x", trapnr, r.IP)
			}
			r.DI = p.syms["_end"].Value&^7 - 8 // zeroes
			return 1
		}
		t.Must(uprobes.RegisterKprobeUser(k))
		t.Must(uprobes.InsertKprobeUserspace(k))
	}, "faults")
	r.wait(t, "faults 0\n")
	if n != 10 {
		t.Errorf("%d faults", n)
	}
	t.Must(uprobes.UnregisterKprobeUser(k))
}

// byInodePreFaults: the fault-handler is asked when the pre-handler touches what is not
// there. If it deals with that, the probe stays as it is.
func byInodePreFaults(t *suites.T) {
	p := need(t, "/bin/probed")
	for _, deals := range []int{1, 0} {
		pre, faults := 0, 0
		var k *uprobes.KprobeUser
		r := p.start(t, func(in *proc.Process) {
			k = p.inodeProbe(t, in, "leaf")
			k.PreHandler = func(*uprobes.KprobeUser, *amd64.Regs) int {
				pre++
				var nowhere *uprobes.KprobeUser
				return int(nowhere.User.Offset)
			}
			k.FaultHandler = func(_ *uprobes.KprobeUser, _ *amd64.Regs, trapnr int) int {
				if faults++; trapnr != -1 {
					t.Errorf("trap %d", trapnr)
				}
				return deals
			}
			t.Must(uprobes.RegisterKprobeUser(k))
			t.Must(uprobes.InsertKprobeUserspace(k))
		}, "calls")
		r.wait(t, "calls 1505500\n")
		if want := 1 + 999*deals; pre != want || faults != want {
			t.Errorf("%d calls, %d faults, want %d", pre, faults, want)
		}
		t.Must(uprobes.UnregisterKprobeUser(k))
	}
}
