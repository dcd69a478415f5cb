package image

import (
	"fmt"
	"os"
	"os/exec"
)

// Go returns the go command "go VERB ARGS" as it sees the kernel: with the overlay
// and the build tags of the machine, in the root of the module. It is for tools
// and tests that read the kernel's packages; VERB is one that builds, such as
// list or vet.
//
// Errors: those of finding the toolchain and of making the overlay.
func Go(verb string, args ...string) (*exec.Cmd, error) { return BuildOptions{}.Go(verb, args...) }

// Go is the same with the build tags of o.
func (o BuildOptions) Go(verb string, args ...string) (*exec.Cmd, error) {
	root, dir, unlock, err := folders()
	if err != nil {
		return nil, err
	}
	defer unlock()
	tool, err := chooseToolchain(root, dir)
	if err != nil {
		return nil, fmt.Errorf("image: go %s: %w", verb, err)
	}
	all := append([]string{verb, "-overlay=" + tool.overlay, "-tags", o.tags(), "-trimpath", "-buildvcs=false"}, args...)
	cmd := exec.Command(tool.goCmd, all...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), tool.env...)
	return cmd, nil
}
