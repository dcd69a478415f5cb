package mutants

import (
	"errors"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func lock(*os.File) error { return errors.ErrUnsupported }
