package syscall

import (
	"fmt"
	"strconv"
	"sync"

	"sonde/kernel/vfs"
	"sonde/kernel/vfs/device"
	"sonde/kernel/vfs/pipe"
	"sonde/sysctl"
)

// Files in /proc/sys that programs read before they make calls.
func init() {
	text := func(s string) func() string { return func() string { return s } }
	number := func(n int) func() string { return text(strconv.Itoa(n)) }
	sysctl.NewFact("kernel.randomize_va_space", text("0"), "0: the addresses of programs are always the same ones")
	sysctl.NewFact("kernel.ostype", text(sysName), "the name of the system, as uname -s prints it")
	sysctl.NewFact("kernel.osrelease", text(Release), "the release of the kernel, as uname -r prints it")
	sysctl.NewFact("kernel.version", func() string { return System.Version }, "the version of the kernel, as uname -v prints it")
	sysctl.NewFact("kernel.tainted", number(0), "always 0: nothing can taint this kernel")
	sysctl.NewFact("fs.pipe-user-pages-soft", number(pipe.Most/4096), "pages that all pipes may have together; beyond that, a new pipe gets one page")
	sysctl.NewFact("kernel.cap_last_cap", number(lastCapability), "the number of the highest capability")
	sysctl.NewFact("fs.nr_open", number(mostFiles), "the highest value that RLIMIT_NOFILE can have")
	sysctl.NewFact("fs.file-max", func() string { return strconv.Itoa(MostOpen) }, "files that may be open in all")
	sysctl.NewFact("fs.file-nr", func() string { return fmt.Sprintf("%d\t0\t%d", vfs.Opened(), MostOpen) }, "files that are open, 0, and fs.file-max")
	sysctl.NewFact("kernel.perf_event_paranoid", number(2), "2: only root may watch the kernel; every process runs as root")
	sysctl.NewFact("kernel.kptr_restrict", number(0), "0: root sees addresses of the kernel")
	sysctl.NewFact("kernel.unprivileged_bpf_disabled", number(2), "2: only root may load eBPF programs")
	sysctl.NewFact("kernel.random.entropy_avail", number(device.Entropy), "random bits that seed /dev/random; there are never fewer")
	sysctl.NewFact("kernel.random.poolsize", number(device.Entropy), "bits that entropy_avail can have at most")
	sysctl.NewFact("kernel.random.uuid", randomUUID, "a random UUID, another one each time")
	boot := sync.OnceValue(randomUUID)
	sysctl.NewFact("kernel.random.boot_id", boot, "a random UUID, another one after each boot")
	sysctl.NewRange("fs.pipe-max-size", pipe.Surely, pipe.Atomic, 1<<31-1, "bytes that F_SETPIPE_SZ grants to users; root, as whom every process runs, gets more while memory for pipes is left")
}

// randomUUID makes a UUID of version 4.
//
// Source: RFC 4122, section 4.4.
func randomUUID() string {
	var b [16]byte
	device.Random(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
