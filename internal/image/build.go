package image

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrBuild says that the Go toolchain could not build the kernel.
var ErrBuild = errors.New("kernel does not build")

// BuildOptions choose what Build makes. The zero value is the normal kernel.
type BuildOptions struct {
	Test    bool     // with the in-kernel tests (tag ktest): sonde-test.elf
	Tags    []string // further build tags; a kernel with any gets a name of its own
	LDFlags []string // further linker flags
	Finish  Options
}

// machineTags tell the TamaGo library that the kernel brings its own start of
// the CPU, RAM layout and console.
const machineTags = "tamago,linkcpuinit,linkramstart,linkramsize,linkprintk"

// linkerFlags put the kernel at 64 MiB, one page of ELF headers below the text,
// and let it reach into the runtime.
const linkerFlags = "-T 0x4001000 -R 0x1000 -checklinkname=0"

// Build builds the kernel in the module of the working directory and returns
// the path of the finished image. It always asks the go command, whose cache
// makes an unchanged kernel cheap; concurrent builds wait for each other.
//
// Errors: ErrBuild with the compiler's output; those of Finish.
func Build(opts BuildOptions) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "build")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("image: build: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return "", fmt.Errorf("image: build: %w", err)
	}
	defer unlock()

	tool, err := chooseToolchain(root, dir)
	if err != nil {
		return "", fmt.Errorf("image: build: %w", err)
	}
	out := filepath.Join(dir, opts.name())
	raw := out + ".raw"
	cmd := exec.Command(tool.goCmd, opts.arguments(tool.overlay, raw)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), tool.env...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("image: %s: %w: %w\n%s", strings.Join(cmd.Args, " "), ErrBuild, err, msg)
	}
	if opts.Finish.Initramfs == nil {
		if opts.Finish.Initramfs, err = userland(root, dir); err != nil {
			return "", err
		}
	}
	finish := opts.Finish
	finish.Test = opts.Test
	return out, Finish(raw, out, finish)
}

func (o BuildOptions) name() string {
	name := "sonde"
	if o.Test {
		name += "-test"
	}
	for _, tag := range o.Tags {
		name += "-" + tag
	}
	return name + ".elf"
}

func (o BuildOptions) arguments(overlayJSON, out string) []string {
	tags := machineTags
	if o.Test {
		tags += ",ktest"
	}
	for _, tag := range o.Tags {
		tags += "," + tag
	}
	ldflags := strings.Join(append([]string{linkerFlags}, o.LDFlags...), " ")
	return []string{
		"build", "-overlay=" + overlayJSON, "-tags", tags, "-trimpath", "-buildvcs=false",
		"-ldflags", ldflags, "-o", out, "./boot",
	}
}

// Root returns the folder of this module, which holds boot/ and build/.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("image: go env GOMOD: %w", err)
	}
	mod := string(bytes.TrimSpace(out))
	if filepath.Base(mod) != "go.mod" {
		return "", fmt.Errorf("image: not inside the sonde module: %w", ErrBuild)
	}
	return filepath.Dir(mod), nil
}

// lock takes an exclusive lock on path, which is made if need be, and waits
// for it. The kernel of the host drops it if this process dies.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
