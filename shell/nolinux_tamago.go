//go:build tamago && nolinux && !noprobe

package shell

import (
	"io"

	"sonde/kwatch"
	"sonde/probe/attach"
)

// There are no programs: what would need one says so.

func explainFile(io.Writer, attach.Site) error              { return errNoPrograms }
func explainAddress(*Context, io.Writer, attach.Site) error { return errNoPrograms }
func (*watch) registerInProgram(kwatch.Queue) (int, error)  { return 0, errNoPrograms }
func (*watch) find(Program) error                           { return errNoPrograms }
func inRing3(...byte) error                                 { return errNoPrograms }

func (*watch) alongProgram(*Context, []string, func(Program)) error { return errNoPrograms }
