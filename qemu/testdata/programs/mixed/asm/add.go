// Package asm has a function in assembly.
package asm

// Add adds a and b.
func Add(a, b int) int
