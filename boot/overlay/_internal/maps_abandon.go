package maps

import _ "unsafe" // for linkname

// sondeAbandon has the probe handler that this runs in abandoned for why: see
// runtime/sonde_abandon.go. Elsewhere it does nothing.
//
//go:linkname sondeAbandon runtime.sondeAbandon
func sondeAbandon(why string)
