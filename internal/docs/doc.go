// Package docs holds the tests of the pages: the files, tests and stories that they
// name must exist. A renamed file does not remind anybody of the page that names it.
package docs
