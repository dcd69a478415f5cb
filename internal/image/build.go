package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrBuild says that the Go toolchain could not build the kernel.
var ErrBuild = errors.New("kernel does not build")

// BuildOptions choose what Build makes. The zero value is the normal kernel.
type BuildOptions struct {
	Test    bool     // with the in-kernel tests (tag ktest): sonde-test.elf
	NoLinux bool     // without linux/ and programs (tag nolinux)
	NoProbe bool     // and without probe/ and probes (tag noprobe): the microkernel alone
	Tags    []string // further build tags; a kernel with any gets a name of its own
	LDFlags []string // further linker flags
	Finish  Options

	// With are folders whose packages are linked into the kernel, each with those below
	// it. They may lie in other modules, or in none.
	With []string

	// Under are the words of a program that runs the go command, within limits for instance. Nil: it
	// runs as it is.
	Under []string

	// Say gets a line for people about each step that takes long, and about a Go version with
	// which the tests were not run. Nil: nothing is said.
	Say io.Writer
}

// takesLong is how long a step of the build may take without a word about it.
const takesLong = 2 * time.Second

// step says what is being done once that takes long, until done is called.
func (o BuildOptions) step(what string) (done func() bool) {
	if o.Say == nil {
		return func() bool { return true }
	}
	return time.AfterFunc(takesLong, func() { fmt.Fprintln(o.Say, what) }).Stop
}

// machineTags tell the TamaGo library that the kernel brings its own start of
// the CPU, RAM layout and console.
const machineTags = "tamago,linkcpuinit,linkramstart,linkramsize,linkprintk"

// The kernel is linked at Base plus the physical address of its first page, the ELF headers'. Base is
// 2 GiB below the end of all addresses, so that 32 bits with a sign reach everything from
// everywhere.
const (
	Base     = 0xffffffff_80000000
	loadedAt = 64 << 20
)

// linkerFlags put the kernel there, one page of ELF headers below the text, and let it reach into
// the runtime. The linker reads the address as one with a sign. What debuggers read is compressed
// by Finish, which makes it smaller than the linker would.
var linkerFlags = fmt.Sprintf("-compressdwarf=false -T %d -R 0x1000 -checklinkname=0", loadedAt+pageSize-(1<<64-Base))

// Build builds the kernel in the module of the working directory and returns
// the path of the finished image. If all is as it was when that was made, nothing is
// done; concurrent builds wait for each other.
//
// Errors: ErrBuild with the compiler's output; those of Finish.
func Build(opts BuildOptions) (string, error) {
	root, dir, unlock, err := folders()
	if err != nil {
		return "", err
	}
	defer unlock()

	folders, err := foldersOf(opts.With)
	if err != nil {
		return "", fmt.Errorf("image: %w", err)
	}
	out := filepath.Join(dir, opts.name(folders))
	raw := out + ".raw"
	made, err := opts.stamp(root, out)
	if err != nil {
		return "", fmt.Errorf("image: build: %w", err)
	}
	if made.fits(out, raw) {
		opts.warn(made.Version)
		return out, nil
	}
	began := time.Now()
	b, err := opts.prepare(root, dir)
	if err != nil {
		return "", err
	}
	opts.warn(b.tool.version)
	done := opts.step("building the kernel with " + b.tool.version + " (the first time, this takes a minute or two)")
	err = opts.compile(b, root, raw)
	done()
	if err != nil {
		return "", err
	}
	if opts.Finish.Initramfs == nil && !opts.NoLinux && !opts.NoProbe {
		done := opts.step("building the programs of the image")
		opts.Finish.Initramfs, err = userland(root, dir)
		done()
		if err != nil {
			return "", err
		}
	}
	finish := opts.Finish
	finish.Test = opts.Test
	if err := Finish(raw, out, finish); err != nil {
		return out, err
	}
	outside, err := opts.outside(b, root, folders)
	if err != nil {
		return out, err
	}
	if changedSince(began, outside) { // perhaps after it was read
		return out, nil
	}
	return out, made.put(b.tool.version, outside, out, raw)
}

// warn says that no test was run with this version of Go, if so.
func (o BuildOptions) warn(version string) {
	if said := untested(version); said != "" && o.Say != nil {
		fmt.Fprintln(o.Say, said)
	}
}

// builder is what builds, or looks at, a kernel: a toolchain, and packages from elsewhere.
type builder struct {
	tool  toolchain
	more  *with    // nil: there are none
	under []string // BuildOptions.Under
}

// prepare makes what the go command needs to see the kernel.
//
// Errors: ErrModule; those of finding the toolchain and of making the overlay.
func (o BuildOptions) prepare(root, dir string) (b builder, err error) {
	b.under = o.Under
	if b.tool, err = chooseToolchain(root, dir); err != nil {
		return b, fmt.Errorf("image: build: %w", err)
	}
	if len(o.With) > 0 {
		folders, err := foldersOf(o.With)
		if err == nil {
			b.more, err = withPackages(b.tool, root, dir, folders)
		}
		if err != nil {
			return b, fmt.Errorf("image: %w", err)
		}
	}
	return b, nil
}

