package syscall

import (
	"strconv"

	"sonde/kernel/vfs/pipe"
	"sonde/sysctl"
)

// What programs look for in /proc/sys before they make calls.
func init() {
	text := func(s string) func() string { return func() string { return s } }
	number := func(n int) func() string { return text(strconv.Itoa(n)) }
	sysctl.NewFact("kernel.ostype", text(sysName), "as uname -s")
	sysctl.NewFact("kernel.osrelease", text(Release), "as uname -r")
	sysctl.NewFact("kernel.version", func() string { return System.Version }, "as uname -v")
	sysctl.NewFact("kernel.hostname", text(nodeName), "as uname -n")
	sysctl.NewFact("kernel.domainname", text(domainName), "the domain of the machine")
	sysctl.NewFact("kernel.cap_last_cap", number(lastCapability), "the highest capability that programs have")
	sysctl.NewFact("fs.nr_open", number(mostFiles), "what RLIMIT_NOFILE can be")
	sysctl.NewFact("fs.pipe-max-size", number(pipe.Surely), "bytes that F_SETPIPE_SZ gives everyone; root gets more while there is room")
}
