package main

import (
	"fmt"
)

// show is where to1 is in the other file: that it begins here says nothing of where to1 ends.
// What a program declares in one file and what it declares in another have lines
// of their own.
//
//go:noinline
func show(n, steps int) { fmt.Println(n, steps) }
