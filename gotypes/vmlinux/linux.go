package vmlinux

import (
	"strings"

	"sonde/gotypes"
)

// linux are types that are Linux's of another name, as far as tools look into them: by Go's names, with the
// names of their fields, in order.
var linux = map[string]struct{ name, fields string }{
	"sonde/kernel/task.Char":    {char, ""},
	"sonde/kernel/task.Task":    {"task_struct", "pid tgid real_parent group_leader se comm"},
	"sonde/kernel/task.Entity":  {"sched_entity", "cfs_rq"},
	"sonde/kernel/task.Queue":   {"cfs_rq", "nr_running"},
	"sonde/kernel/task.OOM":     {"oom_control", "totalpages chosen"},
	"sonde/kernel/abi.Timespec": {"__kernel_timespec", "tv_sec tv_nsec"},
}

// char is C's type of that name, which is no typedef.
const char = "char"

// fieldNames returns C names of a structure's fields.
func fieldNames(x *gotypes.Desc) (names []string) {
	if l, ok := linux[x.Name]; ok {
		return strings.Fields(l.fields)
	}
	for _, f := range x.Fields {
		names = append(names, identifier(f.Name))
	}
	return names
}
