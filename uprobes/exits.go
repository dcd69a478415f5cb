package uprobes

import (
	"slices"
	"syscall"

	"sonde/arch/amd64/insn"
	"sonde/kernel/refusal"
	"sonde/linux/program"
	"sonde/probe/attach"
	"sonde/uprobes/images"
	"sonde/uprobes/place"
)

// A return probe sees the returns of a function in one of three ways:
//
//   - A Go function has a point on each return instruction. Its stack may move, so no stack slot
//     identifies the call. If calls have data or the like, there is a point at the beginning, too: see
//     gocalls.go.
//   - A function whose exits are all known (program.Exits) has a point at its beginning and one on
//     each exit. Nothing on the stack changes, so exceptions and backtraces are as without a probe.
//     The first point notes the call by its stack slot; a return instruction that takes its address
//     from that slot ends the call. A jump out of the function with that slot on top of the stack
//     is a tail call: from there on the call returns to the trampoline.
//   - Any other function gets the trampoline's address as its return address when it is called, if there
//     is a return address: see isCode.
//
// The first way costs one hit per call, the others two. A function that is known to have no exit, as _start, has
// a point at its beginning alone: its calls are entered, and abandoned when the thread ends.

// addReturn makes the members at the points that a return probe on a function needs. mu
// held.
func (tk *task) addReturn(o order, addr uint64) ([]*member, error) {
	im, bias := images.At(tk.text.mem.Space, addr)
	rets, isGo, err := im.GoReturns(addr, bias)
	if err != nil {
		return nil, err
	}
	if isGo && o.rp.more() {
		return tk.addGoCalls(o, addr, rets, im.Asm(addr-bias))
	}
	if isGo {
		return tk.place(o, addr, rets, returning{wants: wantsReturn, how: images.OnReturns(len(rets))})
	}
	e, why := im.ExitsAt(addr - bias)
	if why == nil {
		var ms []*member
		if ms, why = tk.addExits(o, addr, e, bias); why == nil {
			return ms, nil
		}
	}
	if err := tk.text.prepareReturns(addr); err != nil {
		return nil, err
	}
	return tk.place(o, addr, []uint64{addr}, o.calls(returning{wants: wantsEntry, how: images.OnExits(nil, why)}))
}

// addGoCalls is addReturn for calls of a Go function that have more than a return. mu held.
//
// Errors: those of place; EOPNOTSUPP.
func (tk *task) addGoCalls(o order, addr uint64, rets []uint64, asm bool) ([]*member, error) {
	if asm {
		return nil, errGoAsm
	}
	if tk.text.goroutines == nil {
		tk.text.goroutines = new(goroutines)
	}
	exits, err := tk.place(o, addr, rets, returning{wants: wantsExit | wantsGo})
	if err != nil {
		return nil, err
	}
	how := images.OnReturns(len(rets)) + images.OnBeginning
	return tk.addBeginning(o, addr, exits, returning{wants: wantsStay | wantsGo, how: how})
}

// addBeginning adds to the members on a function's exits the one where its calls begin; if it cannot, it removes them.
func (tk *task) addBeginning(o order, addr uint64, exits []*member, r returning) ([]*member, error) {
	entry, err := tk.place(o, addr, []uint64{addr}, o.calls(r))
	if err != nil {
		tk.discard(exits)
		return nil, err
	}
	return append(entry, exits...), nil
}

// calls adds to what a member at the function's beginning has to do what its calls have.
func (o order) calls(r returning) returning {
	r.words = o.rp.DataWords
	r.most, _ = o.rp.limit()
	if o.rp.more() {
		r.wants |= wantsMore
	}
	return r
}

// addExits is addReturn for a function whose exits are known. mu held.
//
// Errors: those of place; EOPNOTSUPP the code in memory is not the file's.
func (tk *task) addExits(o order, addr uint64, e *program.Exits, bias uint64) ([]*member, error) {
	var at []uint64
	for _, a := range slices.Concat(e.Returns, e.Jumps) {
		at = append(at, a+bias)
	}
	if len(e.Jumps) > 0 {
		if err := tk.text.prepareReturns(addr); err != nil {
			return nil, err
		}
	}
	exits, err := tk.place(o, addr, at, returning{wants: wantsExit, exits: e, bias: bias})
	if err != nil {
		return nil, err
	}
	for _, m := range exits {
		if in := &m.point.plan.In; m.point.plan.Way != place.Emulate || in.Flow != insn.Ret && !leaves(in.Flow) {
			tk.discard(exits)
			return nil, refusal.New(syscall.EOPNOTSUPP, "there is no exit at %#x", m.point.addr)
		}
	}
	return tk.addBeginning(o, addr, exits, returning{wants: wantsStay, exits: e, bias: bias, how: images.OnExits(e, nil)})
}

// leaves reports whether an instruction may be a jump to another function.
func leaves(f insn.Flow) bool {
	return f == insn.Jmp || f == insn.Jcc || f == insn.Loop || f == insn.JmpInd
}

// limit returns how many calls may be in progress at the same time; 0: no less than all programs together.
//
// Errors: ERANGE, ENOMEM: see RegisterUretprobe.
func (rp *Uretprobe) limit() (most int64, err error) {
	n, words := rp.MaxActive, rp.DataWords
	switch {
	case n < 0 || n > mostActive:
		return 0, refusal.New(syscall.ERANGE, "MaxActive is %d; give 0 to %d", n, mostActive)
	case words < 0 || words > attach.MostWords:
		return 0, refusal.New(syscall.ERANGE, "%d words of data for each call; give 0 to %d", words, attach.MostWords)
	case words == 0:
		return int64(n), nil
	case n == 0:
		return int64(mostData / 8 / words), nil
	case n*words*8 > mostData:
		return 0, refusal.New(syscall.ENOMEM, "data of %d words for %d calls need %d MiB, more than %d", words, n, n*words*8>>20, mostData>>20)
	}
	return int64(n), nil
}

// more reports whether calls have an entry handler, data or a limit.
func (rp *Uretprobe) more() bool {
	return rp.EntryHandler != nil || rp.DataWords != 0 || rp.MaxActive != 0
}

// What a return probe may ask for: calls at the same time, bytes of data for all of them.
const (
	mostActive = 1 << 20
	mostData   = 16 << 20
)

var errGoAsm = refusal.New(syscall.EOPNOTSUPP, "this function of a Go program is written in assembly, which may use the register that says whose call it is (R14): its calls can have no entry handler, data or limit")
