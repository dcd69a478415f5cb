package abi

import "strconv"

var signalNames = [...]string{"",
	"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
	"PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
	"XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
}

// SignalName returns a signal's name as kill -l and strace have it, "SEGV" without SIG.
func SignalName(n int) string {
	switch {
	case n > 0 && n < len(signalNames):
		return signalNames[n]
	case n >= SIGRTMIN && n <= SIGMAX:
		return "RT_" + strconv.Itoa(n-SIGRTMIN)
	}
	return strconv.Itoa(n)
}

// SignalByName returns the signal that a name or a number says, with or without SIG.
func SignalByName(s string) (n int, ok bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, n >= 0 && n <= SIGMAX
	}
	if len(s) > 3 && s[:3] == "SIG" {
		s = s[3:]
	}
	for n := 1; n <= SIGMAX; n++ {
		if SignalName(n) == s {
			return n, true
		}
	}
	return 0, false
}
