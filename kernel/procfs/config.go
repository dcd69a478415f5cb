package procfs

import (
	"bytes"
	"compress/gzip"
)

// config is what of Linux's options holds here: those of calls and files that programs ask
// about before they use them.
//
// Source: Linux, the Kconfig files, which say what an option brings.
const config = `# What of Linux's options holds for sonde.
CONFIG_64BIT=y
CONFIG_X86_64=y
CONFIG_SMP=y
CONFIG_MMU=y
CONFIG_PRINTK=y
CONFIG_BUG=y
CONFIG_BASE_FULL=y
CONFIG_FUTEX=y
CONFIG_EPOLL=y
CONFIG_SIGNALFD=y
CONFIG_TIMERFD=y
CONFIG_EVENTFD=y
CONFIG_SHMEM=y
CONFIG_TMPFS=y
CONFIG_MEMFD_CREATE=y
CONFIG_ADVISE_SYSCALLS=y
CONFIG_MEMBARRIER=y
CONFIG_KALLSYMS=y
CONFIG_POSIX_TIMERS=y
CONFIG_HIGH_RES_TIMERS=y
CONFIG_MODULES=y
CONFIG_BINFMT_ELF=y
CONFIG_BINFMT_SCRIPT=y
CONFIG_FILE_LOCKING=y
CONFIG_PROC_FS=y
CONFIG_PROC_SYSCTL=y
CONFIG_SYSFS=y
CONFIG_DEBUG_FS=y
CONFIG_IKCONFIG=y
CONFIG_IKCONFIG_PROC=y
CONFIG_KCMP=y
CONFIG_KPROBES=y
CONFIG_OPTPROBES=y
CONFIG_KRETPROBES=y
CONFIG_UPROBES=y
CONFIG_KPROBE_EVENTS=y
CONFIG_UPROBE_EVENTS=y
CONFIG_PERF_EVENTS=y
CONFIG_BPF=y
CONFIG_BPF_SYSCALL=y
CONFIG_BPF_JIT=y
CONFIG_BPF_EVENTS=y
CONFIG_DEBUG_INFO_BTF=y
CONFIG_NET=y
CONFIG_UNIX=y
CONFIG_INET=y
CONFIG_IPV6=y
# CONFIG_MULTIUSER is not set
# CONFIG_SYSVIPC is not set
# CONFIG_POSIX_MQUEUE is not set
# CONFIG_BLOCK is not set
# CONFIG_SWAP is not set
# CONFIG_AIO is not set
# CONFIG_IO_URING is not set
# CONFIG_FANOTIFY is not set
# CONFIG_FHANDLE is not set
# CONFIG_SECCOMP is not set
# CONFIG_NAMESPACES is not set
# CONFIG_CGROUPS is not set
# CONFIG_USERFAULTFD is not set
# CONFIG_TRANSPARENT_HUGEPAGE is not set
# CONFIG_HUGETLBFS is not set
# CONFIG_NUMA is not set
`

// configGZ is /proc/config.gz.
func configGZ() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(config))
	z.Close()
	return b.String()
}
