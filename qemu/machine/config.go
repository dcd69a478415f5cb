package machine

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Config describes one virtual machine. Only Image must be set.
type Config struct {
	Image   string        // finished kernel image
	Machine string        // "q35" or "microvm"; "" means q35
	SMP     int           // processors; 0 means 1
	Memory  string        // as QEMU's -m; "" means 256M
	Append  string        // kernel command line
	Script  string        // shell script that the kernel runs instead of a prompt
	Accel   Accel         // "" means TCG
	Timeout time.Duration // 0 means none
	GDB     bool          // wait for gdb on port 1234
	Extra   []string      // further QEMU arguments

	Stdout io.Writer // live copy of the script's standard output, or nil
	Log    io.Writer // live copy of the console, or nil
}

// MaxCommandLine is how long command line and script may be together, in
// bytes: the PVH option ROM of QEMU has a buffer of one page.
const MaxCommandLine = 4095

// ErrConfig says that a machine cannot be made as described.
var ErrConfig = errors.New("impossible machine")

// The file descriptors that QEMU inherits besides 0, 1 and 2.
const (
	outFd = 3 + iota
	controlFd
)

// machineArgs turns a machine's name into QEMU's -machine argument. microvm
// has none of the old devices by default; the kernel calibrates by the PIT and
// reads the RTC. auto-kernel-cmdline would add words behind the script.
var machineArgs = map[string]string{
	"q35":     "q35",
	"microvm": "microvm,acpi=on,rtc=on,pit=on,pic=on,isa-serial=on,auto-kernel-cmdline=off",
}

func (c Config) withDefaults() Config {
	if c.Machine == "" {
		c.Machine = "q35"
	}
	if c.SMP == 0 {
		c.SMP = 1
	}
	if c.Accel == "" {
		c.Accel = TCG
	}
	if c.Memory == "" {
		c.Memory = "256M"
	}
	return c
}

// commandLine puts the script where Linux puts arguments for init: after "--".
func (c Config) commandLine() string {
	if c.Script == "" {
		return c.Append
	}
	return strings.TrimPrefix(c.Append+" -- "+c.Script, " ")
}

func (c Config) check() error {
	if machineArgs[c.Machine] == "" {
		return fmt.Errorf("machine: %q: know only q35 and microvm: %w", c.Machine, ErrConfig)
	}
	if c.SMP < 1 {
		return fmt.Errorf("machine: %d processors: %w", c.SMP, ErrConfig)
	}
	if n, ok := mebibytes(c.Memory); ok && n < minMemory {
		return fmt.Errorf("machine: %s of memory: the kernel is linked at 64 MiB and needs %d MiB at least: %w", c.Memory, minMemory, ErrConfig)
	}
	if n := len(c.commandLine()); n > MaxCommandLine {
		return fmt.Errorf("machine: command line and script have %d bytes, at most %d fit: %w", n, MaxCommandLine, ErrConfig)
	}
	return nil
}

// minMemory is the least the kernel boots with, in MiB.
const minMemory = 96

// mebibytes reads what QEMU's -m takes: a number, MiB unless a suffix says
// otherwise. What it does not understand is left to QEMU.
func mebibytes(s string) (n int, ok bool) {
	unit := strings.ToUpper(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:len(s)-len(unit)])
	switch unit {
	case "", "M":
	case "G":
		n *= 1024
	default:
		return 0, false
	}
	return n, err == nil
}

// arguments returns what all kinds of runs have in common.
func (c Config) arguments() []string {
	args := []string{
		"-machine", machineArgs[c.Machine],
		"-accel", c.Accel.argument(), "-cpu", c.Accel.cpu(),
		"-smp", strconv.Itoa(c.SMP), "-m", c.Memory,
		"-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
		"-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
		"-kernel", c.Image,
	}
	if line := c.commandLine(); line != "" {
		args = append(args, "-append", line)
	}
	if c.GDB {
		args = append(args, "-gdb", "tcp:127.0.0.1:1234", "-S")
	}
	return append(args, c.Extra...)
}

// pipedArguments is for runs under program control: the console is QEMU's
// standard input and output, the script's output has a pipe of its own, and a
// control socket tells how the machine ended.
func (c Config) pipedArguments() []string {
	return append(c.arguments(),
		"-no-reboot", "-S",
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-chardev", fmt.Sprintf("file,id=out,path=/dev/fd/%d", outFd),
		"-device", "isa-debugcon,iobase=0xe9,chardev=out",
		"-chardev", fmt.Sprintf("socket,id=control,fd=%d", controlFd),
		"-mon", "chardev=control,mode=control",
	)
}

// terminalArguments is for a person at the terminal; QEMU itself puts the
// terminal in raw mode and takes Ctrl-A X.
func (c Config) terminalArguments() []string {
	return append(c.arguments(), "-serial", "mon:stdio")
}
