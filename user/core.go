//go:build linux

package main

import (
	"os"

	uroot "github.com/u-root/u-root/pkg/core"
	"github.com/u-root/u-root/pkg/core/base64"
	"github.com/u-root/u-root/pkg/core/chmod"
	"github.com/u-root/u-root/pkg/core/cp"
	"github.com/u-root/u-root/pkg/core/find"
	"github.com/u-root/u-root/pkg/core/mktemp"
	"github.com/u-root/u-root/pkg/core/mv"
	"github.com/u-root/u-root/pkg/core/shasum"
	"github.com/u-root/u-root/pkg/core/tar"
	"github.com/u-root/u-root/pkg/core/touch"
	"github.com/u-root/u-root/pkg/core/xargs"
)

// core has those of u-root's commands that are libraries. The others are main packages, which cannot
// be imported: package tools has the few of them that scripts need.
var core = map[string]func() uroot.Command{
	"base64": base64.New,
	"chmod":  chmod.New,
	"cp":     cp.New,
	"find":   find.New,
	"mktemp": mktemp.New,
	"mv":     mv.New,
	"shasum": shasum.New,
	"tar":    tar.New,
	"touch":  touch.New,
	"xargs":  xargs.New,
}

func runCore(name string, args []string) error {
	c := core[name]()
	c.SetIO(os.Stdin, os.Stdout, os.Stderr)
	c.SetLookupEnv(os.LookupEnv)
	return c.Run(args...)
}
