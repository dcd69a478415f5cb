// Package docs holds the tests of the pages: the files, tests, stories and Go names that they
// mention must exist, their Go must compile, and each block of output must name the test that
// compares it with a run. Nothing else would tell when a page becomes untrue.
package docs
