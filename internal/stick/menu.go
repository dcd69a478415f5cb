package stick

import (
	"fmt"
	"strings"
)

// The menu's entries, and what each adds to the command line.
var entries = []struct{ title, line string }{
	{"sonde", ""},
	{"sonde, one processor", "maxcpus=1"},
	{"sonde, verbose", "loglevel=8"},
	{"sonde, with a memory test", "memtest"},
	{"sonde, run the checks and show them", "memtest show=5 -- " + script("dmesg", "lscpu", "free -m", "cat /proc/interrupts",
		"insmod kprobe_example symbol=vfs.Read", "cat /proc/uptime", "rmmod kprobe_example")},
	{"sonde, no keyboard: show the machine", "show=5 -- " + script("dmesg", "cat /proc/consoles", "lscpu", "lspci -v",
		"cat /proc/iomem /proc/ioports")},
}

// script is commands for the kernel's shell, as written in GRUB's menu.
func script(commands ...string) string { return strings.Join(commands, ` \; `) }

// head sets GRUB's own terminals. A board without the serial port keeps the screen.
const head = `set timeout=%d
if serial --unit=0 --speed=115200; then
	terminal_input console serial
	terminal_output console serial
fi
`

// video loads what can set a graphics mode: of the firmware's kinds of screens GRUB loads only the
// BIOS's by itself, and the kernel would show nothing on a PC with UEFI.
const video = "insmod all_video\n"

// menuTimeout is how many seconds there are to choose.
const menuTimeout = 3

// menu is GRUB's configuration.
func (o Options) menu() string {
	var b strings.Builder
	b.WriteString(video)
	if o.CommandLine != nil {
		fmt.Fprintf(&b, "%smultiboot2 /boot/sonde.elf\nmodule2 /boot/cmdline cmdline\n%sboot\n", o.First, o.initramfs(""))
		return b.String()
	}
	fmt.Fprintf(&b, head+"%s", menuTimeout, o.First)
	for _, e := range entries {
		fmt.Fprintf(&b, "menuentry '%s' {\n\tmultiboot2 /boot/sonde.elf %s\n%s}\n", e.title, e.line, o.initramfs("\t"))
	}
	return b.String()
}

// initramfs is the line that loads the archives.
func (o Options) initramfs(indent string) string {
	if o.Initrd == "" {
		return ""
	}
	return indent + "module2 /boot/initramfs\n"
}
