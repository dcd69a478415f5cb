package kwatch

import (
	"errors"
	"syscall"
	"testing"

	"sonde/arch/amd64/debugreg"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// TestEnable: a disabled watchpoint keeps its register, and no CPU watches for it; enabled again, it
// compares with the value of that moment.
func TestEnable(t *testing.T) {
	log := onFake(t)
	loaded := func() debugreg.Set { return (*log)[len(*log)-1] }
	n, err := RegisterKwatch(0x1000, 8, Write, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if err := EnableKwatch(n, false); err != nil || loaded()[n].On || !All()[0].Disabled {
		t.Errorf("%v, %+v, %+v", err, loaded()[n], All())
	}
	if _, err := RegisterKwatch(0x2000, 8, Write, nothing); err != nil || loaded()[n].On {
		t.Errorf("%v; another registration enables it: %+v", err, loaded()[n])
	}
	if err := EnableKwatch(n, true); err != nil || !loaded()[n].On || All()[0].Disabled {
		t.Errorf("%v, %+v", err, loaded()[n])
	}
	points[n].Load().gone.Store(true)
	if err := EnableKwatch(n, true); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("one whose handler was abandoned: %v", err)
	}
	for _, n := range []int{-1, 3, 4} {
		if err := EnableKwatch(n, false); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("register %d, which is free: %v", n, err)
		}
	}
}

// TestLinkTakesAllOrNone: of five watchpoints there are registers for four.
func TestLinkTakesAllOrNone(t *testing.T) {
	log := onFake(t)
	l := &attach.Link{Handler: func(*attach.Hit) {}, Options: attach.Options{Owner: "mod"}}
	var sites []attach.Site
	for i := range 5 {
		sites = append(sites, attach.Site{Kind: attach.Watch, Addr: uint64(0x1000 + 8*i), Length: 8})
	}
	if _, _, err := (Provider{}).Attach(l, sites); !errors.Is(err, syscall.EBUSY) || len(All()) != 0 {
		t.Fatalf("%v, %+v", err, All())
	}
	loads := len(*log)
	a, c, err := (Provider{}).Attach(l, sites[:4])
	c.Complete()
	if err != nil || len(All()) != 4 || len(*log) != loads+1 || All()[3].Owner != "mod" {
		t.Fatalf("%v, %d loads, %+v", err, len(*log)-loads, All())
	}
	if err := a.Enable(false); err != nil || (*log)[len(*log)-1][2].On || !a.Places()[2].Disabled {
		t.Errorf("%v, %+v", err, (*log)[len(*log)-1][2])
	}
	forget("mod") // package attach does that for links
	if a.Detach().Complete(); len(All()) != 0 || len(*log) != loads+3 {
		t.Errorf("%d loads, %+v", len(*log)-loads, All())
	}
}

// TestLeavesOnce: a link's watchpoint is unregistered by its number, and another has its register when the link is closed.
// That one used to be lost.
func TestLeavesOnce(t *testing.T) {
	onFake(t)
	before := Ended()
	l := &attach.Link{Handler: func(*attach.Hit) {}}
	a, c, err := (Provider{}).Attach(l, []attach.Site{{Kind: attach.Watch, Addr: 0x1000, Length: 8}})
	if c.Complete(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []ledger.Event{ledger.Entered, ledger.Handled} {
		points[0].Load().accounts.Count(0, e)
	}
	if err := UnregisterKwatch(0); err != nil {
		t.Fatal(err)
	}
	if n, err := RegisterKwatch(0x2000, 8, Write, nothing); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	a.Detach().Complete()
	if all := All(); len(all) != 1 || all[0].Addr != 0x2000 || Ended().Entered != before.Entered+1 {
		t.Errorf("%+v; ended are %+v, before %+v", all, Ended(), before)
	}
}

// TestLinkRefusals: what a watchpoint cannot be, as people type it.
func TestLinkRefusals(t *testing.T) {
	onFake(t)
	for place, errno := range map[string]syscall.Errno{
		"w@0x1001:8": syscall.EINVAL, "7:w@0x1000:8": syscall.ENOSYS, "7:w@/bin/sh:counter": syscall.ENOSYS, "w@/bin/sh:counter": syscall.ENOSYS, "7:w@printk.consoleLevel:4": syscall.ENOENT, "w@no.such": syscall.ENOENT,
	} {
		s, err := attach.ParseSite(place)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := (Provider{}).Attach(&attach.Link{}, []attach.Site{s}); !errors.Is(err, errno) || len(All()) != 0 {
			t.Errorf("%s: %v, want %v", place, err, errno)
		}
	}
	s := attach.Site{Kind: attach.Watch, Addr: 0x1000, Length: 8}
	if _, _, err := (Provider{}).Attach(&attach.Link{Options: attach.Options{Block: true}}, []attach.Site{s}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a handler in the kernel that may block: %v", err)
	}
}
