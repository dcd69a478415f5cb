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
	sysctl.NewFact("kernel.ostype", text(sysName), "the name of the system, as uname -s prints it")
	sysctl.NewFact("kernel.osrelease", text(Release), "the release of the kernel, as uname -r prints it")
	sysctl.NewFact("kernel.version", func() string { return System.Version }, "the version of the kernel, as uname -v prints it")
	sysctl.NewFact("kernel.tainted", number(0), "always 0: nothing can taint this kernel")
	sysctl.NewFact("fs.pipe-user-pages-soft", number(pipe.Most/4096), "pages that all pipes may have together; beyond that, a new pipe gets one page")
	sysctl.NewFact("kernel.cap_last_cap", number(lastCapability), "the number of the highest capability")
	sysctl.NewFact("fs.nr_open", number(mostFiles), "the highest value that RLIMIT_NOFILE can have")
	sysctl.NewFact("fs.pipe-max-size", number(pipe.Surely), "bytes that F_SETPIPE_SZ always grants; it grants more while memory for pipes is left")
}