func (b builder) overlay() string {
	if b.more != nil {
		return filepath.Join(b.more.dir, "overlay.json")
	}
	return b.tool.overlay
}

// command is a go command that sees the kernel. With packages from elsewhere it runs where the
// caller is, so that the compiler's errors name files as they are seen from there.
func (b builder) command(root string, args ...string) *exec.Cmd {
	words := slices.Concat(b.under, []string{b.tool.goCmd}, args)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), b.tool.env...)
	if b.more != nil {
		cmd.Env = append(cmd.Env, "GOWORK="+b.more.work)
	} else {
		cmd.Dir = root
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	return cmd
}

// compile links the kernel.
//
// Errors: ErrBuild with the compiler's output.
func (o BuildOptions) compile(b builder, root, raw string) error {
	cmd := b.command(root, o.arguments(b.overlay(), raw)...)
	msg, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case b.more != nil: // the command line, with its temporary files, is of no help
		return fmt.Errorf("image: %w:\n%s", ErrBuild, msg)
	}
	return fmt.Errorf("image: %s: %w: %w\n%s", strings.Join(cmd.Args, " "), ErrBuild, err, msg)
}

// name is the image's, with the packages in these folders.
func (o BuildOptions) name(folders []string) string {
	name := "sonde"
	if o.Test {
		name += "-test"
	}
	switch {
	case o.NoProbe:
		name += "-noprobe"
	case o.NoLinux:
		name += "-nolinux"
	}
	for _, tag := range o.Tags {
		name += "-" + tag
	}
	if len(folders) > 0 {
		name += "-" + withName(folders)
	}
	return name + ".elf"
}

// tags are the build tags, with commas between.
func (o BuildOptions) tags() string {
	tags := machineTags
	if o.Test {
		tags += ",ktest"
	}
	if o.NoLinux || o.NoProbe {
		tags += ",nolinux"
	}
	if o.NoProbe {
		tags += ",noprobe"
	}
	for _, tag := range o.Tags {
		tags += "," + tag
	}
	return tags
}

// small are packages in which nothing is inlined: they run seldom, and so take a sixth less of the image.
var small = []string{"bpf", "bpf/btf", "bpf/jit", "bpf/object", "bpf/verify", "gotypes", "kallsyms/pcln", "gotypes/vmlinux", "probe/attach/places",
	"probe/types", "trace/export", "trace/lang", "trace/out"}

// smallShell is the same for the shell's parser: 90 KB of the kernel, and 45 of the programs.
const smallShell = "-gcflags=mvdan.cc/sh/v3/...=-l"

func (o BuildOptions) arguments(overlayJSON, out string) []string {
	ldflags := strings.Join(append([]string{linkerFlags}, o.LDFlags...), " ")
	args := []string{"build", "-overlay=" + overlayJSON, "-tags", o.tags(), "-trimpath", "-buildvcs=false", smallShell}
	for _, p := range small {
		args = append(args, "-gcflags=sonde/"+p+"=-l")
	}
	return append(args, "-ldflags", ldflags, "-o", out, "sonde/boot")
}

// folders returns the folder of this module and the one for what is built, which is locked.
func folders() (root, dir string, unlock func(), err error) {
	if root, err = Root(); err != nil {
		return "", "", nil, err
	}
	dir = filepath.Join(root, "build")
	if err = os.MkdirAll(dir, 0o755); err == nil {
		unlock, err = lock(filepath.Join(dir, ".lock"))
	}
	if err != nil {
		return "", "", nil, fmt.Errorf("image: %w", err)
	}
	return root, dir, unlock, nil
}

// Root returns the folder of this module, which holds boot/ and build/. The working
// directory is in it, or in one that requires it or shares a workspace with it.
//
// Errors: ErrBuild, with what the go command says.
func Root() (string, error) {
	if root, ok := rootAbove(); ok {
		return root, nil
	}
	out, err := Output(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sonde"))
	if err != nil || strings.TrimSpace(out) == "" {
		return "", fmt.Errorf("image: %w: not in the module sonde, nor in one that uses it: %v", ErrBuild, err)
	}
	return strings.TrimSpace(out), nil
}

// rootAbove returns the folder of this module if the working directory is in it, which need not be asked for.
func rootAbove() (string, bool) {
	dir, err := os.Getwd()
	for err == nil {
		if mod, missing := os.ReadFile(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, strings.HasPrefix(string(mod), "module sonde\n")
		}
		above := filepath.Dir(dir)
		if above == dir {
			break
		}
		dir = above
	}
	return "", false
}
