package uprobes

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/uprobes/place"
)

// What the doc comments of KprobeUser, Uprobe and Uretprobe promise.

// placeAt returns the place of an address of p.
func placeAt(t *testing.T, p *proc.Process, addr uint64) *UserPlace {
	t.Helper()
	f, vma, err := PlaceOf(p, addr)
	must(t, err)
	return &UserPlace{Inode: inodeOf(vma.Ident), Offset: addr - vma.Start + vma.Offset, Addr: addr, Page: f, VMA: vma}
}

// removed takes k out again.
func removed(t *testing.T, k *KprobeUser) {
	t.Helper()
	must(t, RemoveKprobeUser(k))
	must(t, UnregisterKprobeUser(k))
}

// signals counts the signals of p, none of which is delivered.
func signals(p *proc.Process) *int {
	n := new(int)
	p.Attach(&proc.Engine{Signal: func(*proc.Thread, abi.Siginfo) bool { *n++; return true }})
	return n
}

// TestValueOfAPreHandler: 1 leaves the instruction out, any other value does not. A post-handler
// is called if it has been executed.
func TestValueOfAPreHandler(t *testing.T) {
	for _, c := range []struct{ value, wants, ip, posts int }{{0, 0, 1, 1}, {1, 40, 40, 0}, {1, 0, 0, 0}, {2, 0, 1, 1}, {-1, 0, 1, 1}} {
		posts := 0
		var k *KprobeUser
		play(t, func(p *proc.Process) {
			k = &KprobeUser{
				PreHandler: func(_ *KprobeUser, r *amd64.Regs) int {
					r.IP = textAt + uint64(c.wants)
					return c.value
				},
				PostHandler: func(*KprobeUser, *amd64.Regs, uint64) { posts++ },
				User:        placeAt(t, p, textAt),
			}
			inserted(t, k)
		}, func(p *player) {
			if ip := p.Breakpoint(textAt, stack); ip != textAt+uint64(c.ip) || posts != c.posts {
				t.Errorf("value %d: it goes on at %#x, %d post-handlers", c.value, ip, posts)
			}
			removed(t, k)
		})
	}
}

// TestPreHandlerThatPanics: the fault handler is told, with -1. If it returns 1, the probe goes on
// as before; else it is disabled.
func TestPreHandlerThatPanics(t *testing.T) {
	for _, c := range []struct {
		value int
		told  string
	}{{1, "[-1 -1]"}, {0, "[-1]"}, {2, "[-1]"}} {
		var told []int
		var k *KprobeUser
		play(t, func(p *proc.Process) {
			k = &KprobeUser{
				PreHandler:   func(*KprobeUser, *amd64.Regs) int { panic("of a test") },
				FaultHandler: func(_ *KprobeUser, _ *amd64.Regs, trapnr int) int { told = append(told, trapnr); return c.value },
				User:         placeAt(t, p, textAt),
			}
			inserted(t, k)
		}, func(p *player) {
			p.Breakpoint(textAt, stack)
			p.Breakpoint(textAt, stack)
			removed(t, k)
		})
		if s := fmt.Sprint(told); s != c.told {
			t.Errorf("value %d: told %s, want %s", c.value, s, c.told)
		}
	}
}

