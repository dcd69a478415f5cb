package syscall

import (
	sys "syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/signal"
)

// setSize is the size of a signal set in bytes, which programs pass to many calls.
const setSize = 8

func rtSigaction(t *proc.Thread, a *Args) (uint64, error) {
	n := asInt(a[0])
	set, ok, err := getIf[abi.Sigaction](t, a[1])
	switch {
	case a[3] != setSize || !signal.Valid(n):
		return 0, sys.EINVAL
	case err != nil:
		return 0, err
	case ok && signal.Unblockable.Has(n):
		return 0, sys.EINVAL
	}
	var to *abi.Sigaction
	if ok {
		to = &set
	}
	return done(putIf(t, a[2], t.Process().Action(n, to)))
}

func rtSigprocmask(t *proc.Thread, a *Args) (uint64, error) {
	if a[3] != setSize {
		return 0, sys.EINVAL
	}
	set, ok, err := getIf[signal.Set](t, a[1])
	if err != nil {
		return 0, err
	}
	old := t.Blocked()
	if ok {
		switch asInt(a[0]) {
		case abi.SIG_BLOCK:
			set |= old
		case abi.SIG_UNBLOCK:
			set = old &^ set
		case abi.SIG_SETMASK:
		default:
			return 0, sys.EINVAL
		}
		t.SetBlocked(set)
	}
	return done(putIf(t, a[2], old))
}

// rtSigreturn sets all registers; its result is one of them.
func rtSigreturn(t *proc.Thread, _ *Args) (uint64, error) {
	t.SigReturn()
	return t.Regs().AX, nil
}

func rtSigpending(t *proc.Thread, a *Args) (uint64, error) {
	if a[1] > setSize {
		return 0, sys.EINVAL
	}
	set := t.Pending()
	return done(t.Memory().Out(a[0], abi.Bytes(&set)[:a[1]]))
}

func rtSigsuspend(t *proc.Thread, a *Args) (uint64, error) {
	if a[1] != setSize {
		return 0, sys.EINVAL
	}
	set, err := get[signal.Set](t, a[0])
	if err != nil {
		return 0, err
	}
	t.BlockUntilDelivered(set)
	<-t.Cancel()
	return 0, sys.EINTR
}

func pause(t *proc.Thread, _ *Args) (uint64, error) {
	<-t.Cancel()
	return 0, sys.EINTR
}

func rtSigtimedwait(t *proc.Thread, a *Args) (uint64, error) {
	if a[3] != setSize {
		return 0, sys.EINVAL
	}
	set, err := get[signal.Set](t, a[0])
	if err != nil {
		return 0, err
	}
	limit, ok, err := timeIf(t, a[2])
	if err != nil {
		return 0, err
	}
	var end time.Time
	if ok {
		end = time.Now().Add(limit.Duration())
	}
	info, err := t.WaitSignal(set&^signal.Unblockable, end)
	if err != nil {
		return 0, err
	}
	return uint64(info.Signo), putIf(t, a[1], info)
}

func sigaltstack(t *proc.Thread, a *Args) (uint64, error) {
	set, ok, err := getIf[abi.Stack](t, a[0])
	if err != nil {
		return 0, err
	}
	old := t.AltStack()
	if ok {
		if err := checkStack(&set, old); err != nil {
			return 0, err
		}
		t.SetAltStack(set)
	}
	return done(putIf(t, a[1], old))
}

// checkStack refuses an invalid alternate stack, and any change while the current one is in use.
func checkStack(s *abi.Stack, old abi.Stack) error {
	switch {
	case old.Flags&abi.SS_ONSTACK != 0:
		return sys.EPERM
	case s.Flags&^(abi.SS_DISABLE|abi.SS_ONSTACK|abi.SS_AUTODISARM) != 0:
		return sys.EINVAL
	case s.Flags&abi.SS_DISABLE != 0:
		*s = abi.Stack{}
	case s.Size < abi.MINSIGSTKSZ:
		return sys.ENOMEM
	}
	s.Flags &= abi.SS_AUTODISARM
	return nil
}

func kill(t *proc.Thread, a *Args) (uint64, error) {
	p := t.Process()
	table, pid, n := p.Table(), asInt(a[0]), asInt(a[1])
	if n != 0 && !signal.Valid(n) {
		return 0, sys.EINVAL
	}
	info := proc.SignalFrom(p, n, abi.SI_USER)
	switch {
	case pid == 0:
		g, _ := p.Group()
		return sent(table.SendGroup(g, info))
	case pid == -1:
		return sent(table.SendAll(p, info))
	case pid < 0:
		return sent(table.SendGroup(-pid, info))
	}
	to, err := table.Find(pid)
	if err != nil {
		return 0, err
	}
	return sent(to.Send(info))
}

// sent ends a call that sends a signal. A thread that it woke runs at once if no other CPU takes it:
// a sender in a loop would send thousands of signals before that takes the first.
func sent(err error) (uint64, error) {
	GiveWay()
	return done(err)
}

func tkill(t *proc.Thread, a *Args) (uint64, error) {
	return sendThread(t, 0, asInt(a[0]), asInt(a[1]))
}

func tgkill(t *proc.Thread, a *Args) (uint64, error) {
	if asInt(a[0]) <= 0 {
		return 0, sys.EINVAL
	}
	return sendThread(t, asInt(a[0]), asInt(a[1]), asInt(a[2]))
}

func sendThread(t *proc.Thread, pid, tid, n int) (uint64, error) {
	if tid <= 0 || n != 0 && !signal.Valid(n) {
		return 0, sys.EINVAL
	}
	p := t.Process()
	err := p.Table().SendThread(pid, tid, proc.SignalFrom(p, n, abi.SI_TKILL))
	if tid == t.TID {
		return done(err)
	}
	return sent(err)
}

// rtSigqueueinfo sends a signal with a siginfo from the program; only to itself may it send the
// kernel's codes.
func rtSigqueueinfo(t *proc.Thread, a *Args) (uint64, error) {
	info, err := get[abi.Siginfo](t, a[2])
	if err != nil {
		return 0, err
	}
	if !signal.Valid(asInt(a[1])) {
		return 0, sys.EINVAL
	}
	to, err := t.Process().Table().Find(asInt(a[0]))
	if err != nil {
		return 0, err
	}
	if to != t.Process() && (info.Code >= 0 || info.Code == abi.SI_TKILL) {
		return 0, sys.EPERM
	}
	info.Signo = int32(asInt(a[1]))
	return sent(to.Send(info))
}

// restartSyscall is the call by which a Linux program resumes a call that a stop has interrupted.
// Here the original call itself is restarted.
func restartSyscall(*proc.Thread, *Args) (uint64, error) { return 0, sys.EINTR }
