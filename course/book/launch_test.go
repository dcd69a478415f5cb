package book

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sonde/course/blocks"
	"sonde/qemu/machine"
)

// configOf is the machine of a command line: go run ./qemu -cpu qemu64 -c 'crash exception'.
func configOf(line string) (c machine.Config, err error) {
	flags, found := strings.CutPrefix(line, "go run ./qemu ")
	c.Script, c.SMP = "true", 2
	for flags != "" && found {
		var name, value string
		name, flags, _ = strings.Cut(flags, " ")
		if name == "-resets" {
			c.Resets = true
			continue
		}
		if quoted, is := strings.CutPrefix(flags, "'"); is {
			value, flags, found = strings.Cut(quoted, "'")
		} else {
			value, flags, _ = strings.Cut(flags, " ")
		}
		flags = strings.TrimLeft(flags, " ")
		switch name {
		case "-c":
			c.Script = value
		case "-append":
			c.Append = value
		case "-cpu":
			c.CPU = value
		case "-smp":
			c.SMP, err = strconv.Atoi(value)
		default:
			found = false
		}
	}
	if !found {
		err = fmt.Errorf("not a command line of the launcher that this test knows: %s", line)
	}
	return c, err
}

// launched returns what a machine prints on its console, and then what its script has printed. The kernel may crash.
func launched(t *testing.T, b blocks.Block, kernel string) []string {
	t.Helper()
	c, err := configOf(strings.Join(b.Text, "\n"))
	if err != nil {
		t.Fatalf("%v: %v", b, err)
	}
	c.Image, c.Timeout = kernel, limit
	r, err := machine.Run(context.Background(), c)
	if err != nil {
		t.Fatalf("%v: %v\n%s", b, err, r.Log)
	}
	return blocks.Lines(string(r.Log) + string(r.Stdout))
}

func TestConfigOf(t *testing.T) {
	c, err := configOf("go run ./qemu -cpu qemu64,-nx -resets -append 'a b' -smp 1 -c 'crash exception; ls'")
	if err != nil || c.CPU != "qemu64,-nx" || !c.Resets || c.Append != "a b" || c.SMP != 1 || c.Script != "crash exception; ls" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"ls", "go run ./qemu -nope x", "go run ./qemu -c 'ls", "go run ./qemu -smp x"} {
		if _, err := configOf(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
