//go:build tamago

package kprobes

import (
	"sonde/arch/amd64/prologue"
	"sonde/kernel/goruntime"
)

// The limit that stack checks read is where package prologue, which knows their code,
// expects it. Otherwise this does not compile.
var _ [0]struct{} = [goruntime.GStackGuard - prologue.GuardOffset]struct{}{}
