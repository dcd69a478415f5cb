package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"sonde/arch/amd64/trap"
	"sonde/boot/cmdline"
)

// Config describes one virtual machine. Only Image must be set.
type Config struct {
	Image   string        // finished kernel image
	Machine string        // "q35", "pc" or "microvm"; "" means q35
	From    From          // where its firmware finds the image; Direct: QEMU loads it
	UEFI    bool          // the firmware is UEFI; false: a BIOS
	Menu    bool          // GRUB shows its menu if there is no command line
	Resets  bool          // the machine starts again after a reset, instead of ending
	GRUB    string        // commands for GRUB in front of its menu or the boot, each with a newline
	Plain   bool          // without QEMU's own devices for scripts: what a PC has
	NoCOM1  bool          // without the first serial port; Extra may give what is called chardev "console" to another
	SMP     int           // processors; 0 means 1
	Memory  string        // as QEMU's -m; "" means 256M
	Append  string        // kernel command line
	Initrd  string        // file with archives for the kernel's tree of files, or ""
	Script  string        // shell script that the kernel runs instead of a prompt
	Accel   Accel         // "" means TCG
	CPU     string        // as QEMU's -cpu; "" means all that Accel can give
	Timeout time.Duration // 0 means none
	GDB     *GDB          // wait for gdb there, or nil
	Agent   *Agent        // where the kernel runs commands, or nil
	Extra   []string      // further QEMU arguments

	Stdout io.Writer // live copy of the script's standard output, or nil
	Log    io.Writer // live copy of the console, or nil
}

// MaxCommandLine is how long command line and script may be together, in
// bytes: the PVH option ROM of QEMU has a buffer of one page.
const MaxCommandLine = 4095

// maxSMP is the largest number of processors that the kernel supports.
const maxSMP = trap.MaxCPUs

// spaces are what the kernel skips in front of the script.
const spaces = " \t\n\v\f\r"

// ErrConfig says that a machine cannot be made as described.
var ErrConfig = errors.New("impossible machine")

// firstFd is the first file descriptor that QEMU inherits besides 0, 1 and 2.
const firstFd = 3

// What QEMU inherits under program control.
const (
	outFd = firstFd + iota
	controlFd
	gdbFd // and after it, the agent's
)

// machineArgs turns a machine's name into QEMU's -machine argument. microvm
// has none of the old devices by default; the kernel calibrates by the PIT and
// reads the RTC. auto-kernel-cmdline would add words after the script.
var machineArgs = map[string]string{
	"q35":     "q35",
	"pc":      "pc",
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
	if c.CPU == "" {
		c.CPU = c.Accel.cpu()
	}
	return c
}

// prepared is c with its defaults, if it can be run, and the path of QEMU.
func (c Config) prepared() (Config, string, error) {
	c = c.withDefaults()
	if err := c.Check(); err != nil {
		return c, "", err
	}
	path, err := Find()
	return c, path, err
}

// limited is ctx with the time limit of c, if it has one.
func (c Config) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout > 0 {
		return context.WithTimeoutCause(ctx, c.Timeout, timeout(c.Timeout))
	}
	return context.WithCancel(ctx)
}

// commandLine puts the script where Linux puts arguments for init: after "--".
func (c Config) commandLine() string {
	line := c.Append
	if c.Agent != nil {
		line = strings.TrimPrefix(line+" agent="+agentPort, " ")
	}
	if c.Script == "" {
		return line
	}
	return strings.TrimPrefix(line+" -- "+c.Script, " ")
}

// Check refuses what QEMU or the kernel could not run, or would misunderstand. It checks c as it is:
// here 0 and "" do not stand for defaults.
//
// Errors: ErrConfig, with the field's value and what would be right.
func (c Config) Check() error {
	for _, err := range []error{c.checkMachine(), checkMemory(c.Memory), c.checkLine(), c.checkInitrd(), c.checkMedium()} {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return nil
}

func (c Config) checkMachine() error {
	switch {
	case machineArgs[c.Machine] == "":
		return fmt.Errorf("machine %q: it must be q35, pc or microvm", c.Machine)
	case c.SMP < 1 || c.SMP > maxSMP:
		return fmt.Errorf("%d processors: the kernel runs on 1 to %d", c.SMP, maxSMP)
	case c.SMP > 1 && c.Accel == Counted:
		return fmt.Errorf("%d processors: instructions are counted on one", c.SMP)
	case c.Timeout < 0:
		return fmt.Errorf("timeout %v: it must not be negative", c.Timeout)
	}
	return nil
}

// checkInitrd refuses what QEMU cannot load.
func (c Config) checkInitrd() error {
	if c.Initrd == "" {
		return nil
	}
	switch info, err := os.Stat(c.Initrd); {
	case err != nil:
		return fmt.Errorf("initrd: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("initrd %s: not a file", c.Initrd)
	case info.Size() == 0:
		return fmt.Errorf("initrd %s: it is empty", c.Initrd)
	}
	return nil
}

// checkLine makes sure that the kernel finds the script that was given, and none
// that was not.
func (c Config) checkLine() error {
	line := c.commandLine()
	script, found := cmdline.Script(line)
	switch {
	case strings.ContainsRune(line, 0):
		return errors.New("command line or script: it holds a zero byte, which ends it for QEMU")
	case len(line) > MaxCommandLine:
		return fmt.Errorf("command line and script have %d bytes, at most %d fit", len(line), MaxCommandLine)
	case found == (c.Script == "") || script != strings.TrimLeft(c.Script, spaces):
		return fmt.Errorf("command line %q: its quotes must be closed, and the word -- is for the script", c.Append)
	}
	return nil
}

// arguments returns the arguments that all kinds of runs have in common.
func (c Config) arguments(m medium) []string {
	args := []string{
		"-machine", machineArgs[c.Machine], "-cpu", c.CPU,
		"-smp", strconv.Itoa(c.SMP), "-m", c.Memory,
		"-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
	}
	if !c.Plain {
		args = append(args, "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04")
	}
	args = append(args, c.Accel.arguments()...)
	args = append(args, c.loadArguments(m)...)
	return append(args, c.Extra...)
}

// pipedArguments is for runs under program control: the console is QEMU's
// standard input and output, the script's output has a pipe of its own, and a
// control socket tells how the machine ended.
func (c Config) pipedArguments(m medium, out, control string) []string {
	args := append(append(c.arguments(m), c.attached(gdbFd)...),
		"-S",
		"-chardev", "stdio,id=console,signal=off",
		"-chardev", control,
		"-mon", "chardev=control,mode=control",
	)
	if !c.NoCOM1 {
		args = append(args, "-serial", "chardev:console")
	}
	if !c.Resets {
		args = append(args, "-no-reboot")
	}
	if c.Plain {
		return args
	}
	return append(args, "-chardev", out, "-device", "isa-debugcon,iobase=0xe9,chardev=out")
}

// terminalArguments is for a person at the terminal; QEMU itself puts the
// terminal in raw mode and takes Ctrl-A X.
func (c Config) terminalArguments(m medium) []string {
	return append(append(c.arguments(m), c.attached(firstFd)...), "-serial", "mon:stdio")
}

// attached is what QEMU is told about gdb and the agent, whose files it inherits from fd on.
func (c Config) attached(fd int) []string {
	return append(c.GDB.arguments(fd), c.Agent.arguments(fd+len(c.GDB.inherited()))...)
}

// attachedFiles are these files.
func (c Config) attachedFiles() []*os.File { return append(c.GDB.inherited(), c.Agent.inherited()...) }