// TestTwoFaultHandlers: an exception of the instruction is told to one after the other, until one
// returns 1. Then the program gets no signal.
func TestTwoFaultHandlers(t *testing.T) {
	for _, c := range []struct {
		values  [2]int
		told    string
		signals int
	}{{[2]int{0, 0}, "[0 1]", 1}, {[2]int{1, 0}, "[0]", 0}, {[2]int{0, 1}, "[0 1]", 0}, {[2]int{2, -1}, "[0 1]", 1}} {
		var told []int
		var ks [2]*KprobeUser
		var n *int
		play(t, func(p *proc.Process) {
			write(t, p, at, 0x48, 0x89, 0x07) // MOVQ AX, (DI)
			for i := range ks {
				ks[i] = &KprobeUser{
					PreHandler: func(*KprobeUser, *amd64.Regs) int { return 0 },
					FaultHandler: func(_ *KprobeUser, _ *amd64.Regs, trapnr int) int {
						if told = append(told, i); trapnr != protect {
							t.Errorf("exception %d", trapnr)
						}
						return c.values[i]
					},
					User: placeAt(t, p, at),
				}
				inserted(t, ks[i])
				// One more page in front: the address is another offset of the mapping now.
				_, err := p.Memory().Map(textAt-uint64(i+1)*space.PageSize, space.PageSize, space.Read|space.Write|space.Exec, space.Fixed, nil, 0)
				must(t, err)
			}
			n = signals(p)
		}, func(p *player) {
			slot := p.Breakpoint(at, stack)
			p.FaultAt(protect, slot, stack)
			if s := fmt.Sprint(told); s != c.told || *n != c.signals {
				t.Errorf("values %v: told %s, %d signals, want %s and %d", c.values, s, *n, c.told, c.signals)
			}
			for _, k := range ks {
				removed(t, k)
			}
		})
	}
}

// TestUserProbeRefuses: what the doc comments name.
func TestUserProbeRefuses(t *testing.T) {
	refused := func(what string, err error, errno syscall.Errno) {
		t.Helper()
		if !errors.Is(err, errno) {
			t.Errorf("%s: %v, want %v", what, err, errno)
		}
	}
	pre := func(*KprobeUser, *amd64.Regs) int { return 0 }
	play(t, func(p *proc.Process) {
		k := &KprobeUser{PreHandler: pre, User: placeAt(t, p, textAt+8)}
		refused("inserting what is not registered", InsertKprobeUserspace(k), syscall.EINVAL)
		must(t, RegisterKprobeUser(k))
		refused("the pair again", RegisterKprobeUser(&KprobeUser{PreHandler: pre, User: placeAt(t, p, textAt+8)}), syscall.EEXIST)
		refused("removing what is not inserted", RemoveKprobeUser(k), syscall.EINVAL)
		must(t, InsertKprobeUserspace(k))
		refused("unregistering what is inserted", UnregisterKprobeUser(k), syscall.EBUSY)
		k.User.Page = p.Memory().Resident(textAt) // it is a copy now
		refused("inserting it again", InsertKprobeUserspace(k), syscall.EEXIST)
		removed(t, k)
		if armedAt(p, textAt+8) {
			t.Error("a breakpoint is left")
		}
		for _, c := range []struct {
			what   string
			change func(u *UserPlace)
			errno  syscall.Errno
		}{
			{"an offset that is not there", func(u *UserPlace) { u.Offset++ }, syscall.EINVAL},
			{"an offset further down", func(u *UserPlace) { u.Offset-- }, syscall.EINVAL},
			{"the byte behind the mapping", func(u *UserPlace) { u.Addr, u.Offset = u.VMA.End, u.VMA.End-u.VMA.Start+u.VMA.Offset }, syscall.EINVAL},
			{"no page", func(u *UserPlace) { u.Page = 0 }, syscall.EFAULT},
			{"another inode", func(u *UserPlace) { u.Inode.Number++ }, syscall.EINVAL},
			{"no process", func(u *UserPlace) { u.VMA.Process = nil }, syscall.EINVAL},
		} {
			k := &KprobeUser{PreHandler: pre, User: placeAt(t, p, textAt+8)}
			c.change(k.User)
			must(t, RegisterKprobeUser(k))
			refused(c.what, InsertKprobeUserspace(k), c.errno)
			must(t, UnregisterKprobeUser(k))
		}
	}, func(p *player) {})
}

