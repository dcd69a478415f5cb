package book

import (
	"os/exec"
	"testing"
)

// TestPages runs the tests of the module that makes the book's pages: it is not among the packages of this one.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds")
	}
	get := exec.Command("go", "mod", "download")
	get.Dir = "../pages"
	if out, err := get.CombinedOutput(); err != nil {
		t.Skipf("skipped: the module of course/pages cannot be had: %v\n%s", err, out)
	}
	test := exec.Command("go", "test", "-count=1", "./...") // its cache does not know the pages, which are outside of that module
	test.Dir = get.Dir
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
