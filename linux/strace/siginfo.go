package strace

import (
	"fmt"

	"sonde/kernel/abi"
)

// reasons are the codes of signals that an instruction or a child caused.
var reasons = []struct {
	signal, code int32
	name         string
}{
	{abi.SIGCHLD, abi.CLD_EXITED, "CLD_EXITED"}, {abi.SIGCHLD, abi.CLD_KILLED, "CLD_KILLED"}, {abi.SIGCHLD, abi.CLD_DUMPED, "CLD_DUMPED"},
	{abi.SIGCHLD, abi.CLD_TRAPPED, "CLD_TRAPPED"}, {abi.SIGCHLD, abi.CLD_STOPPED, "CLD_STOPPED"}, {abi.SIGCHLD, abi.CLD_CONTINUED, "CLD_CONTINUED"},
	{abi.SIGSEGV, abi.SEGV_MAPERR, "SEGV_MAPERR"}, {abi.SIGSEGV, abi.SEGV_ACCERR, "SEGV_ACCERR"},
	{abi.SIGBUS, abi.BUS_ADRALN, "BUS_ADRALN"}, {abi.SIGBUS, abi.BUS_ADRERR, "BUS_ADRERR"},
	{abi.SIGFPE, abi.FPE_INTDIV, "FPE_INTDIV"}, {abi.SIGFPE, abi.FPE_FLTINV, "FPE_FLTINV"},
	{abi.SIGILL, abi.ILL_ILLOPN, "ILL_ILLOPN"},
	{abi.SIGTRAP, abi.TRAP_BRKPT, "TRAP_BRKPT"}, {abi.SIGTRAP, abi.TRAP_TRACE, "TRAP_TRACE"},
}

func reasonOf(s abi.Siginfo) (name string, ok bool) {
	for _, r := range reasons {
		if r.signal == s.Signo && r.code == s.Code {
			return r.name, true
		}
	}
	return "", false
}

// senderOf is the code of a signal that somebody sent.
func senderOf(code int32) string {
	switch code {
	case abi.SI_USER:
		return "SI_USER"
	case abi.SI_QUEUE:
		return "SI_QUEUE"
	case abi.SI_TIMER:
		return "SI_TIMER"
	case abi.SI_TKILL:
		return "SI_TKILL"
	}
	return fmt.Sprint(code)
}

// siginfo shows why a signal was sent.
func siginfo(s abi.Siginfo) string {
	head := fmt.Sprintf("{si_signo=SIG%s, si_code=", abi.SignalName(int(s.Signo)))
	reason, caused := reasonOf(s)
	pid, uid := s.Sender()
	switch {
	case caused && s.Signo == abi.SIGCHLD:
		user, system := s.Times()
		status := fmt.Sprint(s.Status())
		if s.Code != abi.CLD_EXITED {
			status = "SIG" + abi.SignalName(int(s.Status()))
		}
		return fmt.Sprintf("%s%s, si_pid=%d, si_uid=%d, si_status=%s, si_utime=%d, si_stime=%d}", head, reason, pid, uid, status, user, system)
	case caused:
		addr := "NULL"
		if a := s.Addr(); a != 0 {
			addr = fmt.Sprintf("%#x", a)
		}
		return fmt.Sprintf("%s%s, si_addr=%s}", head, reason, addr)
	case s.Code == abi.SI_KERNEL:
		return head + "SI_KERNEL}"
	}
	return fmt.Sprintf("%s%s, si_pid=%d, si_uid=%d}", head, senderOf(s.Code), pid, uid)
}