// TestStoreToWhatMayOnlyBeRead: an emulated PUSHF causes the fault that the instruction would.
func TestStoreToWhatMayOnlyBeRead(t *testing.T) {
	Force(place.Emulate)
	defer Force(place.Refused)
	u := &Uprobe{Vaddr: at, Handler: func(*Uprobe, *amd64.Regs) {}}
	var codes []int32
	play(t, func(p *proc.Process) {
		u.Pid = p.PID
		write(t, p, at, 0x9C) // PUSHFQ
		_, err := p.Memory().Map(0x800000, space.PageSize, space.Read, space.Fixed, nil, 0)
		must(t, err)
		must(t, register(u))
		p.Attach(&proc.Engine{Signal: func(_ *proc.Thread, i abi.Siginfo) bool { codes = append(codes, i.Code); return true }})
	}, func(p *player) {
		if ip := p.Breakpoint(at, 0x800800); ip != at || p.Regs().SP != 0x800800 || !slices.Equal(codes, []int32{abi.SEGV_ACCERR}) {
			t.Errorf("it goes on at %#x with SP %#x, signals of codes %d", ip, p.Regs().SP, codes)
		}
		p.Regs().SP = stack
	})
}

// TestBreakpointsOfTheProgram are its own: at a place that had a probe, and where there was none.
func TestBreakpointsOfTheProgram(t *testing.T) {
	for _, c := range []struct {
		what string
		code byte
		addr uint64
	}{
		{"an INT3 where a probe was", 0xCC, textAt},
		{"an INT3 where none was", 0xCC, textAt + 30},
		{"the end of INT $3", 0x03, textAt + 30}, // the CPU tells the byte before IP
	} {
		u := &Uprobe{Vaddr: textAt, Handler: func(*Uprobe, *amd64.Regs) { t.Errorf("%s: hit", c.what) }}
		other := &Uprobe{Vaddr: textAt + 8, Handler: u.Handler}
		s := played(t, func(p *proc.Process) {
			u.Pid, other.Pid = p.PID, p.PID
			must(t, register(u))
			must(t, register(other)) // so that there is somebody to ask
			must(t, UnregisterUprobe(u))
			write(t, p, c.addr, c.code)
		}, func(p *player) { p.Breakpoint(c.addr, stack) })
		if s.Signal() != int(syscall.SIGTRAP) {
			t.Errorf("%s: status %#x", c.what, s)
		}
	}
}

// severalPlaces registers u at two places, as a return probe on a function with two returns is.
func severalPlaces(t *testing.T, u *Uprobe, p *proc.Process, addrs ...uint64) {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	tk, err := join(p)
	must(t, err)
	var all []*member
	for _, addr := range addrs {
		ms, err := tk.add(order{u: u}, addr)
		must(t, err)
		ms[0].vaddr = addrs[0]
		all = append(all, ms...)
	}
	all[0].others = all[1:]
	u.Pid, u.Vaddr = p.PID, addrs[0]
	u.state.Store(all[0])
	tk.list(all)
}

// TestAllPlacesOfAProbe are disabled, enabled and unregistered together.
func TestAllPlacesOfAProbe(t *testing.T) {
	d := new(diary)
	u := &Uprobe{Handler: d.probe("hit")}
	addrs := []uint64{textAt, textAt + 4, textAt + 8}
	var pr *proc.Process
	play(t, func(p *proc.Process) {
		pr = p
		severalPlaces(t, u, p, addrs...)
	}, func(p *player) {
		armed := func(what string, want bool) {
			t.Helper()
			for _, addr := range addrs {
				if armedAt(pr, addr) != want {
					t.Errorf("%s: armed at %#x is not %v", what, addr, want)
				}
				execute(p, addr)
			}
		}
		armed("registered", true)
		must(t, DisableUprobe(u))
		armed("disabled", false)
		must(t, EnableUprobe(u))
		armed("enabled", true)
		must(t, UnregisterUprobe(u))
		armed("unregistered", false)
	})
	d.wants(t, "hit", "hit", "hit", "hit", "hit", "hit")
}
