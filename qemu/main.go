// Command qemu builds the kernel, boots it in QEMU and reports how it ended.
//
//	go run ./qemu                      a prompt on this terminal; Ctrl-A X leaves
//	go run ./qemu -c 'cmd; cmd'        run a script, then stop
//	go run ./qemu -with DIR            a kernel with the modules in DIR
//	go run ./qemu -gdb                 wait for gdb before the first instruction
//	go run ./qemu -web                 a page that shows the kernel, beside the prompt
//	go run ./qemu -web -serial DEVICE  the same for a board at the other end of a cable
//	go run ./qemu -stick [-uefi]       boot as a PC does, by firmware and GRUB
//	go run ./qemu -- -device e1000     what follows "--" goes to QEMU
//
// With -c the script's standard output is this command's, byte for byte, and the console
// goes to standard error. The exit status is the script's (126, 127 and 0 to 63 unchanged,
// others as 63), or
//
//	2    wrong arguments; standard error says what is wrong with which
//	70   the kernel crashed
//	71   QEMU failed, or the kernel does not build
//	124  -timeout
//	130  Ctrl-C
//
// "go run" itself turns every status but 0 into 1; "go build -o build/qemu
// ./qemu" makes a command that passes it on.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

const (
	scriptTimeout = 2 * time.Minute
	testTimeout   = 30 * time.Minute // all tests of the kernel, on a slow host
	autoAccel     = "auto"
)

// options are the command line: the machine, and which image it boots.
type options struct {
	machine.Config
	scripted bool // -c was given, even if empty
	endless  bool // Ctrl-C ends it
	quiet    bool
	test     bool
	build    bool
	gdb      bool
	vet      bool
	noLinux  bool
	noProbe  bool
	with     []string // folders of modules
	stick    bool
	add      []string          // HOST[:GUEST]
	programs map[string]string // that add has: files of the host, by path in the guest
	deps     bool
	decode   string // what the code on the screen of a crash says
	bt       bt
	web      bool
	serial   string // a board's, instead of QEMU
	cable    *cable // open, to the board
}

func main() {
	opts, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "qemu:", err)
		os.Exit(machine.StatusUsage)
	}
	os.Exit(run(opts))
}

// usage is what -h prints in front of the options.
const usage = `usage: %s [options] [-- options of QEMU]

Boots the kernel in QEMU, to a prompt; Ctrl-A X leaves. docs/launcher.md has examples, and what
the exit status means.

`

