package strace

import (
	"fmt"

	"sonde/kernel/abi"
	"sonde/kernel/proc/signal"
)

var senders = map[int32]string{abi.SI_USER: "SI_USER", abi.SI_KERNEL: "SI_KERNEL", abi.SI_QUEUE: "SI_QUEUE", abi.SI_TIMER: "SI_TIMER", abi.SI_TKILL: "SI_TKILL"}

// reasons are the codes of signals that an instruction or a child caused.
var reasons = map[int32]map[int32]string{
	abi.SIGCHLD: {abi.CLD_EXITED: "CLD_EXITED", abi.CLD_KILLED: "CLD_KILLED", abi.CLD_DUMPED: "CLD_DUMPED", abi.CLD_TRAPPED: "CLD_TRAPPED",
		abi.CLD_STOPPED: "CLD_STOPPED", abi.CLD_CONTINUED: "CLD_CONTINUED"},
	abi.SIGSEGV: {abi.SEGV_MAPERR: "SEGV_MAPERR", abi.SEGV_ACCERR: "SEGV_ACCERR"},
	abi.SIGBUS:  {abi.BUS_ADRALN: "BUS_ADRALN", abi.BUS_ADRERR: "BUS_ADRERR"},
	abi.SIGFPE:  {abi.FPE_INTDIV: "FPE_INTDIV", abi.FPE_FLTINV: "FPE_FLTINV"},
	abi.SIGILL:  {abi.ILL_ILLOPN: "ILL_ILLOPN"},
	abi.SIGTRAP: {abi.TRAP_BRKPT: "TRAP_BRKPT", abi.TRAP_TRACE: "TRAP_TRACE"},
}

// siginfo shows why a signal was sent.
func siginfo(s abi.Siginfo) string {
	head := fmt.Sprintf("{si_signo=SIG%s, si_code=", signal.Name(int(s.Signo)))
	reason, caused := reasons[s.Signo][s.Code]
	pid, uid := s.Sender()
	switch {
	case caused && s.Signo == abi.SIGCHLD:
		user, system := s.Times()
		status := fmt.Sprint(s.Status())
		if s.Code != abi.CLD_EXITED {
			status = "SIG" + signal.Name(int(s.Status()))
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
	name, ok := senders[s.Code]
	if !ok {
		name = fmt.Sprint(s.Code)
	}
	return fmt.Sprintf("%s%s, si_pid=%d, si_uid=%d}", head, name, pid, uid)
}
