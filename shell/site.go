//go:build !noprobe

package shell

import "sonde/probe/attach"

// site reads a place of one of these kinds, as seen from the shell's directory.
//
// Errors: those of attach.ParseSiteOf.
func (c *Context) site(text string, kinds ...attach.Kind) (attach.Site, error) {
	at, err := attach.ParseSiteOf(text, kinds...)
	return at.From(c.Shell.dir), err
}
