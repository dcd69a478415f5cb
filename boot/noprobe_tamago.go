//go:build tamago && noprobe

package main

import "sonde/kernel/vfs"

// This is kernel/ alone: it neither probes nor runs programs. The prompt, the files, the log and modules are there.

func startProbes()            {}
func mountProbeFiles(*vfs.FS) {}
