package source

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/probe/attach"
	"sonde/trace/lang"
)

// modes are how data can be accessed, or code executed.
var modes = map[string]attach.Access{"w": attach.Write, "r": attach.Read, "rw": attach.ReadWrite, "wr": attach.ReadWrite, "x": attach.Execute}

// watch is what to watch: NAME, LENGTH and MODE. A variable of a program comes after its file: then there are four
// options, or a path and no number.
func (s *Source) watch(p *lang.Point) ([]attach.Site, error) {
	o, site := p.Options, attach.Site{Kind: attach.Watch}
	if len(o) == 4 || len(o) > 1 && strings.Contains(o[0], "/") && !(o[1][0] >= '0' && o[1][0] <= '9') {
		site.File, site.PID = programPath(s.path(o[0])), s.PID
		o = o[1:]
	}
	if len(o) > 1 {
		n, err := strconv.ParseUint(o[1], 10, 8)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%q is not a number of bytes: give 1, 2, 4 or 8", o[1])
		}
		site.Length = int(n)
	}
	if len(o) > 2 {
		var known bool
		if site.Access, known = modes[o[2]]; !known {
			return nil, fmt.Errorf("%q says not how it is accessed: give w, r, rw or x", o[2])
		}
	}
	site, err := site.At(o[0])
	return []attach.Site{site}, err
}
