package shell

import (
	"io"
	"testing"
)

// TestErrorsHaveColours: what an error begins with, at the terminal, and nowhere else.
func TestErrorsHaveColours(t *testing.T) {
	u := newUser(t)
	u.enter("unset NO_COLOR; nosuch; cat /none1 /none2; cd /none")
	const red, plain = "\x1b\\[31m", "\x1b\\[m"
	u.see("\\n" + red + "nosuch:" + plain + " command not found\\n")
	u.see("^" + red + "cat:" + plain + " /none1: no such file or directory\\n" + red + "cat:" + plain + " /none2: ")
	u.see("\\n" + red + "cd:" + plain + " /none: no such file or directory\\n")
	u.enter("(nosuch; cd /none) 2>&1 | cat; NO_COLOR=1; nosuch; cd /none")
	for range 2 {
		u.see("(?m)^nosuch: command not found\\n")
		u.see("^cd: /none: no such file or directory\\n")
	}
	u.see("sonde# $")
	io.WriteString(u.w, "\x04")
	if err := <-u.done; err != nil {
		t.Error(err)
	}
}
