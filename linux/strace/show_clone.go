package strace

import (
	"fmt"
	"strings"

	"sonde/kernel/abi"
)

// cloneText shows the arguments of clone by name, only those that its flags use, in strace's order.
func (s *Shown) cloneText(after bool) string {
	flags, a := s.a[0], &s.a
	if !after {
		return fmt.Sprintf("child_stack=%s, flags=%s", pointer(s, a[1]), cloneFlags(s, flags))
	}
	var b strings.Builder
	if flags&(abi.CLONE_PARENT_SETTID|abi.CLONE_PIDFD) != 0 {
		b.WriteString(", parent_tid=" + s.storedID(a[2]))
	}
	if flags&abi.CLONE_SETTLS != 0 {
		b.WriteString(", tls=" + pointer(s, a[4]))
	}
	if flags&(abi.CLONE_CHILD_SETTID|abi.CLONE_CHILD_CLEARTID) != 0 {
		b.WriteString(", child_tidptr=" + pointer(s, a[3]))
	}
	return b.String()
}

// storedID shows the number that clone has stored.
func (s *Shown) storedID(at uint64) string {
	id, err := read[int32](s, at)
	if err != nil || s.failed {
		return pointer(s, at)
	}
	return fmt.Sprintf("[%d]", id)
}

// cloneArgs shows the arguments of clone3 and, after an arrow, what it has stored.
func (s *Shown) cloneArgs(after bool) string {
	c, err := read[abi.CloneArgs](s, s.a[0])
	if err != nil {
		if after {
			return fmt.Sprintf(", %d", s.a[1])
		}
		return pointer(s, s.a[0])
	}
	if after {
		text := ""
		if c.Flags&abi.CLONE_PARENT_SETTID != 0 && !s.failed {
			text = " => {parent_tid=" + s.storedID(c.ParentTID) + "}"
		}
		return fmt.Sprintf("%s, %d", text, s.a[1])
	}
	parts := []string{"flags=" + cloneFlags(s, c.Flags)}
	add := func(name string, v uint64) { parts = append(parts, name+"="+pointer(s, v)) }
	if c.Flags&abi.CLONE_PIDFD != 0 {
		add("pidfd", c.PidFD)
	}
	if c.Flags&(abi.CLONE_CHILD_SETTID|abi.CLONE_CHILD_CLEARTID) != 0 {
		add("child_tid", c.ChildTID)
	}
	if c.Flags&abi.CLONE_PARENT_SETTID != 0 {
		add("parent_tid", c.ParentTID)
	}
	exit := "0"
	if c.ExitSignal != 0 {
		exit = signalNumber(s, c.ExitSignal)
	}
	parts = append(parts, "exit_signal="+exit)
	add("stack", c.Stack)
	parts = append(parts, "stack_size="+hexOr0(s, c.StackSize))
	if c.Flags&abi.CLONE_SETTLS != 0 {
		add("tls", c.TLS)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Execve is the text of the call that started a program, for a tracer that was attached only after
// that.
func Execve(path string, args []string, env uint64, variables int) string {
	var quotedArgs []string
	for _, a := range args {
		quotedArgs = append(quotedArgs, quoted([]byte(a)))
	}
	s := ""
	if variables != 1 {
		s = "s"
	}
	return fmt.Sprintf("execve(%s, [%s], %#x /* %d var%s */)", quoted([]byte(path)), strings.Join(quotedArgs, ", "), env, variables, s)
}
