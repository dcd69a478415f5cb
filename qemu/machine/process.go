package machine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// process is a QEMU that, on Linux, cannot outlive this process.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer // read after wait
	code   chan int
}

// startProcess starts QEMU; kill is called when ctx ends, and ends it.
//
// Linux sends Pdeathsig (childOfOurs) when the *thread* that started the
// child ends, so a goroutine that lives as long as the child keeps its thread.
func startProcess(ctx context.Context, kill func(*os.Process) error, path string, args []string, in, out *os.File, extra []*os.File) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, path, args...), code: make(chan int, 1)}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, &p.stderr
	p.cmd.ExtraFiles = extra
	p.cmd.Cancel = func() error { return kill(p.cmd.Process) }
	return p, p.start(true)
}

// start starts QEMU; not apart if it needs the terminal, which belongs to this process's group.
func (p *process) start(apart bool) error {
	p.cmd.SysProcAttr = childOfOurs(apart)
	p.cmd.WaitDelay = 5 * time.Second
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.code <- exitCode(p.cmd.Wait())
		}
	}()
	return <-started
}

// wait waits for the end of the process and returns its exit code, or killed.
func (p *process) wait() int { return <-p.code }

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return killed
}

// fromChild is os.Pipe for QEMU's output, with room for more: QEMU drops console output when a pipe stays full.
func fromChild() (ours, theirs *os.File, err error) {
	ours, theirs, err = os.Pipe()
	if err == nil {
		enlarge(theirs, 1<<20)
	}
	return ours, theirs, err
}
