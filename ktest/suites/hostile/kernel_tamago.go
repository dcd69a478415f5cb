//go:build tamago

package hostile

import (
	"fmt"
	"syscall"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/probe/ledger"
)

// refusals are the errors that registering a probe may have.
var refusals = []syscall.Errno{syscall.EINVAL, syscall.ENOENT, syscall.EILSEQ, syscall.EEXIST, syscall.ENOMEM, syscall.ERANGE, syscall.E2BIG, syscall.EBUSY}

var waysIn = []*wayIn{
	{name: "kprobe", share: 200, try: (*scene).kprobe, errnos: refusals},
	{name: "kprobes", share: 60, try: (*scene).kprobeBatch, errnos: refusals},
	{name: "kretprobe", share: 80, try: (*scene).kretprobe, errnos: refusals},
	{name: "jprobe", share: 60, try: (*scene).jprobe, errnos: refusals},
	{name: "switch", share: 60, try: (*scene).toggle, errnos: []syscall.Errno{syscall.EINVAL}},
	{name: "kwatch", share: 160, try: (*scene).watch, errnos: []syscall.Errno{syscall.EINVAL, syscall.EFAULT, syscall.EBUSY, syscall.EILSEQ, syscall.ENOENT}},
	{name: "kwatch-user", share: 40, try: (*scene).watchUser, errnos: []syscall.Errno{syscall.EINVAL, syscall.EFAULT, syscall.EBUSY, syscall.ESRCH}},
	{name: "unwatch", share: 20, try: (*scene).unwatch, errnos: []syscall.Errno{syscall.EINVAL}},
	{name: "uprobe", share: 80, try: (*scene).uprobe},
	{name: "uretprobe", share: 40, try: (*scene).uretprobe},
	{name: "switch-user", share: 20, try: (*scene).toggleUser, errnos: []syscall.Errno{syscall.EINVAL}},
	{name: "kprobe-user", share: 40, try: (*scene).kprobeUser},
	{name: "control-file", share: 120, try: (*scene).controlFile},
	{name: "sysctl", share: 100, try: (*scene).sysctl, errnos: []syscall.Errno{syscall.EINVAL, syscall.ENOENT, syscall.EPERM}},
	{name: "insmod", share: 5, try: (*scene).insmod},
	{name: "command", share: 5, try: (*scene).command},
}

func pre(*kprobes.Kprobe, *amd64.Regs) int             { return 0 }
func post(*kprobes.Kprobe, *amd64.Regs, uint64)        {}
func fault(*kprobes.Kprobe, *amd64.Regs, int) int      { return 0 }
func ends(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }

// begins returns where the instructions of fn begin.
func begins(fn kallsyms.Symbol) (at []uintptr) {
	insn.Walk(kprobes.Original(uintptr(fn.Addr), uintptr(fn.Size)), func(off int, _ insn.Inst) bool {
		at = append(at, uintptr(fn.Addr)+uintptr(off))
		return true
	})
	return at
}

// fill makes k any probe.
func (s *scene) fill(k *kprobes.Kprobe) {
	how := s.IntN(32) // an unknown name is looked for among all: that takes long
	if how < 2 {
		k.SymbolName = s.name()
	}
	if how > 0 && how < 30 {
		k.Addr = s.addr()
	}
	switch s.IntN(8) {
	case 0:
		k.Offset = uintptr(s.number())
	case 1:
		k.Offset = uintptr(s.IntN(32))
	case 2:
		k.Flags = ledger.Flags(s.number())
	case 3:
		k.Flags = kprobes.FlagDisabled
	}
	if s.in(2) {
		k.PreHandler = pre
	}
	if s.in(4) {
		k.PostHandler = post
	}
	if s.in(8) {
		k.FaultHandler = fault
	}
}

func (s *scene) aKprobe() *kprobes.Kprobe {
	if s.in(50) {
		return nil
	}
	k := new(kprobes.Kprobe)
	s.fill(k)
	return k
}

func say(k *kprobes.Kprobe) string {
	if k == nil {
		return "nil"
	}
	return fmt.Sprintf("{%.60q+%#x %#x flags %#x pre %v post %v}", k.SymbolName, k.Offset, k.Addr, k.Flags, k.PreHandler != nil, k.PostHandler != nil)
}

func (s *scene) kprobe() attempt {
	k := s.aKprobe()
	a := attempt{what: "RegisterKprobe " + say(k)}
	a.err = kprobes.RegisterKprobe(k)
	if a.err == nil && !s.boundary(k.Addr) {
		s.t.Errorf("%s: accepted, where no instruction begins or none may be probed", a.what)
	}
	a.undo = func() { s.drop(k) }
	return a
}

