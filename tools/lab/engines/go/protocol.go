// The protocol of tools/lab/engines/README.md: words, numbers, the clock.
package main

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

var writing sync.Mutex

// CLOCK_MONOTONIC, as the protocol has it; Go's own monotonic clock has another beginning.
func now() int64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func say(words ...any) {
	writing.Lock()
	defer writing.Unlock()
	fmt.Println(words...)
}

func encode(text string) string {
	if text == "" {
		return "-"
	}
	return url.PathEscape(text)
}

func fail(text string) {
	say("failed", encode(text))
	os.Exit(1)
}

func decode(text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		fail(err.Error())
	}
	return decoded
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fail(err.Error())
	}
	return n
}

// The settings of an "open".
func parse(fields []string) map[string]string {
	settings := map[string]string{}
	for _, field := range fields {
		if name, value, found := strings.Cut(field, "="); found {
			settings[name] = decode(value)
		}
	}
	return settings
}

// Reads orders until the end of the input, which is the end of a holder: nothing is released.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		obey(strings.Split(lines.Text(), " "))
	}
	os.Exit(0)
}
