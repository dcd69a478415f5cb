package vmlinux

import (
	"strings"

	"sonde/gotypes"
)

// linux are types that are Linux's of another name, as far as tools look into them: by Go's names, with the
// names of their fields, in order.
var linux = map[string]struct{ name, fields string }{
	"sonde/probe/task.Char":     {char, ""},
	"sonde/probe/task.Task":     {"task_struct", "pid tgid real_parent group_leader se comm"},
	"sonde/probe/task.Entity":   {"sched_entity", "cfs_rq"},
	"sonde/probe/task.Queue":    {"cfs_rq", "nr_running"},
	"sonde/probe/task.OOM":      {"oom_control", "totalpages chosen"},
	"sonde/kernel/abi.Timespec": {"__kernel_timespec", "tv_sec tv_nsec"},
}

// char is C's type of that name, which is no typedef.
const char = "char"

// GoName is the name of the type that is a struct of Linux's; "": there is none.
func GoName(c string) string {
	for name, l := range linux {
		if l.name == c && c != char {
			return name
		}
	}
	return ""
}

// LinuxFields are the names of the fields, in order, of a type that is Linux's of another name; nil: it is none.
func LinuxFields(x *gotypes.Desc) []string { return strings.Fields(linux[x.Name].fields) }

// IsChar reports whether a type is C's char, an array of which is text.
func IsChar(x *gotypes.Desc) bool { return linux[x.Name].name == char }

// fieldNames returns C names of a structure's fields.
func fieldNames(x *gotypes.Desc) (names []string) {
	if _, ok := linux[x.Name]; ok {
		return LinuxFields(x)
	}
	for _, f := range x.Fields {
		names = append(names, identifier(f.Name))
	}
	return names
}
