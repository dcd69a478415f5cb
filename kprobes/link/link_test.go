package link

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/attach"
)

// TestTooMuchData: so many words that their bytes do not fit in 64 bits used to be none.
func TestTooMuchData(t *testing.T) {
	sites := []attach.Site{{Symbol: "vfs.Read", Return: true}}
	for words, want := range map[int]bool{mostWords: false, mostWords + 1: true, 1 << 61: true} {
		_, _, err := (Provider{}).Attach(&attach.Link{Options: attach.Options{Data: words}}, sites)
		if errors.Is(err, syscall.ERANGE) != want || want && !strings.Contains(err.Error(), "words of data") {
			t.Errorf("%d words: %v", words, err)
		}
	}
}