// drop plays with a registered probe and unregisters it.
func (s *scene) drop(k *kprobes.Kprobe) {
	twin := *k
	if s.in(4) {
		s.t.Must(kprobes.DisableKprobe(k))
	}
	if s.in(4) {
		s.t.Must(kprobes.EnableKprobe(k))
	}
	if s.in(4) {
		kprobes.UnregisterKprobe(&twin)
	}
	kprobes.UnregisterKprobe(k)
	if s.in(4) {
		kprobes.UnregisterKprobe(&twin)
		kprobes.UnregisterKprobe(k)
	}
	if l := k.Ledger(); l.Unexplained() != 0 {
		s.t.Errorf("%s: %d hits unexplained: %+v", say(k), l.Unexplained(), l)
	}
}

// kprobeBatch is several at once, all of which are refused if one is.
func (s *scene) kprobeBatch() (a attempt) {
	var ks []*kprobes.Kprobe
	a.what = "RegisterKprobes"
	for range s.IntN(5) {
		k := s.aKprobe()
		if len(ks) > 0 && s.in(8) {
			k = ks[0]
		}
		ks = append(ks, k)
		a.what += " " + say(k)
	}
	a.err = kprobes.RegisterKprobes(ks)
	a.undo = func() { kprobes.UnregisterKprobes(ks) }
	if a.err != nil && s.in(2) {
		kprobes.UnregisterKprobes(ks) // none of them is registered
	}
	return a
}

func (s *scene) kretprobe() (a attempt) {
	rp := new(kprobes.Kretprobe)
	if s.fill(&rp.KP); s.in(2) { // more often than not it is an entry that is meant
		rp.KP.SymbolName, rp.KP.Offset, rp.KP.Addr = "", 0, uintptr(s.symbol().Addr)
	}
	rp.KP.PreHandler, rp.KP.PostHandler = nil, nil
	switch s.IntN(4) {
	case 0:
		if rp.MaxActive = int(s.number()); rp.MaxActive > 1<<12 && rp.MaxActive <= 1<<20 {
			rp.MaxActive = 1 << 12 // what is allowed takes long
		}
	case 1:
		rp.DataSize = uintptr(s.number())
	}
	if s.in(2) {
		rp.Handler = ends
	}
	if s.in(3) {
		rp.EntryHandler = ends
	}
	if s.in(50) {
		rp = nil
		a.what = "RegisterKretprobe nil"
	} else {
		a.what = fmt.Sprintf("RegisterKretprobe %s maxactive %d data %d", say(&rp.KP), rp.MaxActive, rp.DataSize)
	}
	a.err = kprobes.RegisterKretprobe(rp)
	a.undo = func() {
		kprobes.UnregisterKretprobe(rp)
		s.t.Until("calls in flight to return: "+a.what, func() bool { l := rp.Ledger(); return l.Unexplained() == 0 })
	}
	return a
}

// wide needs more stack for its arguments than a jprobe's handler may.
type wide [200]uint64

func (s *scene) jprobe() (a attempt) {
	j := &kprobes.Jprobe{Entry: pick[any](s.source, nil, 5, "text", func() { kprobes.JprobeReturn() }, func(int) int { kprobes.JprobeReturn(); return 0 },
		func(wide) { kprobes.JprobeReturn() }, (func())(nil), &a, struct{}{}, func(string, ...any) error { kprobes.JprobeReturn(); return nil })}
	if s.fill(&j.KP); s.in(2) {
		j.KP.SymbolName, j.KP.Offset, j.KP.Addr = "", 0, uintptr(s.symbol().Addr)
	}
	if s.in(50) {
		j = nil
		a.what = "RegisterJprobe nil"
	} else {
		a.what = fmt.Sprintf("RegisterJprobe %s entry %T", say(&j.KP), j.Entry)
	}
	a.err = kprobes.RegisterJprobe(j)
	a.undo = func() { kprobes.UnregisterJprobe(j) }
	return a
}

// toggle enables, disables and unregisters what is not registered.
func (s *scene) toggle() (a attempt) {
	k := s.aKprobe()
	var rp *kprobes.Kretprobe
	if !s.in(4) {
		rp = new(kprobes.Kretprobe)
		s.fill(&rp.KP)
	}
	switch s.IntN(5) {
	case 0:
		a = attempt{what: "EnableKprobe " + say(k), err: kprobes.EnableKprobe(k)}
	case 1:
		a = attempt{what: "DisableKprobe " + say(k), err: kprobes.DisableKprobe(k)}
	case 2:
		a = attempt{what: "DisableKretprobe", err: kprobes.DisableKretprobe(rp)}
	case 3:
		kprobes.UnregisterKprobe(k)
		return attempt{what: "UnregisterKprobe " + say(k)}
	default:
		kprobes.UnregisterKretprobe(rp)
		return attempt{what: "UnregisterKretprobe"}
	}
	if a.err == nil {
		s.t.Errorf("%s: accepted", a.what)
	}
	return a
}