func parse(args []string, w io.Writer) (options, error) {
	var o options
	var accel string
	flags := flag.NewFlagSet("qemu", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.IntVar(&o.SMP, "smp", 2, "`number` of processors")
	flags.StringVar(&o.Memory, "m", "256M", "memory `size`")
	flags.StringVar(&o.Machine, "machine", "q35", "`type` of the machine: q35, pc or microvm")
	flags.StringVar(&o.Append, "append", "", "add this `line` to the kernel's command line")
	flags.BoolVar(&o.Resets, "resets", false, "with -c: start again after a reset, instead of ending")
	flags.DurationVar(&o.Timeout, "timeout", 0, "stop after this `time`; 0: never (default 0; 2m with -c, 30m with -test)")
	flags.BoolVar(&o.gdb, "gdb", false, "wait for gdb before booting, on port 1234 or, if it is taken, a free one")
	flags.StringVar(&o.Image, "image", "", "boot this image `file` instead of building one")
	flags.BoolVar(&o.test, "test", false, "boot the kernel with its tests; without -c, run them all")
	flags.BoolVar(&o.noLinux, "nolinux", false, "build the kernel without linux/: kernel probes and the prompt, but no programs")
	flags.BoolVar(&o.noProbe, "noprobe", false, "build kernel/ alone: the prompt and modules, but neither probes nor programs")
	flags.BoolVar(&o.build, "build", false, "only build the image and show its layout")
	flags.StringVar(&o.decode, "decode", "", "only name the addresses in the `text` of the code that a crash shows on the screen")
	flags.BoolVar(&o.vet, "vet", false, "only run go vet on the kernel and the packages of -with, as they are built")
	flags.Func("with", "link the packages in this `folder` and below it into the kernel; may be repeated (docs/modules.md)", func(folder string) error {
		o.with = append(o.with, folder)
		return nil
	})
	flags.BoolVar(&o.stick, "stick", false, "boot from a USB stick with the image, through GRUB; with -build: make build/sonde.iso")
	flags.StringVar((*string)(&o.From), "from", "", "with -stick: boot from this `medium`: usb, cd or net (default usb)")
	flags.BoolVar(&o.UEFI, "uefi", false, "with -stick: boot by UEFI")
	flags.StringVar(&o.Initrd, "initrd", "", "give the kernel the files in this cpio archive `file`, plain or compressed by gzip")
	flags.Func("add", "give the kernel a file or folder, as `HOST[:GUEST]`; may be repeated (docs/launcher.md)", func(spec string) error {
		o.add = append(o.add, spec)
		return nil
	})
	flags.BoolVar(&o.deps, "deps", false, "with -add: also add the libraries and interpreters that the programs need")
	flags.StringVar(&o.bt.script, "bt", "", "run this `script` in bpftrace's language, or a file with one, and print its output; it ends with the command of -c, or by Ctrl-C")
	flags.StringVar(&o.bt.format, "format", "", "with -bt: the `format` of the output: text, json, folded, flame, chrome, perfetto or pprof")
	flags.StringVar(&o.bt.against, "against", "", "with -format flame: compare with the profile in this `file`, which -format pprof has written")
	flags.StringVar(&o.bt.out, "o", "", "with -bt: write to this `file` instead of standard output")
	flags.BoolVar(&o.web, "web", false, "show the kernel in a browser, beside the prompt: print an address to open (docs/web.md)")
	flags.StringVar(&o.serial, "serial", "", "with -web: show the board at the other end of this serial `device` of the host, instead of QEMU (docs/web.md)")
	flags.StringVar(&o.Script, "c", "", "run this `script` instead of a prompt, and exit with its status")
	flags.BoolVar(&o.quiet, "q", false, "with -c: show the console only if the kernel crashes or stops unexpectedly")
	flags.StringVar(&o.CPU, "cpu", "", "processor `model`, as for QEMU's -cpu: qemu64, EPYC, max,-smap (default: one with all features)")
	flags.StringVar(&accel, "accel", autoAccel, "`accelerator`: tcg; kvm; counted, whose clock counts instructions; stepped, where interrupts come at each; or auto, which is kvm if it works")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(w)
		fmt.Fprintf(w, usage, name())
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w (-h lists the options)", err)
	}
	o.Extra = flags.Args()
	if before := args[:len(args)-len(o.Extra)]; len(o.Extra) > 0 && (len(before) == 0 || before[len(before)-1] != "--") {
		return o, fmt.Errorf("unexpected argument %q (arguments for QEMU follow --)", flags.Arg(0))
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	o.scripted = given["c"]
	if o.bt.given = given["bt"]; o.bt.check() != nil {
		return o, o.bt.check()
	}
	if o.scripted && o.Script == "" {
		return o, errors.New("-c: the script is empty")
	}
	if o.bt.given {
		o.endless = !o.scripted
		o.Script, o.scripted = o.bt.command(o.Script), true
	}
	if o.test && !o.scripted {
		o.Script, o.scripted = "ktest", true
	}
	if err := o.takeFinished(); err != nil {
		return o, err
	}
	if len(o.with) > 0 && o.Image != "" {
		return o, errors.New("-with and -image exclude each other: nothing can be linked into a finished image")
	}
	if o.noProbe && (o.test || o.bt.given) {
		return o, errors.New("-noprobe excludes -test and -bt: both set probes")
	}
	if o.web && (o.vet || o.build) {
		return o, errors.New("-web boots the kernel, and -vet and -build do not")
	}
	if o.serial != "" && (!o.web || o.scripted || o.stick || o.gdb || len(o.add) > 0 || len(o.Extra) > 0) {
		return o, errors.New("-serial needs -web, and there is no QEMU: only -image, -with and -nolinux go with them, to say which kernel the board runs")
	}
	if o.deps && len(o.add) == 0 {
		return o, errors.New("-deps needs -add")
	}
	if o.stick && o.From == machine.Direct {
		o.From = machine.USB
	}
	if !o.stick && o.From != machine.Direct {
		return o, errors.New("-from needs -stick")
	}
	o.Menu = o.stick && !o.scripted && !given["append"]
	if !given["timeout"] {
		o.Timeout = o.limit()
	}
	if accel != autoAccel {
		var err error
		if o.Accel, err = machine.ParseAccel(accel); err != nil {
			return o, err
		}
	}
	return o, o.Check()
}

// limit returns the time limit when none is asked for.
func (o options) limit() time.Duration {
	switch {
	case !o.scripted || o.endless || o.gdb:
		return 0
	case o.test:
		return testTimeout
	}
	return scriptTimeout
}

// run boots what the options say and returns the exit status. What is wrong with files that were
// named is said before anything is built.
func run(o options) int {
	if o.vet {
		return vet(o)
	}
	if o.serial != "" {
		c, err := openCable(o.serial)
		if err != nil {
			return fail(err, machine.StatusUsage)
		}
		defer c.Close()
		o.cable = c
	}
	if o.bt.given {
		spec, remove, err := o.bt.save()
		if err != nil {
			return fail(err, machine.StatusUsage)
		}
		defer remove()
		o.add = append(o.add, spec)
	}
	remove, err := o.makeInitrd()
	if err != nil {
		return fail(err, machine.StatusUsage)
	}
	defer remove()
	if o.Image == "" {
		path, err := image.Build(image.BuildOptions{Test: o.test, NoLinux: o.noLinux, NoProbe: o.noProbe, With: o.with, Say: prefixed{os.Stderr}})
		if err != nil {
			return cannotBuild(err)
		}
		o.Image = path
	}
	switch {
	case o.decode != "":
		text, err := decode(o.decode, o.Image)
		if err != nil {
			return fail(err, machine.StatusUsage)
		}
		fmt.Print(text)
		return 0
	case o.build && o.stick:
		return makeStick(o)
	case o.build:
		return show(o.Image)
	}
	if o.Accel == "" {
		o.Accel = machine.Best(o.Image)
	}
	if o.gdb {
		if o.GDB, err = machine.NewGDB(); err != nil {
			return fail(err, machine.StatusQEMU)
		}
		defer o.GDB.Close()
		script, err := gdbScript(o.GDB.Port, o.with)
		if err != nil {
			return fail(err, machine.StatusQEMU)
		}
		defer os.Remove(script)
		fmt.Fprintf(os.Stderr, "qemu: waiting for gdb; in another terminal:\n  gdb -x %s %s\n", script, o.Image)
	}
	if o.cable != nil {
		return o.overCable()
	}
	if o.web {
		stop, err := o.serve()
		if err != nil {
			return fail(err, machine.StatusQEMU)
		}
		defer stop()
	}
	run := boot
	if o.bt.given {
		run = runBt
	}
	result, err := run(o)
	if err != nil {
		return fail(err, result.Status)
	}
	if result.Crash {
		fmt.Fprintf(os.Stderr, "\nqemu: kernel crashed (%s)\n", result.Reason)
	}
	return result.Status
}

// vet prints what go vet finds in the kernel.
func vet(o options) int {
	if err := image.Vet(os.Stderr, image.BuildOptions{NoLinux: o.noLinux, NoProbe: o.noProbe, With: o.with}); err != nil {
		return cannotBuild(err)
	}
	return 0
}

func cannotBuild(err error) int {
	if errors.Is(err, image.ErrModule) {
		return fail(fmt.Errorf("-with: %w", err), machine.StatusUsage)
	}
	return fail(err, machine.StatusQEMU)
}

// show prints the layout of an image, and what takes the room in it.
func show(path string) int {
	info, err := image.Inspect(path)
	if err != nil {
		return fail(err, machine.StatusQEMU)
	}
	uses, err := image.Uses(path, int(info.Size/400))
	if err != nil {
		return fail(err, machine.StatusQEMU)
	}
	fmt.Printf("%s\n%9s %9s %9s %9s  bytes in the file\n", info, "all", "code", "data", "tables")
	for _, u := range uses {
		fmt.Printf("%9d %9d %9d %9d  %s\n", u.Sum(), u.Code, u.Data, u.Tables, u.Part)
	}
	return 0
}

func boot(o options) (machine.Result, error) {
	stop := []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
	if o.scripted {
		ctx, cancel := signal.NotifyContext(context.Background(), append(stop, os.Interrupt)...)
		defer cancel()
		o.Stdout, o.Log = os.Stdout, os.Stderr
		if same, _ := oneStream(); same {
			out, log := together(os.Stdout)
			defer log.flush()
			o.Stdout, o.Log = out, log
		}
		if !o.quiet && !o.showsLogItself() {
			return machine.Run(ctx, o.Config)
		}
		o.Log = io.Discard
		result, err := machine.Run(ctx, o.Config)
		if err != nil || result.Crash {
			os.Stderr.Write(result.Log)
		}
		return result, err
	}
	// Ctrl-C belongs to the guest: QEMU reads it from the raw terminal.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	ctx, cancel := signal.NotifyContext(context.Background(), stop...)
	defer cancel()
	o.Append = strings.TrimSpace(terminalSize() + colours() + " " + o.Append)
	return machine.Interact(ctx, o.Config)
}

// showsLogItself reports whether the script prints the log on the terminal where the console
// would show it, too.
func (o options) showsLogItself() bool {
	same, terminal := oneStream()
	return same && terminal && printsLog.MatchString(o.Script)
}

// printsLog fits a script with dmesg in it, as a command whose output is printed.
var printsLog = regexp.MustCompile(`(^|[;&|\n(])\s*dmesg(\s+-(c|l\s*\S+))*\s*($|[;\n)]|&&|\|\|)`)

// prefixed writes lines as this command's own.
type prefixed struct{ to io.Writer }

func (p prefixed) Write(line []byte) (int, error) {
	_, err := fmt.Fprintf(p.to, "qemu: %s", line)
	return len(line), err
}

func fail(err error, status int) int {
	fmt.Fprintln(os.Stderr, "qemu:", err)
	return status
}
