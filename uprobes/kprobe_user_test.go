package uprobes

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/linux/proc"
	"sonde/linux/space"
)

// userProbe is a KprobeUser on the first instruction of p.
func userProbe(t *testing.T, p *proc.Process, pre func(k *KprobeUser)) *KprobeUser {
	t.Helper()
	f, vma, err := PlaceOf(p, textAt)
	must(t, err)
	return &KprobeUser{
		PreHandler: func(k *KprobeUser, _ *amd64.Regs) int { pre(k); return 0 },
		User:       &UserPlace{Inode: inodeOf(vma.Ident), Offset: vma.Offset, Addr: textAt, Page: f, VMA: vma},
	}
}

func inserted(t *testing.T, k *KprobeUser) {
	t.Helper()
	must(t, RegisterKprobeUser(k))
	must(t, InsertKprobeUserspace(k))
}

// TestUserProbeOfAWrongPage: the place is refused, and nothing is there.
func TestUserProbeOfAWrongPage(t *testing.T) {
	wrong := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v", what, err)
		}
	}
	play(t, func(p *proc.Process) {
		k := userProbe(t, p, func(*KprobeUser) {})
		must(t, RegisterKprobeUser(k))
		good := k.User.Page
		k.User.Page++
		wrong("inserting", InsertKprobeUserspace(k))
		k.User.Page = good
		must(t, InsertKprobeUserspace(k))
		k.User.Page++
		wrong("removing", RemoveKprobeUser(k))
		k.User.Page = p.Memory().Resident(textAt) // it may be a copy now
		must(t, RemoveKprobeUser(k))
		must(t, UnregisterKprobeUser(k))
	}, func(p *player) {})
}

// TestUserProbeThatRemovesItself does not wait for its own end.
func TestUserProbeThatRemovesItself(t *testing.T) {
	hits := 0
	play(t, func(p *proc.Process) {
		inserted(t, userProbe(t, p, func(k *KprobeUser) {
			hits++
			if err := RemoveKprobeUser(k); err != nil {
				t.Error(err)
			}
			if err := UnregisterKprobeUser(k); err != nil {
				t.Error(err)
			}
		}))
	}, func(p *player) {
		execute(p, textAt)
		execute(p, textAt)
	})
	if hits != 1 || len(byPair) != 0 {
		t.Errorf("%d hits, %d are registered", hits, len(byPair))
	}
}

