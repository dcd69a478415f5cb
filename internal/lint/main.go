// Command lint runs a tool, such as staticcheck, on the packages of the kernel as they are built for
// the machine: go run ./internal/lint TOOL [ARGUMENT...]. The tool gets the packages as its last
// arguments; what it runs with is described at image.Lint.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"sonde/internal/image"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/lint TOOL [ARGUMENT...]")
		os.Exit(2)
	}
	err := image.Lint(os.Stdout, os.Args[1], os.Args[2:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		os.Exit(exit.ExitCode()) // the tool has said why
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(1)
	}
}
