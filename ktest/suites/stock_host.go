//go:build !tamago

package suites

func prepareStock() {}
