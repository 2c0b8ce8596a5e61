//go:build !unix

package sqldb

const noFollow = 0
