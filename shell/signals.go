package shell

import "sonde/kernel/abi"

// endings are what people call the end by a signal.
var endings = [...]string{
	abi.SIGHUP: "Hangup", abi.SIGINT: "Interrupt", abi.SIGQUIT: "Quit", abi.SIGILL: "Illegal instruction",
	abi.SIGTRAP: "Trace/breakpoint trap", abi.SIGABRT: "Aborted", abi.SIGBUS: "Bus error",
	abi.SIGFPE: "Floating point exception", abi.SIGKILL: "Killed", abi.SIGUSR1: "User defined signal 1",
	abi.SIGSEGV: "Segmentation fault", abi.SIGUSR2: "User defined signal 2", abi.SIGPIPE: "Broken pipe",
	abi.SIGALRM: "Alarm clock", abi.SIGTERM: "Terminated",
}

func ending(n int) string {
	if n > 0 && n < len(endings) && endings[n] != "" {
		return endings[n]
	}
	return "SIG" + abi.SignalName(n)
}
