package kallsyms

// A LinuxName is Linux's name of a function that does here what that one does there.
type LinuxName struct {
	Name, Func string
	// Skip is how many words of our function's arguments come before Linux's first: a receiver, say.
	Skip int
	// Args is how many of Linux's arguments our function has, in Linux's order and of the same meaning. The
	// others, and what lies in structures, are different.
	Args int
}

// linux has the functions that tools probe most.
//
// Not here: kfree (what is allocated is freed by the collector), finish_task_switch (it is not said who ran
// before; see the tracepoint sched_switch), and what has to do with disks and networks.
var linux = []LinuxName{
	{"vfs_read", "sonde/kernel/vfs.Read", 0, 3},
	{"vfs_write", "sonde/kernel/vfs.Write", 0, 3},
	{"vfs_open", "sonde/kernel/vfs.(*FS).openAt", 0, 0},
	{"vfs_create", "sonde/kernel/vfs.(*FS).create", 0, 0},
	{"vfs_unlink", "sonde/kernel/vfs.(*FS).UnlinkAt", 0, 0},
	{"vfs_symlink", "sonde/kernel/vfs.(*FS).SymlinkAt", 0, 0},
	{"vfs_rename", "sonde/kernel/vfs.(*FS).rename", 0, 0},
	{"vfs_mkdir", "sonde/kernel/vfs.(*FS).MkdirAt", 0, 0},
	{"vfs_rmdir", "sonde/kernel/vfs.(*FS).RmdirAt", 0, 0},
	{"vfs_statx", "sonde/kernel/vfs.(*FS).StatAt", 0, 0},
	{"vfs_readlink", "sonde/kernel/vfs.(*FS).ReadlinkAt", 0, 0},
	{"vfs_fsync", "sonde/linux/syscall.fsync", 0, 0},
	{"ksys_read", "sonde/linux/syscall.read", 0, 0},
	{"ksys_write", "sonde/linux/syscall.write", 0, 0},
	{"do_sys_open", "sonde/linux/syscall.openFile", 1, 4},
	{"do_sys_openat2", "sonde/linux/syscall.openFile", 1, 2},
	{"kernel_clone", "sonde/linux/proc.(*Thread).Clone", 0, 0},
	{"_do_fork", "sonde/linux/proc.(*Thread).Clone", 0, 0},
	{"sched_fork", "sonde/linux/proc.(*Thread).prepare", 0, 0},
	{"bprm_execve", "sonde/linux/proc.(*Thread).Exec", 0, 0},
	{"do_exit", "sonde/linux/proc.(*Thread).end", 0, 0},
	{"do_group_exit", "sonde/linux/proc.(*Process).exit", 1, 1},
	{"schedule", "runtime.schedule", 0, 0},
	{"wake_up_process", "runtime.ready", 0, 1},
	{"kmalloc", "runtime.mallocgc", 0, 1},
	{"__kmalloc", "runtime.mallocgc", 0, 1},
	{"handle_mm_fault", "sonde/linux/space.(*Space).Fault", 0, 2},
	{"exc_page_fault", "sonde/linux/proc.(*Thread).pageFault", 0, 0},
	{"do_nanosleep", "sonde/linux/syscall.sleepUntil", 0, 0},
	{"cap_capable", "sonde/linux/syscall.capable", 0, 4},
	{"oom_kill_process", "sonde/linux/proc.(*Table).endFor", 1, 1},
	{"avenrun", "main.load", 0, 0},
	{"_stext", "runtime.text", 0, 0},
	{"_etext", "runtime.etext", 0, 0},
	{"_sdata", "runtime.data", 0, 0},
	{"_edata", "runtime.edata", 0, 0},
}

// LinuxNames returns all names of Linux's that Resolve knows, if the kernel has what they are here.
func LinuxNames() []LinuxName { return append([]LinuxName(nil), linux...) }

// Linux returns what Linux's name stands for; false: it is none.
func Linux(name string) (LinuxName, bool) {
	for _, l := range linux {
		if l.Name == name {
			return l, true
		}
	}
	return LinuxName{}, false
}
