//go:build tamago && !nolinux

package tracepoints

import "sync/atomic"

// count is how many records there have been.
var count counter

type counter struct{ n atomic.Int64 }

// add returns how many there were before this one.
func (c *counter) add() int { return int(c.n.Add(1)) - 1 }
