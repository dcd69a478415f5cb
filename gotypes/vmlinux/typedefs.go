package vmlinux

import (
	"reflect"
	"strings"

	"sonde/bpf/btf"
)

// numbers are the names that Linux gives to integers in its system calls' tracepoints, and those that bpftrace puts
// in their place where a field is wider.
//
// Source: Linux, include/linux/types.h and include/uapi/asm-generic/posix_types.h.
var numbers = map[reflect.Kind]string{
	reflect.Int8: "s8", reflect.Int16: "s16", reflect.Int32: "s32 __s32 pid_t clockid_t timer_t rwf_t", reflect.Int64: "s64 loff_t",
	reflect.Uint8: "u8", reflect.Uint16: "u16 umode_t", reflect.Uint32: "u32 __u32 uid_t gid_t", reflect.Uint64: "u64 __u64",
	reflect.Int: "off_t __kernel_old_time_t", reflect.Uint: "size_t",
}

// structures are names of structures in system calls' tracepoints, which nothing is said of; a name with a * is a
// pointer to one.
var structures = strings.Fields("sigset_t=__sigset siginfo_t=siginfo stack_t=sigaltstack fd_set=__kernel_fd_set " +
	"cap_user_header_t=*__user_cap_header_struct cap_user_data_t=*__user_cap_data_struct")

// typedefs writes both.
func (e *encoder) typedefs() {
	for kind := reflect.Int; kind <= reflect.Uintptr; kind++ {
		for name := range strings.FieldsSeq(numbers[kind]) {
			e.b.Add(btf.Type{Kind: btf.Typedef, Name: name, Of: e.integer(kind)})
		}
	}
	for _, s := range structures {
		name, of, _ := strings.Cut(s, "=")
		tag, pointer := strings.CutPrefix(of, "*")
		id := e.b.Add(btf.Type{Kind: btf.Fwd, Name: tag})
		if pointer {
			id = e.b.Add(btf.Type{Kind: btf.Ptr, Of: id})
		}
		e.b.Add(btf.Type{Kind: btf.Typedef, Name: name, Of: id})
	}
}
