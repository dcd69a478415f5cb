package program

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"sonde/kernel/grace"
	"sonde/kernel/vfs"
	"sonde/probe/attach"
)

// places is a kind of probe that is always there, and never hit.
type places struct{}

func (places) Can(attach.Kind) attach.Ability { return 0 }
func (places) Attach(l *attach.Link, sites []attach.Site) (attach.Attachment, grace.Change, error) {
	return places{}, grace.Change{}, nil
}
func (places) Detach() grace.Change    { return grace.Change{} }
func (places) Enable(bool) error       { return nil }
func (places) Places() []attach.Placed { return nil }

// loaded returns a program with a map and a link.
func loaded(t *testing.T) (*Prog, *Map, *Link) {
	t.Helper()
	attach.Provide(attach.Tick, places{})
	p, made, err := Assemble("counting", counting)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := Load(p, made, nil)
	if err != nil {
		t.Fatal(err)
	}
	made[0].Close()
	l, err := prog.AttachTo(nil, "tick:9hz")
	if err != nil {
		t.Fatal(err)
	}
	return prog, made[0], l
}

// TestRarePrograms: what may take milliseconds is attached to intervals alone, whoever attaches it.
func TestRarePrograms(t *testing.T) {
	attach.Provide(attach.Tick, places{})
	attach.Provide(attach.Every, places{})
	for _, rare := range []bool{false, true} {
		p, made, err := Assemble("counting", counting)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := Load(p, made, &LoadOptions{Rare: rare})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := prog.AttachTo(nil, "tick:9hz"); errors.Is(err, syscall.EACCES) != rare {
			t.Errorf("rare %v: %v", rare, err)
		}
		if _, err := prog.AttachTo(nil, "every:1s"); err != nil {
			t.Errorf("rare %v: %v", rare, err)
		}
		prog.Close()
		made[0].Close()
	}
}

func there(p *Prog, m *Map, l *Link) [3]bool {
	return [3]bool{slices.Contains(Programs(), p), slices.Contains(Maps(), m), slices.Contains(Links(), l)}
}

// TestFilesKeepObjects: what a file stands for stays when its owner has closed it, and goes with the file.
func TestFilesKeepObjects(t *testing.T) {
	tree := vfs.New()
	if err := MountPins(tree); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][3]bool{{true, true, false}, {false, true, false}, {true, true, true}} {
		p, m, l := loaded(t)
		o := []Object{p, m, l}[i]
		if err := Pin(PinDir+"/x", o); err != nil {
			t.Fatal(err)
		}
		p.Close()
		if got := there(p, m, l); got != want {
			t.Errorf("%s is pinned: program, map and link are %v, want %v", o, got, want)
		}
		if text, err := tree.ReadFile("sys/fs/bpf/x"); err != nil || string(text) != o.String()+"\n" {
			t.Errorf("the file says %q, %v", text, err)
		}
		if err := tree.UnlinkAt(tree.RootPlace(), PinDir+"/x"); err != nil {
			t.Error(err)
		}
		if got := there(p, m, l); got != [3]bool{} {
			t.Errorf("%s: the file is removed, and there are %v", o, got)
		}
		if err := Pin(PinDir+"/x", o); !errors.Is(err, syscall.EBADF) {
			t.Errorf("%s is gone, and is pinned: %v", o, err)
		}
	}
	if err := tree.UnlinkAt(tree.RootPlace(), PinDir+"/x"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
	if memory.inUse() != 0 {
		t.Error("a map is left")
	}
}

func TestRefusedFiles(t *testing.T) {
	p, m, _ := loaded(t)
	defer p.Close()
	if err := Pin(PinDir+"/a", p); err != nil {
		t.Fatal(err)
	}
	defer pinned{}.Remove("a")
	for file, want := range map[string]syscall.Errno{
		PinDir + "/a": syscall.EEXIST, "/tmp/a": syscall.EINVAL, PinDir: syscall.EINVAL, PinDir + "/d/a": syscall.EINVAL, "a": syscall.EINVAL,
	} {
		if err := Pin(file, m); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", file, err, want)
		}
	}
	if got := Pins(p); !slices.Equal(got, []string{PinDir + "/a"}) || Pins(m) != nil {
		t.Errorf("%v, %v", got, Pins(m))
	}
	if _, err := Pinned(PinDir + "/b"); !errors.Is(err, syscall.ENOENT) {
		t.Error(err)
	}
}

// TestClosedLink: it is listed no more, and its program is still there.
func TestClosedLink(t *testing.T) {
	p, m, l := loaded(t)
	l.Close()
	l.Close()
	if got := there(p, m, l); got != [3]bool{true, true, false} || len(p.Links()) != 0 {
		t.Errorf("%v, %d links", got, len(p.Links()))
	}
	p.Close()
}

// TestHitsThatAreNotPassedOn are none of the program's.
func TestHitsThatAreNotPassedOn(t *testing.T) {
	p, m, _ := loaded(t)
	defer m.Close()
	defer p.Close()
	ran := 0
	l, err := p.Attach([]attach.Site{{Kind: attach.Tick, Hz: 7}}, &Options{Through: func(h *attach.Hit, _ attach.Handler) bool {
		ran++
		return h.Old == 1
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		l.Parts[0].(*attach.Link).Handler(&attach.Hit{Old: i})
	}
	if got := l.Ledger(); ran != 3 || got.Handled != ^uint64(1) || got.Entered != ^uint64(1) {
		t.Errorf("%d calls, %+v", ran, got) // the place itself, of this test, counts nothing
	}
}