// TestUserProbeIsRemovedBehindItsHandlers: what is no handler waits for those that run.
func TestUserProbeIsRemovedBehindItsHandlers(t *testing.T) {
	in, out, done := make(chan bool), make(chan bool), make(chan bool)
	play(t, func(p *proc.Process) {
		k := userProbe(t, p, func(*KprobeUser) { close(in); <-out })
		inserted(t, k)
		go func() {
			defer close(done)
			<-in
			removed := make(chan error, 1)
			go func() { removed <- RemoveKprobeUser(k) }()
			for len(All()) > 0 {
				time.Sleep(time.Millisecond)
			}
			select {
			case err := <-removed:
				t.Errorf("it does not wait: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			close(out)
			for _, err := range []error{<-removed, UnregisterKprobeUser(k)} {
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}, func(p *player) { execute(p, textAt) })
	<-done
}

// TestUserProbeOfAPageThatIsGone can be removed, and unregistered then.
func TestUserProbeOfAPageThatIsGone(t *testing.T) {
	const munmap = 11
	var k *KprobeUser
	play(t, func(p *proc.Process) {
		k = userProbe(t, p, func(*KprobeUser) {})
		inserted(t, k)
	}, func(p *player) {
		p.Call(munmap, textAt, space.PageSize)
		if err := UnregisterKprobeUser(k); !errors.Is(err, syscall.EBUSY) {
			t.Errorf("it is inserted: %v", err)
		}
		for _, err := range []error{RemoveKprobeUser(k), UnregisterKprobeUser(k)} {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// forgotten is what the module registers and inserts, and leaves.
var forgotten *KprobeUser

func init() {
	module.Register(&module.Module{Name: "forgets", Init: func() error {
		if err := RegisterKprobeUser(forgotten); err != nil {
			return err
		}
		return InsertKprobeUserspace(forgotten)
	}, Exit: func() {}})
}

// TestModuleForgetsUserProbe: what it has registered by inode and offset, and where it has
// inserted that, goes with it.
func TestModuleForgetsUserProbe(t *testing.T) {
	play(t, func(p *proc.Process) {
		k := userProbe(t, p, func(*KprobeUser) { t.Error("it is hit") })
		forgotten = k
		must(t, module.Insmod("forgets"))
		must(t, module.Rmmod("forgets"))
		if len(byPair)+len(All()) != 0 {
			t.Errorf("%d are registered, %d inserted", len(byPair), len(All()))
		}
		must(t, RegisterKprobeUser(k))
		must(t, UnregisterKprobeUser(k))
	}, func(p *player) { execute(p, textAt) })
}

// TestUserProbeOfACopiedPage: the program shares its page with a child, so the breakpoint is in a copy. The probe is
// removed by the page that it was inserted into, and by the one that is there now, and by no other.
func TestUserProbeOfACopiedPage(t *testing.T) {
	for _, now := range []bool{false, true} {
		var pr *proc.Process
		play(t, func(p *proc.Process) { pr = p }, func(p *player) {
			inserted, removed := make(chan bool), make(chan bool)
			p.Fork(func(c *player) {
				c.Call(nGetpid)
				close(inserted)
				<-removed
			}, fork)
			<-inserted
			k := userProbe(t, pr, func(*KprobeUser) {})
			must(t, RegisterKprobeUser(k))
			must(t, InsertKprobeUserspace(k))
			was, is := k.User.Page, pr.Memory().Resident(textAt)
			if was == is {
				t.Errorf("the page has not been copied")
			}
			k.User.Page = max(was, is) + space.PageSize
			if err := RemoveKprobeUser(k); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("by another page: %v", err)
			}
			if k.User.Page = was; now {
				k.User.Page = is
			}
			if err := RemoveKprobeUser(k); err != nil {
				t.Errorf("by the page that is there now: %v: %v", now, err)
				k.User.Page = max(was, is) - k.User.Page + min(was, is)
				must(t, RemoveKprobeUser(k))
			}
			must(t, UnregisterKprobeUser(k))
			close(removed)
			for p.Call(wait4, ^uint64(0), 0, 0, 0) < 0 {
			}
		})
	}
}

// planting is what the module registers.
var planting Uprobe

func init() {
	module.Register(&module.Module{Name: "plants", Init: func() error { return RegisterUprobe(&planting) }, Exit: func() {}})
}

// TestModuleForgetsWhatItsHandlersRegister: probes, return probes and those by inode and offset that a module's handler
// has registered, and what a callback of that has, are the module's, and go with it.
func TestModuleForgetsWhatItsHandlersRegister(t *testing.T) {
	play(t, func(p *proc.Process) {
		hit := func(u *Uprobe, _ *amd64.Regs) { t.Errorf("%#x is hit", u.Vaddr) }
		byInode := userProbe(t, p, func(*KprobeUser) { t.Error("it is hit") })
		later := &Uprobe{Pid: p.PID, Vaddr: textAt + 8, Handler: hit}
		first := &Uprobe{Pid: p.PID, Vaddr: textAt + 9, Handler: hit, RegistrationCallback: func(*Uprobe, int, Type, error) { RegisterUprobe(later) }}
		returns := &Uretprobe{Handler: func(*UretprobeInstance, *amd64.Regs) { t.Error("it returns") }}
		returns.U.Pid, returns.U.Vaddr = p.PID, textAt+10
		planting = Uprobe{Pid: p.PID, Vaddr: textAt + 4, Handler: func(*Uprobe, *amd64.Regs) {
			RegisterUprobe(first)
			RegisterUretprobe(returns)
			must(t, RegisterKprobeUser(byInode))
			must(t, InsertKprobeUserspace(byInode))
		}}
		must(t, module.Insmod("plants"))
	}, func(p *player) {
		execute(p, textAt+4)
		if n := len(All()); n != 5 {
			t.Errorf("%d are registered before", n)
		}
		must(t, module.Rmmod("plants"))
		if len(byPair)+len(All()) != 0 {
			t.Errorf("%d are registered by inode, %d inserted", len(byPair), len(All()))
		}
		for at := uint64(textAt); at < textAt+12; at++ {
			probedAt(t, p, "behind the module", at, false)
		}
	})
}
