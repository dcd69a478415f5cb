package syscall

import (
	"strconv"

	"sonde/kernel/vfs/pipe"
	"sonde/sysctl"
)

// Files in /proc/sys that programs read before they make calls.
func init() {
	text := func(s string) func() string { return func() string { return s } }
	number := func(n int) func() string { return text(strconv.Itoa(n)) }
	sysctl.NewFact("kernel.ostype", text(sysName), "as uname -s")
	sysctl.NewFact("kernel.osrelease", text(Release), "as uname -r")
	sysctl.NewFact("kernel.version", func() string { return System.Version }, "as uname -v")
	sysctl.NewFact("kernel.tainted", number(0), "nothing that taints Linux is here")
	sysctl.NewFact("fs.pipe-user-pages-soft", number(pipe.Most/4096), "pages that all pipes together have; beyond that each has one")
	sysctl.NewFact("kernel.cap_last_cap", number(lastCapability), "the highest capability that programs have")
	sysctl.NewFact("fs.nr_open", number(mostFiles), "what RLIMIT_NOFILE can be")
	sysctl.NewFact("fs.pipe-max-size", number(pipe.Surely), "bytes that F_SETPIPE_SZ gives everyone; root gets more while there is room")
}
